//! Documents as an engine keeps them.

use std::collections::BTreeMap;

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

impl Change {
    /// The key of the document that it changes.
    pub fn key(&self) -> u64 {
        match self {
            Self::Put(document) => document.key,
            Self::Remove(key) => *key,
        }
    }
}

/// Of several changes of one document the last one, so that each may be made before or after any other.
pub fn last_changes(changes: &[Change]) -> Vec<&Change> {
    let last: BTreeMap<u64, &Change> = changes.iter().map(|change| (change.key(), change)).collect();
    last.into_values().collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_changes_of_one_document_the_last_counts() {
        let put = |key, hash| Change::Put(Box::new(EngineDocument { key, hash, ..EngineDocument::default() }));
        let changes = [put(1, 7), Change::Remove(2), put(1, 8), Change::Remove(3), put(2, 9)];
        assert_eq!(last_changes(&changes), [&changes[2], &changes[4], &changes[3]]);
        assert!(last_changes(&[]).is_empty());
    }
}
