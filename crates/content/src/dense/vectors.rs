//! The vectors of one snapshot of the index, and the search through all of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::{DocAddress, DocId};

use super::Model;
use super::file::{Quantized, Rows};
use crate::error::{Result, folder};
use crate::index::Columns;

/// No vector for this document.
const NONE: u32 = u32::MAX;

/// Which row is whose.
pub(crate) struct Vectors {
    files: Vec<Rows>,
    /// The first row of each file, counted through all files.
    starts: Vec<usize>,
    /// By segment and document.
    rows: Vec<Vec<u32>>,
}

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

impl Vectors {
    /// Finds the rows of the documents of an index.
    pub(crate) fn find(dir: &Path, model: &Model, columns: &[Columns]) -> Result<Self> {
        let files = open_all(dir, model)?;
        let starts = starts(&files);
        let mut by_hash: Vec<(u64, u32)> = all_hashes(&files).zip(0..).collect();
        by_hash.sort_unstable();
        let row_of = |hash: u64| match by_hash.binary_search_by_key(&hash, |(hash, _)| *hash) {
            Ok(at) => by_hash[at].1,
            Err(_) => NONE,
        };
        let rows = columns.iter().map(|columns| columns.hash.iter().map(row_of).collect()).collect();
        Ok(Self { files, starts, rows })
    }

    /// Whether a document has a vector.
    pub(crate) fn row(&self, segment: usize, doc: DocId) -> Option<(f32, &[u8])> {
        let row = *self.rows.get(segment)?.get(doc as usize)?;
        if row == NONE {
            return None;
        }
        let file = self.starts.partition_point(|start| *start <= row as usize) - 1;
        Some(self.files[file].row(row as usize - self.starts[file]))
    }

    /// The `wanted` documents that are closest to a vector and not further than `cosine_min`,
    /// closest first. `docs` visits the documents of a segment that may be found.
    pub(crate) fn nearest(
        &self,
        vector: &[f32],
        wanted: usize,
        cosine_min: f32,
        columns: &[Columns],
        mut docs: impl FnMut(usize, &mut dyn FnMut(DocId)) -> Result<()>,
    ) -> Result<Vec<Near>> {
        let query = Quantized::of(vector);
        let mut heap: BinaryHeap<Reverse<Near>> = BinaryHeap::with_capacity(wanted + 1);
        for (segment, columns) in columns.iter().enumerate() {
            docs(segment, &mut |doc| {
                let Some((scale, values)) = self.row(segment, doc) else { return };
                let cosine = dot(&query.values, values) as f32 * scale * query.scale;
                let is_full = heap.len() == wanted;
                if cosine < cosine_min || (is_full && heap.peek().is_some_and(|last| cosine < last.0.cosine)) {
                    return;
                }
                let key = columns.key.get_val(doc);
                heap.push(Reverse(Near { cosine, key, address: DocAddress::new(segment as u32, doc) }));
                if heap.len() > wanted {
                    heap.pop();
                }
            })?;
        }
        Ok(heap.into_sorted_vec().into_iter().map(|Reverse(near)| near).collect())
    }
}

/// Whole numbers in blocks that the compiler turns into vector instructions.
fn dot(query: &[i8], row: &[u8]) -> i32 {
    let products = |(q, r): (&i8, &u8)| i32::from(i16::from(*q) * i16::from(*r as i8));
    let (query_blocks, query_rest) = query.as_chunks::<32>();
    let (row_blocks, row_rest) = row.as_chunks::<32>();
    let blocks: i32 =
        query_blocks.iter().zip(row_blocks).map(|(q, r)| q.iter().zip(r).map(products).sum::<i32>()).sum();
    blocks + query_rest.iter().zip(row_rest).map(products).sum::<i32>()
}

/// The folder of a model's vectors.
pub(super) fn folder_of(dir: &Path, model: &Model) -> PathBuf {
    dir.join(format!("{:016x}", model.id))
}

/// All files of a model, in the order of their names. Files that are broken are passed over.
pub(super) fn open_all(dir: &Path, model: &Model) -> Result<Vec<Rows>> {
    let dir = folder_of(dir, model);
    let names = names(&dir)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let directory = MmapDirectory::open(&dir).map_err(tantivy::TantivyError::from)?;
    Ok(names.iter().filter_map(|name| Rows::open(&directory, name, model.dims())).collect())
}

/// Names of a model's files. None when the folder is missing.
pub(super) fn names(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(dir).map_err(folder(dir))?;
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.file_name().into()).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "vec"));
    names.sort();
    Ok(names)
}

fn starts(files: &[Rows]) -> Vec<usize> {
    let ends = files.iter().scan(0, |end, file| {
        *end += file.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).take(files.len()).collect()
}

/// Content hashes of all rows in all files.
pub(super) fn all_hashes(files: &[Rows]) -> impl Iterator<Item = u64> {
    files.iter().flat_map(Rows::hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_whole_numbers_add_up() {
        let query: Vec<i8> = (0..70).map(|n| n - 35).collect();
        let row: Vec<u8> = (0..70_i32).map(|n| (n * 2 - 70) as u8).collect();
        let expected: i32 = (0..70_i32).map(|n| (n - 35) * (n * 2 - 70)).sum();
        assert_eq!(dot(&query, &row), expected);
        assert_eq!(dot(&[-127; 256], &[129; 256]), 127 * 127 * 256);
    }
}
