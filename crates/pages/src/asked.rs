//! Prepares what was asked for the page of its answer, and the form in which one asks on: a plain one, so that it works
//! without a script.

use forecourt_core::Part;

use crate::clean;
use crate::limits::{ASKED_CHARS_MAX, HEADING_CHARS_MAX};

/// What was asked, for who reads the page to recognise.
pub(crate) struct AskedView {
    pub(crate) text: String,
    /// How many files and other things came with the words.
    pub(crate) others: usize,
    /// Whether the words are the heading of their page already.
    pub(crate) is_heading: bool,
}

impl AskedView {
    pub(crate) fn of(asked: &[Part]) -> Self {
        let words: Vec<&str> = asked.iter().filter_map(Part::as_text).collect();
        let text = clean::clip(clean::text(&words.join("\n")).trim(), ASKED_CHARS_MAX);
        Self { text, others: asked.len() - words.len(), is_heading: false }
    }

    /// Whether the words don't fit into one line, so that they are quoted in full beside the form.
    pub(crate) fn is_long(&self) -> bool {
        self.text.chars().count() > HEADING_CHARS_MAX || self.text.contains('\n') || self.others > 0
    }

    /// The words as a heading, where they are few enough to be one.
    pub(crate) fn heading(&mut self) -> Option<String> {
        let is_line = self.text.chars().count() <= HEADING_CHARS_MAX && !self.text.contains('\n');
        let is_short = !self.text.is_empty() && is_line;
        self.is_heading = is_short;
        is_short.then(|| self.text.clone())
    }
}

/// The form in which one asks on.
pub(crate) struct AskOnView {
    /// Where it goes.
    pub(crate) path: String,
    /// The conversation that it goes on in.
    pub(crate) session: Option<String>,
    pub(crate) label: String,
    /// What stands in it already.
    pub(crate) value: String,
}

impl AskOnView {
    /// A form for the agent at `path`. `None` where there is no agent to ask.
    pub(crate) fn new(path: &str, session: Option<&str>, label: &str, value: &str) -> Option<Self> {
        Some(Self {
            path: clean::href(path)?,
            session: session.map(clean::line),
            label: clean::line(label),
            value: clean::line(value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_question_is_a_heading_and_a_long_one_is_quoted() {
        let heading = |chars: usize| AskedView::of(&[Part::text("é".repeat(chars))]).heading();
        assert!(heading(HEADING_CHARS_MAX).is_some());
        assert_eq!(heading(HEADING_CHARS_MAX + 1), None);
        assert_eq!(AskedView::of(&[Part::text("a\nb")]).heading(), None);
        assert_eq!(AskedView::of(&[]).heading(), None);
    }
}
