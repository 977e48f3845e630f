//! One state of the index, as queries see it. A new one is put in its place when a run is done.

use std::sync::{Arc, OnceLock};

use forecourt_understanding::{LAST_DAY, LearntProperties};
use forecourt_vocabulary::Vocabulary;
use tantivy::columnar::{Column, DynamicColumn, NumericalType};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Searcher, TERMINATED, Term};

use super::commit::Summary;
use super::folder::Folder;
use super::frequencies::TermNumbers;
use super::sample::Sample;
use super::schema::{Fields, number_column, schema};
use super::statistics::Statistics;
use super::stored::StoredItem;
use super::term_docs::{TermDocs, TermDocsCache};
use crate::analysis::whole_fact;
use crate::columns::{Columns, VARIANTS};
use crate::dense::Vectors;
use crate::error::Result;
use crate::facts::SOLD_OUT;

/// An index that does not change while it is looked at.
pub(crate) struct Snapshot {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    pub(crate) summary: Summary,
    /// By segment.
    pub(crate) columns: Vec<Columns>,
    /// By segment: which variant of an item states what. Nothing for an item without variants.
    pub(crate) variants: Vec<Column<u64>>,
    pub(crate) vectors: Option<Vectors>,
    /// What words of items and of questions mean.
    pub(crate) vocabulary: Arc<Vocabulary>,
    overview: Overview,
    frequencies: TermNumbers<u64>,
    best_parts: TermNumbers<Arc<[f32]>>,
    term_docs: TermDocsCache,
    /// The numbers of all items. `None`: this has all of them.
    statistics: Option<Statistics>,
}

/// What is known of all items, each found out when a question first asks for it. Snapshots of some of them have it from
/// the one of their sample.
#[derive(Default, Clone)]
pub(crate) struct Overview {
    sample: OnceLock<Arc<Sample>>,
    /// What the items state.
    learnt: OnceLock<Arc<LearntProperties>>,
    /// The last day of all items that have one.
    pub(crate) last_day: OnceLock<Option<f64>>,
    /// Whether some item is sold out.
    pub(crate) sells_out: OnceLock<bool>,
}

impl Snapshot {
    /// The folder's last commit. `vectors` are those found for a model, if there is one.
    pub(crate) fn take(
        folder: &Folder,
        vocabulary: &Arc<Vocabulary>,
        vectors: impl FnOnce(&[Columns]) -> Result<Option<Vectors>>,
    ) -> Result<Self> {
        let searcher = folder.searcher()?;
        let mut snapshot = Self::of_searcher(searcher, folder.summary()?, vocabulary, None, Overview::default())?;
        snapshot.vectors = vectors(&snapshot.columns)?;
        Ok(snapshot)
    }

    /// What a searcher sees.
    pub(super) fn of_searcher(
        searcher: Searcher,
        summary: Summary,
        vocabulary: &Arc<Vocabulary>,
        statistics: Option<Statistics>,
        overview: Overview,
    ) -> Result<Self> {
        let columns = searcher.segment_readers().iter().map(Columns::of).collect::<Result<Vec<_>>>()?;
        let variants = searcher.segment_readers().iter().map(|reader| reader.fast_fields().u64(VARIANTS));
        let variants = variants.collect::<Result<Vec<_>, _>>()?;
        let (fields, vocabulary) = (schema().1, Arc::clone(vocabulary));
        let (frequencies, best_parts) = (TermNumbers::default(), TermNumbers::default());
        Ok(Self {
            searcher,
            fields,
            summary,
            columns,
            variants,
            vectors: None,
            vocabulary,
            overview,
            frequencies,
            best_parts,
            term_docs: TermDocsCache::default(),
            statistics,
        })
    }

    /// What is known of all items, found out now as far as it was not before.
    pub(crate) fn overview(&self) -> Overview {
        self.learnt();
        self.overview.clone()
    }

    /// The numbers of all items, where this has some of them.
    pub(crate) fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// The number of items: of all, where this has some of them.
    pub(crate) fn documents(&self) -> u64 {
        self.statistics.as_ref().map_or_else(|| self.searcher.num_docs(), |all| all.documents)
    }

