//! One state of the index, as queries see it. A new one is put in its place when a run is done.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tantivy::columnar::ColumnValues;
use tantivy::fastfield::AliveBitSet;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Searcher, TERMINATED, Term};

use super::folder::Folder;
use super::frequencies::Frequencies;
use super::schema::{Fields, HASH, KEY, ORIGIN, VERSION};
use crate::analysis::LanguageAnalyzer;
use crate::dense::Vectors;
use crate::error::Result;
use crate::understand::Sample;

/// What a run writes beside its commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Summary {
    version: u32,
    /// Codes of the languages that items are in.
    tongues: BTreeSet<String>,
    /// Up to which change it has what was pushed.
    #[serde(default)]
    pub(crate) pushed: u64,
    /// The revision of the vocabulary by which items were judged.
    #[serde(default)]
    pub(crate) vocabulary: u64,
    /// Paths of facts that are quantities.
    pub(crate) numbers: BTreeSet<String>,
}

impl Summary {
    pub(crate) fn is_current(payload: &str) -> bool {
        serde_json::from_str::<Self>(payload).is_ok_and(|summary| summary.version == VERSION)
    }

    /// As it is committed.
    pub(crate) fn payload(&mut self) -> String {
        self.version = VERSION;
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn note_tongue(&mut self, tongue: LanguageAnalyzer) {
        if !self.tongues.contains(tongue.code()) {
            self.tongues.insert(tongue.code().to_owned());
        }
    }

    pub(crate) fn tongues(&self) -> impl Iterator<Item = LanguageAnalyzer> {
        self.tongues.iter().map(|code| LanguageAnalyzer::of(code))
    }
}

/// The columns of one segment that every query needs.
pub(crate) struct Columns {
    pub(crate) key: Arc<dyn ColumnValues<u64>>,
    pub(crate) hash: Arc<dyn ColumnValues<u64>>,
    pub(crate) origin: Arc<dyn ColumnValues<u64>>,
    /// Which documents are not deleted. `None`: all.
    pub(crate) living: Option<AliveBitSet>,
}

impl Columns {
    /// Whether a document is still there.
    pub(crate) fn is_living(&self, doc: DocId) -> bool {
        self.living.as_ref().is_none_or(|living| living.is_alive(doc))
    }
}

/// An index that does not change while it is looked at.
pub(crate) struct Snapshot {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    pub(crate) summary: Summary,
    /// By segment.
    pub(crate) columns: Vec<Columns>,
    pub(crate) vectors: Option<Vectors>,
    /// Taken when a question first asks for it.
    sample: OnceLock<Sample>,
    frequencies: Frequencies,
}

impl Snapshot {
    /// The folder's last commit. `vectors` are those found for a model, if there is one.
    pub(crate) fn take(folder: &Folder, vectors: impl FnOnce(&[Columns]) -> Result<Option<Vectors>>) -> Result<Self> {
        let searcher = folder.searcher()?;
        let columns = searcher.segment_readers().iter().map(columns).collect::<Result<Vec<_>>>()?;
        let vectors = vectors(&columns)?;
        Ok(Self {
            searcher,
            fields: folder.fields,
            summary: folder.summary()?,
            columns,
            vectors,
            sample: OnceLock::new(),
            frequencies: Frequencies::default(),
        })
    }

    /// What items have, judged by some of them.
    pub(crate) fn sample(&self) -> &Sample {
        self.sample.get_or_init(|| Sample::of(self))
    }

    /// The key of a document.
    pub(crate) fn key(&self, address: DocAddress) -> u64 {
        self.columns[address.segment_ord as usize].key.get_val(address.doc_id)
    }

    /// The content hash of the item with this key, if it is in the index.
    pub(crate) fn hash_of(&self, key: u64) -> Result<Option<u64>> {
        Ok(self.find(key)?.map(|at| self.columns[at.segment_ord as usize].hash.get_val(at.doc_id)))
    }

    /// The document with this key.
    pub(crate) fn find(&self, key: u64) -> Result<Option<DocAddress>> {
        let term = Term::from_field_u64(self.fields.key, key);
        for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(self.fields.key)?;
            let Some(mut docs) =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(tantivy::TantivyError::from)?
            else {
                continue;
            };
            let mut doc: DocId = docs.doc();
            while doc != TERMINATED {
                if !segment.is_deleted(doc) {
                    return Ok(Some(DocAddress::new(ord as u32, doc)));
                }
                doc = docs.advance();
            }
        }
        Ok(None)
    }

    /// In how many documents a term occurs.
    pub(crate) fn doc_freq(&self, term: &Term) -> u64 {
        self.frequencies.of(term, || self.searcher.doc_freq(term)).unwrap_or(0)
    }
}

/// What BM25 is reckoned from: what the searcher says, with the frequencies that are remembered.
impl Bm25StatisticsProvider for Snapshot {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.searcher.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.frequencies.of(term, || self.searcher.doc_freq(term))
    }
}

fn columns(segment: &tantivy::SegmentReader) -> Result<Columns> {
    let column = |name: &str| segment.fast_fields().u64(name).map(|column| column.first_or_default_col(0));
    let living = segment.alive_bitset().cloned();
    Ok(Columns { key: column(KEY)?, hash: column(HASH)?, origin: column(ORIGIN)?, living })
}
