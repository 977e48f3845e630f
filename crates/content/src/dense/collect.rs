//! Making the vectors that are missing, while items are loaded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Model;
use super::file::{Quantized, RowsWriter, as_bytes};
use super::vectors::{all_hashes, folder_of, names, open_all};
use crate::error::{Result, folder};
use crate::item::Item;
use crate::limits::{EMBED_BYTES_MAX, VECTOR_FILES_MAX};

/// Takes every item of a run; embeds those whose content has no vector yet.
pub(crate) struct Collector {
    model: Arc<Model>,
    dir: PathBuf,
    /// Rows that exist, and how many of them this run has asked for.
    known: HashSet<u64>,
    asked: HashSet<u64>,
    writer: Option<RowsWriter>,
    text: String,
}

impl Collector {
    /// Begins a run. Vectors of other models are thrown away.
    pub(crate) fn begin(dir: &Path, model: Arc<Model>) -> Result<Self> {
        drop_other_models(dir, &model);
        let known = all_hashes(&open_all(dir, &model)?).collect();
        let dir = dir.to_owned();
        Ok(Self { model, dir, known, asked: HashSet::new(), writer: None, text: String::new() })
    }

    /// An item of this content hash is part of the index.
    pub(crate) fn add(&mut self, hash: u64, item: &Item<'_>) -> Result<()> {
        if !self.asked.insert(hash) || self.known.contains(&hash) {
            return Ok(());
        }
        self.text.clear();
        item.embeddable(&mut self.text, EMBED_BYTES_MAX);
        let Some(vector) = self.model.embed(&self.text) else { return Ok(()) };
        let row = Quantized::of(&vector);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let dir = folder_of(&self.dir, &self.model);
                std::fs::create_dir_all(&dir).map_err(folder(&dir))?;
                self.writer.insert(RowsWriter::create(&dir, self.model.dims())?)
            }
        };
        writer.push(hash, row.scale, &as_bytes(&row.values))
    }

    /// Puts the new rows beside the old ones: before the commit that needs them.
    pub(crate) fn finish(&mut self) -> Result<()> {
        match self.writer.take() {
            Some(writer) => {
                let dir = folder_of(&self.dir, &self.model);
                writer.finish(&dir.join(next_name(&dir)?))
            }
            None => Ok(()),
        }
    }

    /// Makes one file of many, or of files whose rows are mostly unwanted: after the commit that
    /// no longer needs them.
    pub(crate) fn tidy(self) -> Result<()> {
        let dir = folder_of(&self.dir, &self.model);
        let wanted = self.known.iter().filter(|hash| self.asked.contains(hash)).count();
        match names(&dir)?.len() > VECTOR_FILES_MAX || wanted * 2 < self.known.len() {
            true => self.compact(&dir),
            false => Ok(()),
        }
    }

    /// Writes the rows that are asked for into one file, then removes the others.
    fn compact(mut self, dir: &Path) -> Result<()> {
        let old = names(dir)?;
        let mut writer = RowsWriter::create(dir, self.model.dims())?;
        for file in open_all(&self.dir, &self.model)? {
            for (at, hash) in file.hashes().enumerate() {
                if self.asked.remove(&hash) {
                    let (scale, values) = file.row(at);
                    writer.push(hash, scale, values)?;
                }
            }
        }
        writer.finish(&dir.join(next_name(dir)?))?;
        // A file that cannot be removed now is removed by a later run.
        old.iter().for_each(|name| drop(std::fs::remove_file(dir.join(name))));
        Ok(())
    }
}

/// A name after all others.
fn next_name(dir: &Path) -> Result<String> {
    let names = names(dir)?;
    let last = names.iter().rev().find_map(|name| name.file_stem()?.to_str()?.parse::<u64>().ok());
    Ok(format!("{:010}.vec", last.map_or(0, |last| last + 1)))
}

fn drop_other_models(dir: &Path, model: &Model) {
    let own = folder_of(dir, model);
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten().filter(|entry| entry.path() != own) {
        drop(std::fs::remove_dir_all(entry.path()));
    }
}
