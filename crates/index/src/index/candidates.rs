//! A snapshot of a few items, in memory: candidates that an engine gave, looked at as if they were the index.

use std::sync::Arc;

use forecourt_core::LazyJson;
use forecourt_loaders::grounding::GroundedItem;
use forecourt_loaders::item::{Item, Place};
use forecourt_retrieval::Candidate;
use forecourt_vocabulary::Vocabulary;
use tantivy::directory::RamDirectory;
use tantivy::{Index, IndexSettings, Searcher};

use super::commit::Summary;
use super::document::{Hashes, Maker};
use super::schema::{schema, tokenizers};
use super::snapshot::{Overview, Snapshot};
use super::statistics::Statistics;
use crate::analysis::{LanguageAnalyzer, item_language};
use crate::error::Result;

/// Bytes that the segment writer begins with.
const WRITER_BYTES: usize = 16 * 1024 * 1024;

/// By what items are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) vocabulary: &'a Arc<Vocabulary>,
    /// The language of items that do not say theirs.
    pub(crate) tongue: LanguageAnalyzer,
}

impl Snapshot {
    /// A snapshot of these items, each of which is read as it was when the engine was given it. `summary` and
    /// `statistics` are those of all items, `overview` what is known of them.
    pub(crate) fn of_candidates(
        found: &[Candidate],
        reading: Reading<'_>,
        mut summary: Summary,
        statistics: Statistics,
        overview: Overview,
    ) -> Result<Self> {
        let searcher = searcher(found, reading, &mut summary)?;
        Self::of_searcher(searcher, summary, reading.vocabulary, Some(statistics), overview)
    }
}

fn searcher(found: &[Candidate], reading: Reading<'_>, summary: &mut Summary) -> Result<Searcher> {
    let (schema, fields) = schema();
    if found.is_empty() {
        let index = Index::create(RamDirectory::create(), schema, IndexSettings::default())?;
        return Ok(index.reader()?.searcher());
    }
    let builder = Index::builder().schema(schema).tokenizers(tokenizers());
    let mut writer = builder.single_segment_index_writer(RamDirectory::create(), WRITER_BYTES)?;
    let mut maker = Maker::new(fields, Arc::clone(reading.vocabulary));
    for candidate in found {
        // What an engine gives back that is no item any more is no candidate.
        let Ok(json) = LazyJson::from_text(candidate.item.clone()) else { continue };
        let Some(mut item) = Item::read(&json, Place::NOWHERE) else { continue };
        item.id.clone_from(&candidate.id);
        let tongue = item_language(&item, reading.tongue);
        let entry = candidate.entry;
        let hashes = Hashes { key: entry.key, content: entry.hash, origin: entry.origin };
        let grounded = GroundedItem { item: &json, grounding: None };
        writer.add_document(maker.document(&item, grounded, tongue, &hashes, summary))?;
    }
    Ok(writer.finalize()?.reader()?.searcher())
}
