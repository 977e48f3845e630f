//! The columns of an index that queries, vectors and runs read of each document, whether it goes by words or by meaning.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::fastfield::AliveBitSet;
use tantivy::{DocId, SegmentReader};

use crate::error::Result;

/// Names of the fast fields: the hash of the id, the hash of everything that the document is made from, and the hash
/// of the file that the item came from.
pub(crate) const KEY: &str = "key";
pub(crate) const HASH: &str = "hash";
pub(crate) const ORIGIN: &str = "origin";

/// The name of the fast field that says which variant of an item states what.
pub(crate) const VARIANTS: &str = "variants";

/// The columns of one segment that every query needs.
pub(crate) struct Columns {
    pub(crate) key: Arc<dyn ColumnValues<u64>>,
    pub(crate) hash: Arc<dyn ColumnValues<u64>>,
    pub(crate) origin: Arc<dyn ColumnValues<u64>>,
    /// Which documents are not deleted. `None`: all.
    pub(crate) living: Option<AliveBitSet>,
}

impl Columns {
    /// Opens the columns of a segment. Fails when one is missing.
    pub(crate) fn of(segment: &SegmentReader) -> Result<Self> {
        // Every document has all three, so that the default of 0 never stands for one.
        let column = |name: &str| segment.fast_fields().u64(name).map(|column| column.first_or_default_col(0));
        let living = segment.alive_bitset().cloned();
        Ok(Self { key: column(KEY)?, hash: column(HASH)?, origin: column(ORIGIN)?, living })
    }

    /// Whether a document is still there.
    pub(crate) fn is_living(&self, doc: DocId) -> bool {
        self.living.as_ref().is_none_or(|living| living.is_alive(doc))
    }
}
