//! One file of vocabulary, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::class::{Class, ClassWords, Diet};

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VocabularyFile {
    /// What it is about, for people.
    #[serde(rename = "about")]
    _about: Option<String>,
    #[serde(default)]
    pub(crate) class: Vec<ClassEntry>,
    #[serde(default)]
    pub(crate) diet: Vec<DietEntry>,
}

/// A class: its id, and a table for each language.
#[derive(Debug, Deserialize)]
pub(crate) struct ClassEntry {
    id: String,
    #[serde(flatten)]
    words: BTreeMap<String, WordsEntry>,
}

/// The words of a class in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsEntry {
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    members: Vec<String>,
}

/// A diet: its id, what it leaves out, and a table for each language.
#[derive(Debug, Deserialize)]
pub(crate) struct DietEntry {
    id: String,
    without: Vec<String>,
    #[serde(default)]
    promised_by: Vec<String>,
    #[serde(flatten)]
    words: BTreeMap<String, WordsEntry>,
}

impl From<ClassEntry> for Class {
    fn from(entry: ClassEntry) -> Self {
        let words = entry.words.into_iter();
        let words = words.map(|(code, words)| (code, ClassWords { names: words.names, members: words.members }));
        Self { id: entry.id, words: words.collect() }
    }
}

impl From<DietEntry> for Diet {
    fn from(entry: DietEntry) -> Self {
        let names = entry.words.into_iter().map(|(code, words)| (code, words.names)).collect();
        Self { id: entry.id, without: entry.without, promised_by: entry.promised_by, names }
    }
}