    /// Statistics over some of the items, taken at the first call and kept.
    pub(crate) fn sample(&self) -> &Sample {
        self.overview.sample.get_or_init(|| {
            let step = Sample::step(self.searcher.num_docs());
            let segments = self.searcher.segment_readers().iter().zip(0..);
            let docs = segments
                .flat_map(|(reader, segment)| reader.doc_ids_alive().map(move |doc| DocAddress::new(segment, doc)));
            // What can't be read is passed over.
            Sample::of(docs.step_by(step).filter_map(|address| Some(self.stored(address).ok()?.item))).into()
        })
    }

    /// What the items state, and the words for it: learnt at the first call and kept.
    pub(crate) fn learnt(&self) -> &LearntProperties {
        self.overview.learnt.get_or_init(|| LearntProperties::of(self.sample().stated(), &self.vocabulary).into())
    }

    /// The last day on which some item is not over, in days since 1970. `None`: none of them ever is.
    pub(crate) fn last_day(&self) -> Option<f64> {
        *self.overview.last_day.get_or_init(|| {
            let columns = self.searcher.segment_readers().iter().filter_map(|reader| {
                // A segment whose items are never over has no such column.
                let handles = reader.fast_fields().dynamic_column_handles(&number_column(LAST_DAY)).ok()?;
                let column = handles.into_iter().next()?.open().ok()?.coerce_numerical(NumericalType::F64)?;
                if let DynamicColumn::F64(column) = column { Some(column.max_value()) } else { None }
            });
            columns.reduce(f64::max)
        })
    }

    /// Whether some item says that it can't be had.
    pub(crate) fn sells_out(&self) -> bool {
        *self.overview.sells_out.get_or_init(|| self.doc_freq(&self.sold_out()) > 0)
    }

    /// The term of what says that it can't be had.
    pub(crate) fn sold_out(&self) -> Term {
        Term::from_field_text(self.fields.facts, &whole_fact(SOLD_OUT, "yes"))
    }

    /// Which documents have a term. Fails when that can't be read.
    pub(crate) fn term_docs(&self, term: &Term) -> tantivy::Result<Arc<TermDocs>> {
        self.term_docs.of(&self.searcher, term)
    }

    /// Reads the stored fields of a document. Fails when the store is damaged.
    pub(crate) fn stored(&self, address: DocAddress) -> Result<StoredItem> {
        Ok(self.searcher.doc(address)?)
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
            // An item that was written again leaves a deleted document of its key behind until segments are merged.
            while doc != TERMINATED {
                if !segment.is_deleted(doc) {
                    return Ok(Some(DocAddress::new(ord as u32, doc)));
                }
                doc = docs.advance();
            }
        }
        Ok(None)
    }

    /// By segment, the part of its weight that a term adds to a score at most; `find` looks for what is not remembered.
    pub(crate) fn best_part(
        &self,
        term: &Term,
        find: impl FnOnce() -> tantivy::Result<Arc<[f32]>>,
    ) -> tantivy::Result<Arc<[f32]>> {
        self.best_parts.of(term, find)
    }

    /// How many items have a stem among their words.
    pub(crate) fn items_with(&self, stem: &str) -> u64 {
        self.doc_freq(&Term::from_field_text(self.fields.text, stem))
    }

    /// In how many documents a term occurs.
    pub(crate) fn doc_freq(&self, term: &Term) -> u64 {
        self.frequency(term).unwrap_or(0)
    }

    fn frequency(&self, term: &Term) -> tantivy::Result<u64> {
        let told = self.statistics.as_ref().and_then(|all| all.frequencies.get(term));
        told.map_or_else(|| self.frequencies.of(term, || self.searcher.doc_freq(term)), |told| Ok(*told))
    }
}

/// What BM25 is reckoned from: what the searcher says, with the frequencies that are remembered; of all items, where this
/// has some of them.
impl Bm25StatisticsProvider for Snapshot {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let told = self.statistics.as_ref().and_then(|all| all.tokens.get(&field));
        told.map_or_else(|| self.searcher.total_num_tokens(field), |told| Ok(*told))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.statistics.as_ref().map_or_else(|| self.searcher.total_num_docs(), |all| Ok(all.documents))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.frequency(term)
    }
}
