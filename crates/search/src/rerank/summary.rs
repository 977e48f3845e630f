//! A summary by a model, as it comes: in whole sentences, cleaned, with citations of items and nothing else
//! that leads anywhere.

use serde_json::{Value, json};

use super::clean::{CitedItem, TextPiece, cites_nothing_there, pieces};
use super::prompt::Prompt;
use crate::limits::SUMMARY_BYTES_MAX;
use crate::markdown::{address, escaped};

/// What a model says when the items answer nothing.
const NONE: &str = "NONE";
/// The sentence that takes the place of a summary when a model says that no item answers.
pub(super) const NOT_ANSWERED: &str = "None of these answers the question itself; they are what comes closest.";
/// Bytes of a sentence, from which it is cut where it stands.
const SENTENCE_BYTES_MAX: usize = 800;
const TOKENS: u32 = 400;

/// What a model is asked about `entries`, items that [`super::prompt_item`] made.
pub(super) fn prompt(question: &Value, entries: &[Value]) -> Prompt {
    let instructions = format!(
        "You answer a visitor's `question` from the `entries` of a catalogue, and from nothing else, in at most four \
         short sentences of plain text in the language of the question. Behind each statement put the number `n` of \
         the entry that it is from in brackets, such as [1] or [2, 3]. If no entry answers the question, write the one \
         word {NONE}."
    );
    Prompt { instructions, data: json!({"question": question, "entries": entries}), form: None, tokens_max: TOKENS }
}

/// A summary on its way.
#[derive(Debug)]
pub(super) struct Summary {
    sources: Vec<CitedItem>,
    /// What may be named as it is.
    known: String,
    /// What the model wrote and was not looked at.
    waiting: String,
    /// What is clean, and waits for the first citation.
    held: String,
    stage: SummaryStage,
    at_line_start: bool,
    bytes_left: usize,
}

/// How far a summary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SummaryStage {
    /// It cites nothing by now.
    Held,
    /// It cites items.
    Grounded,
    /// It said that the items do not answer.
    NotAnswered,
    /// It is longer than it may be: nothing more of it is shown.
    Full,
}

/// How a summary ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryEnd {
    /// It cites items.
    Grounded,
    /// The items do not answer.
    NotAnswered,
    /// It cites nothing, so it is none.
    Groundless,
}

impl Summary {
    /// A summary that may cite `sources`, and name hosts that are `known`.
    pub(super) fn new(sources: Vec<CitedItem>, known: String) -> Self {
        Self {
            sources,
            known,
            waiting: String::new(),
            held: String::new(),
            stage: SummaryStage::Held,
            at_line_start: true,
            bytes_left: SUMMARY_BYTES_MAX,
        }
    }

    /// Takes what the model wrote next; gives the markdown that can be shown by now.
    pub(super) fn take(&mut self, words: &str) -> String {
        self.waiting.push_str(words);
        // A model that thinks aloud is not shown until it is done: its thoughts cite nothing.
        if self.is_thinking() {
            return String::new();
        }
        let mut out = String::new();
        while let Some(end) = sentence_end(&self.waiting) {
            let rest = self.waiting.split_off(end);
            let sentence = std::mem::replace(&mut self.waiting, rest);
            out.push_str(&self.show(&sentence));
        }
        out
    }

    /// Ends the summary: the markdown that is left, and how it ended.
    pub(super) fn finish(mut self) -> (String, SummaryEnd) {
        let rest = if self.is_thinking() { String::new() } else { std::mem::take(&mut self.waiting) };
        let last = self.show(&rest).trim_end().to_owned();
        let end = match self.stage {
            SummaryStage::Grounded | SummaryStage::Full => SummaryEnd::Grounded,
            SummaryStage::NotAnswered => SummaryEnd::NotAnswered,
            SummaryStage::Held => SummaryEnd::Groundless,
        };
        (last, end)
    }

    /// Whether the model thinks aloud. What it thought is dropped.
    fn is_thinking(&mut self) -> bool {
        if self.stage != SummaryStage::Held || !self.waiting.trim_start().starts_with("<think>") {
            return false;
        }
        match self.waiting.split_once("</think>") {
            Some((_, said)) => {
                self.waiting = said.to_owned();
                false
            }
            None => true,
        }
    }

