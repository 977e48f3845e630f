//! The search through vectors. Files with a graph are gone through along that; all others, and what a filter
//! leaves over when that is little beside the way through the graph, are compared row by row.

use std::cmp::Ordering;

use tantivy::{DocAddress, DocId};

use super::file::Rows;
use super::graph::Walk;
use super::quantized::QuantizedVector;
use super::vectors::Vectors;
use crate::best::Best;
use crate::columns::Columns;
use crate::error::Result;

/// What a step through a graph costs, in rows that are compared in their order: it compares about twelve, and
/// each of them has to be fetched from anywhere.
const STEP_COST: usize = 36;

/// A document and how close it is, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub(crate) cosine: f32,
    pub(crate) key: u64,
    pub(crate) address: DocAddress,
}

impl Eq for Near {}

impl Ord for Near {
    /// Closer is greater; then the smaller key.
    fn cmp(&self, other: &Self) -> Ordering {
        self.cosine.total_cmp(&other.cosine).then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Visits the documents of a segment that a filter lets through.
pub(crate) type FilteredVisit<'f> = &'f mut dyn FnMut(usize, &mut dyn FnMut(DocId)) -> Result<()>;

impl Vectors {
    /// The `wanted` documents that are closest to a vector and not further than `cosine_min`,
    /// closest first; of many rows, nearly all of those that are. Without
    /// `filtered`, every document may be found.
    pub(crate) fn nearest(
        &self,
        vector: &[f32],
        wanted: usize,
        cosine_min: f32,
        columns: &[Columns],
        filtered: Option<FilteredVisit<'_>>,
    ) -> Result<Vec<Near>> {
        let among = filtered.map(|filtered| self.among(filtered)).transpose()?;
        let query = QuantizedVector::of(vector);
        let mut search =
            Search { vectors: self, columns, query, among: among.as_ref(), cosine_min, wanted, best: Best::of(wanted) };
        match search.among {
            // Where a filter lets few documents through, to compare each of them costs less than the way through a
            // graph.
            Some(among) if among.count <= search.cost_of_files() => search.each_document(),
            _ => search.each_file(),
        }
        Ok(search.best.into_sorted())
    }

    /// How near a document is to a vector. `None` when it has none of its own.
    pub(crate) fn cosine(&self, vector: &[f32], address: DocAddress) -> Option<f32> {
        let (file, row) = self.row(self.number(address.segment_ord as usize, address.doc_id))?;
        Some(QuantizedVector::of(vector).dot(file.row(row)))
    }

    fn among(&self, filtered: FilteredVisit<'_>) -> Result<Among> {
        let mut among = Among { bits: vec![0; self.len().div_ceil(64)], count: 0 };
        for segment in 0..self.segments() {
            filtered(segment, &mut |doc| among.insert(self.number(segment, doc)))?;
        }
        Ok(among)
    }
}

/// Some of the documents, by number.
struct Among {
    bits: Vec<u64>,
    count: usize,
}

impl Among {
    /// Takes every document once.
    fn insert(&mut self, doc: u32) {
        if let Some(word) = self.bits.get_mut(doc as usize / 64) {
            *word |= 1 << (doc % 64);
            self.count += 1;
        }
    }

    fn has(&self, doc: u32) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let docs_of = |(word, start): (&u64, u32)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                // Takes the lowest bit away, and ends where none is left.
                word &= word.checked_sub(1)?;
                Some(start + bit)
            })
        };
        self.bits.iter().zip((0..).step_by(64)).flat_map(docs_of)
    }
}

struct Search<'v> {
    vectors: &'v Vectors,
    columns: &'v [Columns],
    query: QuantizedVector,
    among: Option<&'v Among>,
    cosine_min: f32,
    wanted: usize,
    best: Best<Near>,
}

impl Search<'_> {
    /// Compares the documents that may be found, one by one.
    fn each_document(&mut self) {
        for doc in self.among.into_iter().flat_map(Among::iter) {
            if let Some((file, row)) = self.vectors.row(doc) {
                self.offer(self.query.dot(file.row(row)), doc);
            }
        }
    }

    fn each_file(&mut self) {
        for (at, file) in self.vectors.files.iter().enumerate() {
            match file.has_graph() && self.cost_of_graph(file) < file.len() {
                true => self.graph(at, file),
                false => self.rows(at, file),
            }
        }
    }

    /// Goes through the graph of a file, as far as what passes a filter makes necessary.
    fn graph(&mut self, at: usize, file: &Rows) {
        let is_wanted = |row: u32| self.vectors.docs(at, row as usize).iter().any(|doc| self.may_be_found(*doc));
        // A search keeps as many rows as its effort: with less than is wanted, it would find too few.
        let effort = file.effort().max(self.wanted);
        let close = Walk::through(file.len()).closest((file, file.len()), file, &self.query, effort, is_wanted);
        for one in close {
            self.vectors.docs(at, one.row as usize).iter().for_each(|doc| self.offer(one.cosine, *doc));
        }
    }

    /// What the way through all graphs costs, and through the rows of files without one.
    fn cost_of_files(&self) -> usize {
        self.vectors.files.iter().map(|file| self.cost_of_graph(file).min(file.len())).sum()
    }

    /// What the way through the graph of a file costs: the fewer pass a filter, the more.
    fn cost_of_graph(&self, file: &Rows) -> usize {
        if !file.has_graph() {
            return file.len();
        }
        // Where one document in a hundred passes a filter, a search looks at a hundred times as many rows.
        let passing = self.among.map_or(self.vectors.found(), |among| among.count).max(1);
        let steps = file.effort().max(self.wanted).saturating_mul(self.vectors.found()) / passing;
        steps.saturating_mul(STEP_COST)
    }

    fn rows(&mut self, at: usize, file: &Rows) {
        for row in 0..file.len() {
            let docs = self.vectors.docs(at, row);
            if docs.iter().any(|doc| self.may_be_found(*doc)) {
                let cosine = self.query.dot(file.row(row));
                docs.iter().for_each(|doc| self.offer(cosine, *doc));
            }
        }
    }

    fn may_be_found(&self, doc: u32) -> bool {
        self.among.is_none_or(|among| among.has(doc))
    }

    fn offer(&mut self, cosine: f32, doc: u32) {
        // What is exactly as close as the last one is offered: the smaller key decides between them.
        let is_too_far = cosine < self.cosine_min || self.best.last().is_some_and(|last| cosine < last.cosine);
        if is_too_far || !self.may_be_found(doc) {
            return;
        }
        let address = self.vectors.address(doc);
        let key = self.columns[address.segment_ord as usize].key.get_val(address.doc_id);
        self.best.offer(Near { cosine, key, address });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let mut among = Among { bits: vec![0; 3], count: 0 };
        [0, 5, 63, 64, 191, 192].into_iter().for_each(|doc| among.insert(doc));
        assert_eq!(among.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 191]);
        assert_eq!(among.count, 5);
        assert!(among.has(63) && !among.has(62) && !among.has(192));
    }
}
