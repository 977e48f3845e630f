//! What one turn said, and where it stands in the whole question.

use forecourt_understanding::Filter;

/// The part of a question that one turn said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Phrase {
    /// The words of it that are searched for.
    pub(super) words: String,
    /// The caller's own wording.
    pub(super) wording: String,
    /// Where it stands.
    pub(super) place: PhrasePlace,
    /// The wordings of the constraints that it says.
    pub(super) limits: Vec<String>,
}

/// Where a phrase stands in the whole question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum PhrasePlace {
    /// It is what is asked for.
    #[default]
    Subject,
    /// It describes it: "blueberry" of muffins.
    Before,
    /// It comes behind it: "with rice".
    After,
}

impl Phrase {
    /// A phrase that names what is asked for.
    pub(super) fn subject(words: &str, wording: &str, limits: &[Filter]) -> Self {
        Self { limits: worded(limits), ..Self::of(words, wording, PhrasePlace::Subject) }
    }

    /// A phrase that describes what is asked for.
    pub(super) fn added(words: &str, wording: &str, limits: &[Filter], is_behind: bool) -> Self {
        let place = if is_behind { PhrasePlace::After } else { PhrasePlace::Before };
        Self { limits: worded(limits), ..Self::of(words, wording, place) }
    }

    fn of(words: &str, wording: &str, place: PhrasePlace) -> Self {
        let wording = wording.trim().trim_end_matches(['?', '!', '.', ',', ' ']);
        Self { words: words.trim().to_owned(), wording: hyphenated(wording), place, limits: Vec::new() }
    }
}

fn worded(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(|filter| filter.words.clone()).collect()
}

/// "Gluten free" in front of something is "gluten-free".
fn hyphenated(wording: &str) -> String {
    match wording.strip_suffix(" free") {
        Some(thing) if !thing.contains(' ') => format!("{thing}-free"),
        _ => wording.to_owned(),
    }
}