    /// A sentence as markdown, or nothing until one has a citation.
    fn show(&mut self, sentence: &str) -> String {
        if matches!(self.stage, SummaryStage::NotAnswered | SummaryStage::Full) {
            return String::new();
        }
        let (shown, cites) = self.markdown(sentence);
        // A source that is not there is a lie about the whole sentence, not about its end alone.
        if cites || !cites_nothing_there(sentence, &self.sources) {
            self.held.push_str(&shown);
        }
        if self.stage == SummaryStage::Held {
            let said = self.held.trim_start();
            if said.strip_prefix(NONE).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
                self.stage = SummaryStage::NotAnswered;
                return String::new();
            }
            if cites {
                self.stage = SummaryStage::Grounded;
            } else {
                return self.held_back();
            }
        }
        let ready = std::mem::take(&mut self.held);
        match self.bytes_left.checked_sub(ready.len()) {
            Some(left) => {
                self.bytes_left = left;
                ready
            }
            None => {
                // The sentence that does not fit is left out as a whole.
                self.stage = SummaryStage::Full;
                String::new()
            }
        }
    }

    /// Nothing, as long as what is held is not too long.
    fn held_back(&mut self) -> String {
        // Dropped, not shown: without a citation nothing tells that it is from the items.
        if self.held.len() > SUMMARY_BYTES_MAX {
            self.held.clear();
        }
        String::new()
    }

    /// A sentence as markdown, and whether it cites an item.
    fn markdown(&mut self, sentence: &str) -> (String, bool) {
        let body = match self.at_line_start {
            true => sentence.trim_start_matches(['#', '>', '-', '*', '+', '•', ' ', '\t']),
            false => sentence,
        };
        self.at_line_start = sentence.ends_with('\n');
        let (mut out, mut cites) = (String::new(), false);
        for piece in pieces(body, &self.sources, &self.known) {
            match piece {
                TextPiece::Words(words) => out.push_str(&words.split('\n').map(escaped).collect::<Vec<_>>().join("\n")),
                TextPiece::Cites(number) => {
                    cites = true;
                    out.push_str(&self.citation(number));
                }
            }
        }
        (out, cites)
    }

    fn citation(&self, number: usize) -> String {
        let source = self.sources.iter().find(|source| source.number == number);
        match source.and_then(|source| address(source.url.as_deref()?)) {
            Some(url) => format!("[[{number}]]({url})"),
            None => format!(r"\[{number}\]"),
        }
    }
}

