//! What a card tells of each kind of thing at a glance: data in `assets/kinds.json`.
//!
//! A kind is found by its schema.org name, else by the longest name that its own ends with: a `MusicEvent` is an `Event`.
//! `labels` and `words` are in the order of [`SpokenLanguage::ALL`].

use std::collections::HashMap;
use std::sync::LazyLock;

use forecourt_sentences::SpokenLanguage;
use serde::Deserialize;

/// The data as it is written, for the search box on other sites.
pub const CARD_KINDS: &str = include_str!("../../assets/kinds.json");

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    // A file of this crate, which its tests load.
    serde_json::from_str(CARD_KINDS).expect("assets/kinds.json is well-formed")
});

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds {
    kinds: Vec<Kind>,
    labels: HashMap<String, [String; 4]>,
    words: HashMap<String, [String; 4]>,
    months: [[String; 12]; 4],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    names: Vec<String>,
    facts: Vec<GlanceFact>,
}

/// One thing that a card tells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GlanceFact {
    /// The properties that may say it, the first that does wins.
    pub(super) of: Vec<String>,
    /// How its value is written.
    #[serde(default, rename = "as")]
    pub(super) form: Form,
    /// What stands before a value that says little by itself.
    label: Option<String>,
}

impl GlanceFact {
    /// What stands before the value; empty where it speaks for itself.
    pub(super) fn label(&self, language: SpokenLanguage) -> &'static str {
        let said = self.label.as_ref().and_then(|label| KINDS.labels.get(label));
        said.map_or("", |said| in_language(said, language))
    }
}

/// How a value is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    /// As it is.
    #[default]
    Plain,
    /// A star with the mean, and how many there are.
    Rating,
    /// A day, with the time where one is given.
    Date,
    /// The year of a day.
    Year,
    /// A name and where it is.
    Place,
    /// An amount, or a range of amounts, for a time.
    Money,
    /// A number with its unit.
    Area,
    /// A name of a vocabulary.
    Word,
}

/// What a card tells of a kind of thing; `None` of one that is not known.
pub(super) fn facts_of(kind: &str) -> Option<&'static [GlanceFact]> {
    let names = KINDS.kinds.iter().flat_map(|kind| kind.names.iter().map(move |name| (name, kind)));
    let known = names.filter(|(name, _)| kind.ends_with(name.as_str())).max_by_key(|(name, _)| name.len());
    known.map(|(_, kind)| kind.facts.as_slice())
}

/// A name of a vocabulary in words, where there are some.
pub(super) fn word(name: &str, language: SpokenLanguage) -> Option<&'static str> {
    KINDS.words.get(name).map(|said| in_language(said, language))
}

/// The name of a month, from 1 on.
pub(super) fn month(number: usize, language: SpokenLanguage) -> Option<&'static str> {
    let at = SpokenLanguage::ALL.iter().position(|of| *of == language)?;
    KINDS.months[at].get(number.checked_sub(1)?).map(String::as_str)
}

pub(super) fn in_language(said: &'static [String; 4], language: SpokenLanguage) -> &'static str {
    let said = SpokenLanguage::ALL.iter().zip(said).find(|(of, _)| **of == language);
    said.map_or("", |(_, said)| said.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_there_and_in_every_language() {
        for fact in KINDS.kinds.iter().flat_map(|kind| &kind.facts) {
            for language in SpokenLanguage::ALL {
                assert!(fact.label.is_none() || !fact.label(language).is_empty(), "{:?}", fact.label);
            }
        }
        assert_eq!([1, 12].map(|n| month(n, SpokenLanguage::German)), [Some("Januar"), Some("Dezember")]);
        assert_eq!([0, 13].map(|n| month(n, SpokenLanguage::German)), [None, None]);
    }

    #[test]
    fn a_kind_goes_by_the_longest_name_that_it_ends_with() {
        let first = |kind: &str| facts_of(kind).map(|facts| facts[0].of[0].clone());
        assert_eq!(first("MusicEvent"), first("Event"));
        assert_eq!(first("NewsArticle").as_deref(), Some("datePublished"));
        assert_eq!(first("Thing"), None);
        assert_eq!(first(""), None);
    }
}
