//! Documents as an engine keeps them.

use crate::predicate::{Numbers, Predicate, TermField};

/// An item, analysed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EngineDocument {
    /// The hash of its id: by it a document is found, replaced and removed, and documents that nothing tells apart are
    /// in its order.
    pub key: u64,
    /// The hash of everything that the document is made from.
    pub hash: u64,
    /// The hash of the file that it came from.
    pub origin: u64,
    /// Its id.
    pub id: String,
    /// Its terms as [`TermField::Words`], as often as they occur.
    pub words: Vec<String>,
    /// Its [`TermField::Pairs`].
    pub pairs: Vec<String>,
    /// Its [`TermField::Spelled`], each once.
    pub spelled: Vec<String>,
    /// Its [`TermField::Facts`], each once.
    pub facts: Vec<String>,
    /// Its numbers, by the dot paths of their properties.
    pub numbers: Numbers,
    /// The item, as it is given back.
    pub item: String,
}

impl EngineDocument {
    /// What is known of it without its content.
    pub fn entry(&self) -> StoredEntry {
        let count = |terms: &[String]| u32::try_from(terms.len()).unwrap_or(u32::MAX);
        let (words, pairs) = (count(&self.words), count(&self.pairs));
        StoredEntry { key: self.key, hash: self.hash, origin: self.origin, words, pairs }
    }

    /// The terms of one list.
    pub fn terms(&self, field: TermField) -> &[String] {
        match field {
            TermField::Words => &self.words,
            TermField::Pairs => &self.pairs,
            TermField::Spelled => &self.spelled,
            TermField::Facts => &self.facts,
        }
    }

    /// Whether it passes a test.
    pub fn passes(&self, predicate: &Predicate) -> bool {
        let has = |field: TermField, term: &str| self.terms(field).iter().any(|own| own == term);
        predicate.passes(self.key, &has, &self.facts, &self.numbers)
    }

    /// About how many bytes it takes on the way.
    pub fn bytes(&self) -> usize {
        let terms = [&self.words, &self.pairs, &self.spelled, &self.facts];
        // A separator and quotation marks for each.
        let terms: usize = terms.into_iter().flatten().map(|term| term.len() + 3).sum();
        terms + self.item.len() + 32 * self.numbers.values().map(Vec::len).sum::<usize>() + 128
    }
}

/// What is to be done to one document.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Puts it in the place of the one with its key.
    Put(Box<EngineDocument>),
    /// Removes the one with this key, if there is one.
    Remove(u64),
}

/// What is known of a document without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its key.
    pub key: u64,
    /// The hash of everything that it is made from.
    pub hash: u64,
    /// The hash of the file that it came from.
    pub origin: u64,
    /// How many [`TermField::Words`] it has.
    pub words: u32,
    /// How many [`TermField::Pairs`] it has.
    pub pairs: u32,
}
