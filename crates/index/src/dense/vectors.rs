//! The vectors of one snapshot of the index: which row is whose.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::{DocAddress, DocId};

use super::Model;
use super::file::Rows;
use crate::columns::Columns;
use crate::error::{Result, folder};

/// No vector for this document.
const NONE: u32 = u32::MAX;

/// Which row is whose. Rows are counted through all files, documents through all segments.
pub(crate) struct Vectors {
    pub(super) files: Vec<Rows>,
    /// The first row of each file.
    starts: Vec<usize>,
    /// The first document of each segment.
    segments: Vec<u32>,
    /// By document.
    rows: Vec<u32>,
    /// The living documents that have a row, row by row.
    docs: Vec<u32>,
    /// Where the documents of each row begin in `docs`, and where the last ones end.
    docs_starts: Vec<u32>,
    /// Contents that have no vector, and of which that is known.
    silent: HashSet<u64>,
    /// Living documents whose content has to be embedded yet.
    missing: usize,
}

impl Vectors {
    /// Finds the rows of the documents of an index.
    pub(crate) fn find(dir: &Path, model: &Model, columns: &[Columns]) -> Result<Self> {
        Ok(Self::of(open_all(dir, model)?, columns))
    }

    pub(super) fn of(files: Vec<Rows>, columns: &[Columns]) -> Self {
        let mut by_hash: Vec<(u64, u32)> = files.iter().flat_map(Rows::hashes).zip(0..).collect();
        by_hash.sort_unstable();
        let row_of = |hash: u64| match by_hash.binary_search_by_key(&hash, |(hash, _)| *hash) {
            Ok(at) => by_hash[at].1,
            Err(_) => NONE,
        };
        // A deleted document has no row: rows that only such ones had are unwanted, and `tidy` drops them.
        let living =
            |columns: &Columns, doc: DocId, hash: u64| if columns.is_living(doc) { row_of(hash) } else { NONE };
        let of_segment = |columns: &Columns| -> Vec<u32> {
            columns.hash.iter().zip(0..).map(|(hash, doc)| living(columns, doc, hash)).collect()
        };
        let rows: Vec<u32> = columns.iter().flat_map(of_segment).collect();
        let (docs, docs_starts) = by_row(&rows, by_hash.len());
        let silent: HashSet<u64> = files.iter().flat_map(Rows::silent).collect();
        let missing = missing(columns, &rows, &silent).count();
        let starts = starts(files.iter().map(Rows::len));
        let segments = starts_of(columns);
        Self { files, starts, segments, rows, docs, docs_starts, silent, missing }
    }

    /// Documents, with or without a vector.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Living documents that have a vector.
    pub(crate) fn found(&self) -> usize {
        self.docs.len()
    }

    /// Living documents whose content has to be embedded yet.
    pub(crate) fn missing(&self) -> usize {
        self.missing
    }

    /// The first documents whose content has to be embedded yet, at most `count`, each with its content's hash.
    /// Of those that share a content, one.
    pub(crate) fn first_missing(&self, columns: &[Columns], count: usize) -> Vec<(u64, DocAddress)> {
        let mut seen = HashSet::new();
        let all = missing(columns, &self.rows, &self.silent).filter(|(hash, _)| seen.insert(*hash));
        all.take(count).collect()
    }

    /// Whether a row is the vector of a document.
    pub(super) fn is_wanted(&self, file: usize, row: usize) -> bool {
        !self.docs(file, row).is_empty()
    }

    /// The number of a document through all segments.
    pub(super) fn number(&self, segment: usize, doc: DocId) -> u32 {
        self.segments[segment] + doc
    }

    /// Where the document of a number is.
    pub(super) fn address(&self, number: u32) -> DocAddress {
        // The first segment begins at 0, so that at least one start is not above the number.
        let segment = self.segments.partition_point(|start| *start <= number) - 1;
        DocAddress::new(segment as u32, number - self.segments[segment])
    }

