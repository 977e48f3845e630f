//! The words that the script of pages says, in the language of its page.

use forecourt_sentences::Sentences;
use serde_json::json;

use crate::escape;

/// The words as JSON that stands in the page, in a block that no browser runs.
pub(crate) fn of(say: Sentences) -> String {
    let words = json!({
        "yes": say.page_yes(),
        "no": say.page_no(),
        "copy": say.page_copy(),
        "copied": say.page_copied(),
        "share": say.page_share(),
        "copy_quote": say.page_copy_quote(),
        "thanks": say.page_thanks(),
        "recent": say.page_recent(),
        "clear": say.page_clear(),
        "searching": say.page_searching(),
        "answering": say.page_answering(),
        "stopped": say.page_stopped(),
        "no_reply": say.page_no_reply(),
        "away": say.page_away(),
        "broken": say.page_broken(),
        "again": say.page_try_again(),
        "answer": say.page_answer_it(),
        "question": say.page_question_back(),
        "links": say.page_links(),
        "files": say.page_files(),
        "language": say.language().code(),
    });
    escape::json(&words.to_string())
}
