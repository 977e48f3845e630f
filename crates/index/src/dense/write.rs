//! Writing a file of vectors, which gets its name only when it is whole.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;

use super::file::{HEAD_BYTES, Head, NONE, Rows};
use super::graph::{GraphBuilder, LINKS, TRIALS, effort, spread};
use super::quantized::QuantizedVector;
use crate::error::{Result, folder};

/// The file that is being written, in the order in which rows come.
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
    silent: Vec<u64>,
    trials: Vec<QuantizedVector>,
}

impl RowsWriter {
    /// Begins a file in `dir`.
    pub(super) fn create(dir: &Path, dims: usize) -> Result<Self> {
        let path = dir.join(DRAFT);
        let file = File::options().create(true).truncate(true).write(true).open(&path).map_err(folder(&path))?;
        let mut writer = Self {
            dir: dir.to_owned(),
            file: BufWriter::new(file),
            path,
            checksum: crc32fast::Hasher::new(),
            dims,
            hashes: Vec::new(),
            silent: Vec::new(),
            trials: Vec::new(),
        };
        // Room for the head, which is known at the end and comes last into the checksum.
        writer.write_unchecked(&[0; HEAD_BYTES])?;
        Ok(writer)
    }

    /// Adds a row: its scale and its values, as a file holds them.
    pub(super) fn push(&mut self, hash: u64, row: &[u8]) -> Result<()> {
        self.write(row)?;
        self.hashes.push(hash);
        Ok(())
    }

    /// Notes a content that has no vector.
    pub(super) fn note_silent(&mut self, hash: u64) {
        self.silent.push(hash);
    }

    /// Adds a short text, as questions are, for finding out how much a search has to look at.
    pub(super) fn try_with(&mut self, vector: QuantizedVector) {
        self.trials.push(vector);
    }

    /// Completes the file under its name. From `graph_rows_min` rows on, they are joined; those of `grown`, which
    /// are the first of them, are so already.
    pub(super) fn finish(mut self, name: &str, graph_rows_min: usize, grown: Option<&Rows>) -> Result<()> {
        let (hashes, trials) = (std::mem::take(&mut self.hashes), std::mem::take(&mut self.trials));
        let silent = std::mem::take(&mut self.silent);
        hashes.iter().chain(&silent).try_for_each(|hash| self.write(&hash.to_le_bytes()))?;
        let trials: Vec<_> = spread(trials.len(), TRIALS).map(|at| &trials[at]).collect();
        trials.iter().try_for_each(|trial| self.write(&trial.to_bytes()))?;
        let head =
            Head { dims: self.dims, rows: hashes.len(), trials: trials.len(), silent: silent.len(), ..Head::default() };
        self.write_head(head)?;
        if hashes.len() >= graph_rows_min {
            self.join(head, grown)?;
        }
        self.publish(name)
    }

    /// Joins the rows of the file, which is whole but for that.
    fn join(&mut self, head: Head, grown: Option<&Rows>) -> Result<()> {
        let directory = MmapDirectory::open(&self.dir).map_err(tantivy::TantivyError::from)?;
        // The rows are read from the file that was just written: memory holds the links alone.
        let Some(rows) = Rows::open(&directory, Path::new(DRAFT), self.dims) else { return Ok(()) };
        self.file.seek(SeekFrom::End(0)).map_err(folder(&self.path))?;
        for links in GraphBuilder::of(&rows, grown).finish() {
            let mut places = links.into_iter().chain(std::iter::repeat(NONE)).take(LINKS);
            places.try_for_each(|link| self.write(&link.to_le_bytes()))?;
        }
        // While this map lives, `MmapDirectory` gives it out again for the same path, and that one ends before the
        // links.
        drop(rows);
        // With its links now: the effort is measured by searches of the graph as it will be read.
        let head = Head { links: LINKS, ..head };
        self.write_head(head)?;
        let Some(rows) = Rows::open(&directory, Path::new(DRAFT), self.dims) else { return Ok(()) };
        self.write_head(Head { effort: effort(&rows, &rows), ..head })
    }

    fn write_head(&mut self, head: Head) -> Result<()> {
        self.file.seek(SeekFrom::Start(0)).map_err(folder(&self.path))?;
        self.write_unchecked(&head.to_bytes(self.checksum.clone()))?;
        self.file.flush().map_err(folder(&self.path))
    }

    /// Gives the file its name, once it is safe on the disk.
    fn publish(self, name: &str) -> Result<()> {
        // The bytes before the name, so that no crash leaves a name without them. The folder is not synced: rows of a
        // file that is lost are made again.
        self.file.get_ref().sync_all().map_err(folder(&self.path))?;
        fs::rename(&self.path, self.dir.join(name)).map_err(folder(&self.path))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.checksum.update(bytes);
        self.write_unchecked(bytes)
    }

    fn write_unchecked(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(folder(&self.path))
    }
}
