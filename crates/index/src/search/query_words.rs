//! The words of a query as the index knows them, and which of them a document has.

use forecourt_retrieval::{Predicate, TermField};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, InvertedIndexReader, Term};

use super::other_names::OtherName;
use crate::index::Snapshot;

/// The words of a query that say what is looked for.
#[derive(Debug, Default)]
pub(crate) struct QueryWords {
    /// Each once.
    pub(super) words: Vec<QueryWord>,
    /// How many there are with repetitions.
    pub(super) asked: usize,
}

/// A word of a query.
#[derive(Debug, Default)]
pub(super) struct QueryWord {
    /// In lower case and without accents.
    pub(super) written: String,
    /// Its stems that the index has. Empty: it does not have the word.
    pub(super) stems: Vec<String>,
    /// The stems of what it may be the beginning of, beside its other names.
    pub(super) begun: Vec<String>,
    /// Other names of what it names, alone or with its neighbours.
    pub(super) others: Vec<OtherName>,
    /// Whether it names something that no item is, under any name.
    pub(super) is_lacking: bool,
    /// Whether that is named by several words: a "rocking chair", where all chairs are of other kinds.
    pub(super) is_of_lacking_kind: bool,
    /// How much it says: the logarithm of how rare it is.
    pub(super) information: f32,
}

impl QueryWord {
    /// Whether the index has the word, or another name of what it names.
    pub(super) fn is_known(&self) -> bool {
        !self.stems.is_empty() || !self.others.is_empty()
    }

    /// Whether a document has the word, or another name. The index is that of its segment.
    pub(super) fn is_in(
        &self,
        index: &InvertedIndexReader,
        field: Field,
        document: DocAddress,
    ) -> tantivy::Result<bool> {
        let has = |stem: &String| -> tantivy::Result<bool> {
            let term = Term::from_field_text(field, stem);
            let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else { return Ok(false) };
            // `seek` only goes forward: of a posting list that begins behind the document nothing is asked.
            Ok(postings.doc() <= document.doc_id && postings.seek(document.doc_id) == document.doc_id)
        };
        for stem in self.stems.iter().chain(&self.begun) {
            if has(stem)? {
                return Ok(true);
            }
        }
        for other in &self.others {
            let missing = other.stems.iter().map(has).find(|has| !matches!(has, Ok(true)));
            match missing {
                None => return Ok(true),
                Some(has) => has.map(drop)?,
            }
        }
        Ok(false)
    }
}

impl QueryWords {
    /// All stems that are looked for, those of other names among them.
    pub(crate) fn stems(&self) -> Vec<&str> {
        let others = self.words.iter().flat_map(|word| &word.others).flat_map(|other| &other.stems);
        self.own_stems().chain(others.map(String::as_str)).collect()
    }

    /// The stems of the words themselves.
    pub(super) fn own_stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flat_map(|word| word.stems.iter().chain(&word.begun)).map(String::as_str)
    }

    /// What has one of the words, or another name of what they name.
    pub(super) fn any(&self) -> Predicate {
        let own = self.own_stems().map(|stem| Predicate::Term(TermField::Words, stem.to_owned()));
        let others = self.words.iter().flat_map(|word| &word.others).map(OtherName::predicate);
        Predicate::Any(own.chain(others).collect())
    }

    /// The words themselves.
    pub(super) fn all(&self) -> &[QueryWord] {
        &self.words
    }

    /// How much the words say, and how much of that a document has.
    pub(super) fn coverage(&self, snapshot: &Snapshot, document: DocAddress) -> tantivy::Result<Coverage> {
        let field = snapshot.fields.text;
        let index = snapshot.searcher.segment_reader(document.segment_ord).inverted_index(field)?;
        let mut coverage = Coverage::default();
        for word in &self.words {
            coverage.asked += word.information;
            if word.is_in(&index, field, document)? {
                coverage.said += word.information;
            }
        }
        Ok(coverage)
    }
}

/// How much of what a query asks a document says, both as sums of logarithms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Coverage {
    pub(super) asked: f32,
    pub(super) said: f32,
}
