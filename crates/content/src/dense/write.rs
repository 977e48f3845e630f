//! Writing a file of vectors, which gets its name only when it is whole.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;

use super::file::{HEAD_BYTES, Head, Rows};
use super::lists::{Lists, TRIALS, spread};
use super::quantized::Quantized;
use crate::error::{Result, folder};

/// Rows in the order in which they come, while nothing has its place yet.
const LOOSE: &str = "loose";
/// The file that is being written.
const DRAFT: &str = "draft";

/// A file being written.
pub(super) struct RowsWriter {
    dir: PathBuf,
    file: BufWriter<File>,
    path: PathBuf,
    /// Of what follows the head.
    checksum: crc32fast::Hasher,
    dims: usize,
    hashes: Vec<u64>,
    trials: Vec<Quantized>,
}

impl RowsWriter {
    /// Begins a file in `dir`.
    pub(super) fn create(dir: &Path, dims: usize) -> Result<Self> {
        Self::create_as(LOOSE, dir, dims)
    }

    fn create_as(name: &str, dir: &Path, dims: usize) -> Result<Self> {
        let path = dir.join(name);
        let file = File::create(&path).map_err(folder(&path))?;
        let mut writer = Self {
            dir: dir.to_owned(),
            file: BufWriter::new(file),
            path,
            checksum: crc32fast::Hasher::new(),
            dims,
            hashes: Vec::new(),
            trials: Vec::new(),
        };
        writer.write_head(&[0; HEAD_BYTES])?;
        Ok(writer)
    }

    /// Adds a row: its scale and its values, as a file holds them.
    pub(super) fn push(&mut self, hash: u64, row: &[u8]) -> Result<()> {
        self.write(row)?;
        self.hashes.push(hash);
        Ok(())
    }

    /// Adds a short text, as questions are, for finding out how much a search has to look at.
    pub(super) fn try_with(&mut self, vector: Quantized) {
        self.trials.push(vector);
    }

    /// Completes the file under its name. From `listed_rows_min` rows on, they are sorted into lists.
    pub(super) fn finish(mut self, name: &str, listed_rows_min: usize) -> Result<()> {
        self.trials = spread(self.trials.len(), TRIALS).map(|at| self.trials[at].clone()).collect();
        self.seal(&Lists::default())?;
        if self.hashes.len() < listed_rows_min {
            return self.publish(name);
        }
        let directory = MmapDirectory::open(&self.dir).map_err(tantivy::TantivyError::from)?;
        let Some(loose) = Rows::open(&directory, Path::new(LOOSE), self.dims) else { return self.publish(name) };
        let lists = Lists::of(&loose);
        let mut sorted = Self::create_as(DRAFT, &self.dir, self.dims)?;
        for row in &lists.order {
            let row = *row as usize;
            sorted.push(self.hashes[row], loose.bytes(row))?;
        }
        sorted.trials = std::mem::take(&mut self.trials);
        sorted.seal(&lists)?;
        sorted.publish(name)?;
        drop(loose);
        fs::remove_file(&self.path).map_err(folder(&self.path))
    }

    /// Writes what follows the rows, then the head.
    fn seal(&mut self, lists: &Lists) -> Result<()> {
        let (hashes, trials) = (std::mem::take(&mut self.hashes), std::mem::take(&mut self.trials));
        let mut write = |bytes: &[u8]| self.write(bytes);
        hashes.iter().try_for_each(|hash| write(&hash.to_le_bytes()))?;
        lists.centres.iter().chain(&trials).try_for_each(|row| write(&row.to_bytes()))?;
        lists.ends.iter().try_for_each(|end| write(&end.to_le_bytes()))?;
        let (rows, count) = (hashes.len(), lists.centres.len());
        let head = Head { dims: self.dims, rows, lists: count, probes: lists.probes, trials: trials.len() };
        (self.hashes, self.trials) = (hashes, trials);
        self.file.seek(SeekFrom::Start(0)).map_err(folder(&self.path))?;
        self.write_head(&head.to_bytes(self.checksum.clone()))?;
        self.file.flush().map_err(folder(&self.path))
    }

    /// Gives the file its name, once it is safe on the disk.
    fn publish(self, name: &str) -> Result<()> {
        self.file.get_ref().sync_all().map_err(folder(&self.path))?;
        fs::rename(&self.path, self.dir.join(name)).map_err(folder(&self.path))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.checksum.update(bytes);
        self.write_head(bytes)
    }

    fn write_head(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(folder(&self.path))
    }
}