/// Where the first sentence ends: behind its mark, or behind a line.
fn sentence_end(text: &str) -> Option<usize> {
    let mut is_marked = false;
    for (at, c) in text.char_indices() {
        if c == '\n' {
            return Some(at + 1);
        }
        let is_long = at >= SENTENCE_BYTES_MAX && c.is_whitespace() || at >= 2 * SENTENCE_BYTES_MAX;
        if is_long || is_marked && c.is_whitespace() {
            return Some(at);
        }
        let closes = matches!(c, ')' | ']' | '"' | '”' | '’');
        is_marked = matches!(c, '.' | '!' | '?' | '。' | '！' | '？') || is_marked && closes;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summary() -> Summary {
        let source = |number, url: Option<&str>| CitedItem { number, url: url.map(str::to_owned) };
        Summary::new(vec![source(1, Some("https://r.example/a_(b)")), source(2, None)], String::new())
    }

    /// The text, however it is cut into pieces, and how it ended.
    fn told(text: &str) -> (String, SummaryEnd) {
        let by = |bytes: usize| {
            let (mut summary, mut out) = (summary(), String::new());
            let chars: Vec<char> = text.chars().collect();
            chars.chunks(bytes).for_each(|piece| out.push_str(&summary.take(&piece.iter().collect::<String>())));
            let (last, end) = summary.finish();
            (out + &last, end)
        };
        let whole = by(usize::MAX);
        assert!([1, 2, 3, 7].iter().all(|bytes| by(*bytes) == whole), "{text}: {whole:?} {:?}", by(1));
        whole
    }

    #[test]
    fn citations_become_links_to_items() {
        let (text, end) = told("Soup is quick [1]. Bread takes [2] longer. Both keep.");
        assert_eq!(text, r"Soup is quick [[1]](https://r.example/a_%28b%29). Bread takes \[2\] longer. Both keep.");
        assert_eq!(end, SummaryEnd::Grounded);
    }

    #[test]
    fn nothing_is_shown_before_the_first_citation() {
        let mut one = summary();
        assert_eq!(one.take("Hello there. More words. "), "");
        assert_eq!(one.take("Soup [2]. And"), r"Hello there. More words. Soup \[2\].");
        assert_eq!(told("Hello there. I know soups."), (String::new(), SummaryEnd::Groundless));
        assert_eq!(told("Soup [9]. Bread [0]."), (String::new(), SummaryEnd::Groundless));
        assert_eq!(told(""), (String::new(), SummaryEnd::Groundless));
    }

    #[test]
    fn what_cites_a_source_that_is_not_there_is_left_out() {
        let (text, end) = told(
            "Soup is quick [2]. Bread takes a minute [7]. Cake never ends [[9]](https://x.example), [2, 9]. So [3](https://a.example/).",
        );
        assert_eq!(text, "Soup is quick \\[2\\]. Cake never ends, \\[2\\].");
        assert_eq!(end, SummaryEnd::Grounded);
    }

    #[test]
    fn a_model_may_say_that_nothing_answers() {
        for text in ["NONE", "NONE.", " none".to_uppercase().as_str(), "NONE. Try [1].", "<think>hm [1].</think>NONE"] {
            assert_eq!(told(text), (String::new(), SummaryEnd::NotAnswered), "{text}");
        }
        assert_eq!(told("NONESUCH is a soup [1].").1, SummaryEnd::Grounded);
    }

    #[test]
    fn what_a_model_thinks_aloud_is_not_shown() {
        assert_eq!(
            told("<think>Which one? [1] maybe.\n</think>\nSoup [2]."),
            ("\nSoup \\[2\\].".to_owned(), SummaryEnd::Grounded)
        );
        assert_eq!(told("<think>Which one? [1]"), (String::new(), SummaryEnd::Groundless));
    }

    #[test]
    fn lists_and_markup_are_words() {
        let (text, _) = told("# Soups\n- **Hot** [2]\n* <b>Cold</b> _one_ [1](https://evil.example)\n");
        assert_eq!(text, "Soups\nHot \\[2\\]\nCold \\_one\\_ [[1]](https://r.example/a_%28b%29)\n");
    }

    #[test]
    fn a_summary_has_a_bound() {
        let sentence = |bytes: usize| format!("[2]{}. ", "x".repeat(bytes - 7));
        let shown = |bytes: usize| {
            let mut summary = summary();
            let text = sentence(512).repeat(SUMMARY_BYTES_MAX / 512 - 1) + &sentence(bytes);
            summary.take(&text).len() + summary.finish().0.len()
        };
        // The space behind the last sentence is not shown.
        assert_eq!(shown(513), SUMMARY_BYTES_MAX);
        assert_eq!(shown(514), SUMMARY_BYTES_MAX - 513, "a sentence that does not fit is left out whole");
        let mut endless = summary();
        (0..10_000).for_each(|_| drop(endless.take("no citation here ")));
        assert!(endless.held.len() + endless.waiting.len() <= 2 * SUMMARY_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn any_text_brings_links_to_items_alone(text in "[a-z:/.<>()\\[\\]! 12\n]{0,80}") {
            let (text, _) = told(&text);
            let unescaped = text.replace("\\]", "");
            for (at, _) in unescaped.match_indices("](") {
                prop_assert!(unescaped[at..].starts_with("](https://r.example/a_%28b%29)"), "{text:?}");
            }
            prop_assert!(!text.replace("https://r.example", "").contains("https://"), "{text:?}");
        }
    }
}
