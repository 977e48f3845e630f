//! The words that the script of pages says, in the language of its page.

use std::sync::LazyLock;

use forecourt_sentences::{Sentences, SpokenLanguage};
use serde_json::json;

use crate::escape;

/// What stands for values that the script puts in.
const VALUES: [&str; 2] = ["{0}", "{1}"];

/// The words in each language, made once: they are the same on every page.
static WORDS: LazyLock<[String; SpokenLanguage::ALL.len()]> =
    LazyLock::new(|| SpokenLanguage::ALL.map(|language| made(Sentences::in_language(language))));

/// The words as JSON that stands in the page, in a block that no browser runs.
pub(crate) fn of(say: Sentences) -> &'static str {
    let at = SpokenLanguage::ALL.iter().position(|language| *language == say.language());
    &WORDS[at.unwrap_or_default()]
}

fn made(say: Sentences) -> String {
    let titles = json!({
        "consent_required": say.refusal_title("consent_required"),
        "unauthorized": say.refusal_title("unauthorized"),
        "payment_required": say.refusal_title("payment_required"),
        "forbidden": say.refusal_title("forbidden"),
        "too_many_requests": say.refusal_title("too_many_requests"),
        "unavailable_for_legal_reasons": say.refusal_title("unavailable_for_legal_reasons"),
        "service_unavailable": say.refusal_title("service_unavailable"),
    });
    let words = json!({
        "titles": titles,
        "refused": say.refusal_title("other"),
        "declined": say.refusal_declined(),
        "again_in": say.refusal_try_again_in(VALUES[0]),
        "go_on": say.refusal_action("other"),
        "failed": say.page_failure_title("agent-failed"),
        "cut": say.page_answer_cut_why(VALUES[0]),
        "leave_out": say.page_leave_out(VALUES[0]),
        "files_max": say.page_files_max(VALUES[0]),
        "too_large": say.page_file_too_large(VALUES[0], VALUES[1]),
        "file": say.page_file(),
        "step_failed": say.page_step_failed(),
        "yes": say.page_yes(),
        "no": say.page_no(),
        "copy": say.page_copy(),
        "copied": say.page_copied(),
        "share": say.page_share(),
        "copy_quote": say.page_copy_quote(),
        "thanks": say.page_thanks(),
        "unrated": say.page_unrated(),
        "rate_later": say.page_rate_later(),
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
