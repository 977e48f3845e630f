//! By what single facts are told.

use forecourt_core::Language;
use forecourt_sentences::Sentences;
use forecourt_vocabulary::Vocabulary;

/// The sentences and the vocabulary with which a single fact is answered.
#[derive(Clone, Copy)]
pub(crate) struct FactContext<'a> {
    pub(crate) say: Sentences,
    pub(crate) vocabulary: &'a Vocabulary,
    /// The language of items that don't say theirs.
    pub(crate) language: &'a Language,
}