    /// The file and the row in it that a document has.
    pub(super) fn row(&self, number: u32) -> Option<(&Rows, usize)> {
        let row = *self.rows.get(number as usize).filter(|row| **row != NONE)? as usize;
        let file = self.starts.partition_point(|start| *start <= row) - 1;
        Some((&self.files[file], row - self.starts[file]))
    }

    /// The documents of a row of a file.
    pub(super) fn docs(&self, file: usize, row: usize) -> &[u32] {
        let row = self.starts[file] + row;
        &self.docs[self.docs_starts[row] as usize..self.docs_starts[row + 1] as usize]
    }
}

/// The living documents that have no row and are not known to have none, each with its content's hash.
fn missing<'v>(
    columns: &'v [Columns],
    rows: &'v [u32],
    silent: &'v HashSet<u64>,
) -> impl Iterator<Item = (u64, DocAddress)> + 'v {
    let segments = columns.iter().zip(starts_of(columns)).zip(0..);
    let docs = segments.flat_map(move |((columns, start), segment)| {
        let living = (0..columns.hash.num_vals()).filter(move |doc| columns.is_living(*doc));
        let without = living.filter(move |doc| rows[(start + doc) as usize] == NONE);
        without.map(move |doc| (columns.hash.get_val(doc), DocAddress::new(segment, doc)))
    });
    docs.filter(move |(hash, _)| !silent.contains(hash))
}

/// The documents of each row, row by row, and where those of each row begin.
fn by_row(rows: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; count + 1];
    let known = || rows.iter().zip(0..rows.len() as u32).filter(|(row, _)| **row != NONE);
    known().for_each(|(row, _)| starts[*row as usize] += 1);
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let mut docs = vec![0; end as usize];
    // Filled from behind, so that each start ends up where its documents begin.
    for (row, doc) in known().rev() {
        let start = &mut starts[*row as usize];
        *start -= 1;
        docs[*start as usize] = doc;
    }
    (docs, starts)
}

fn starts_of(columns: &[Columns]) -> Vec<u32> {
    starts(columns.iter().map(|columns| columns.hash.num_vals() as usize))
        .into_iter()
        .map(|start| start as u32)
        .collect()
}

/// Where each of these begins when they lie one behind the other.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let begin = |end: &mut usize, length| {
        let start = *end;
        *end += length;
        Some(start)
    };
    lengths.scan(0, begin).collect()
}

/// The folder of a model's vectors.
pub(super) fn folder_of(dir: &Path, model: &Model) -> PathBuf {
    dir.join(format!("{:016x}", model.id()))
}

/// All files of a model, in the order of their names. Files that are broken are passed over.
pub(super) fn open_all(dir: &Path, model: &Model) -> Result<Vec<Rows>> {
    let dir = folder_of(dir, model);
    let names = names(&dir)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let directory = MmapDirectory::open(&dir).map_err(tantivy::TantivyError::from)?;
    // No checksum is compared here, since that reads every byte: `drop_damaged` does it when a library is opened.
    Ok(names.iter().filter_map(|name| Rows::open(&directory, name, model.dims())).collect())
}

/// Removes the files of a model that are not as they were written. Reads all of them.
pub(crate) fn drop_damaged(dir: &Path, model: &Model) -> Result<()> {
    let dir = folder_of(dir, model);
    let names = names(&dir)?;
    if names.is_empty() {
        return Ok(());
    }
    let directory = MmapDirectory::open(&dir).map_err(tantivy::TantivyError::from)?;
    for name in names {
        if Rows::open(&directory, &name, model.dims()).is_some_and(|rows| rows.is_whole()) {
            continue;
        }
        let file = dir.join(&name);
        tracing::warn!(file = %file.display(), "a file of vectors is damaged or of another version; it is made again");
        std::fs::remove_file(&file).map_err(folder(&file))?;
    }
    Ok(())
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
