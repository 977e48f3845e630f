//! Making the vectors that are missing, while items are loaded.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_embed::limits::TEXT_BYTES_MAX;

use super::Model;
use super::file::Rows;
use super::lists::TRIALS;
use super::quantized::Quantized;
use super::vectors::{folder_of, names, open_all};
use super::write::RowsWriter;
use crate::error::{Result, folder};
use crate::item::Item;
use crate::limits::{COMPARED_ROWS_MAX, EMBED_ITEMS, VECTOR_FILES_MAX};

/// The largest file is written anew with the others once these have as many rows as this part of it.
const GROWN: usize = 4;

/// Takes every item of a run; embeds those whose content has no vector yet.
pub(crate) struct Collector {
    model: Arc<Model>,
    dir: PathBuf,
    /// Rows that exist, and how many of them this run has asked for.
    known: HashSet<u64>,
    asked: HashSet<u64>,
    writer: Option<RowsWriter>,
    /// Names of some items, by the hash of their content: those with the smallest, at most [`TRIALS`].
    trials: BTreeMap<u64, String>,
    /// Content hashes and texts that wait to be embedded together, at most [`EMBED_ITEMS`].
    waiting: Vec<(u64, String)>,
}

impl Collector {
    /// Begins a run. Vectors of other models are thrown away, and so are files that are broken.
    pub(crate) fn begin(dir: &Path, model: Arc<Model>) -> Result<Self> {
        drop_other_models(dir, &model);
        let files = open_all(dir, &model)?;
        drop_broken(&folder_of(dir, &model), &files)?;
        let known = files.iter().flat_map(Rows::hashes).collect();
        let dir = dir.to_owned();
        Ok(Self {
            model,
            dir,
            known,
            asked: HashSet::new(),
            writer: None,
            trials: BTreeMap::new(),
            waiting: Vec::new(),
        })
    }

    /// An item of this content hash is part of the index.
    pub(crate) fn add(&mut self, hash: u64, item: &Item<'_>) -> Result<()> {
        if !self.asked.insert(hash) || self.known.contains(&hash) {
            return Ok(());
        }
        self.trials.insert(hash, item.name.to_owned());
        if self.trials.len() > TRIALS {
            self.trials.pop_last();
        }
        let mut text = String::new();
        item.embeddable(&mut text, TEXT_BYTES_MAX);
        self.waiting.push((hash, text));
        if self.waiting.len() < EMBED_ITEMS { Ok(()) } else { self.embed_waiting() }
    }

    fn embed_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<&str> = waiting.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = self.model.embed_all(&texts);
        for ((hash, _), vector) in waiting.iter().zip(vectors) {
            if let Some(vector) = vector {
                self.write(*hash, &Quantized::of(&vector))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, hash: u64, row: &Quantized) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let dir = folder_of(&self.dir, &self.model);
                std::fs::create_dir_all(&dir).map_err(folder(&dir))?;
                self.writer.insert(RowsWriter::create(&dir, self.model.dims())?)
            }
        };
        writer.push(hash, &row.to_bytes())
    }

    /// Puts the new rows beside the old ones: before the commit that needs them.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.embed_waiting()?;
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let names: Vec<&str> = self.trials.values().map(String::as_str).collect();
        let vectors = self.model.embed_all(&names);
        vectors.iter().flatten().for_each(|vector| writer.try_with(Quantized::of(vector)));
        writer.finish(&next_name(&folder_of(&self.dir, &self.model))?, COMPARED_ROWS_MAX + 1)
    }

    /// Makes one file of many, or of files whose rows are mostly unwanted: after the commit that
    /// no longer needs them.
    pub(crate) fn tidy(self) -> Result<()> {
        let files = open_all(&self.dir, &self.model)?;
        let wanted = self.known.iter().filter(|hash| self.asked.contains(hash)).count();
        let old: Vec<usize> = match wanted * 2 < self.known.len() {
            true => (0..files.len()).collect(),
            false => outgrown(&files.iter().map(|file| (file.len(), file.lists() > 0)).collect::<Vec<_>>()),
        };
        if old.is_empty() { Ok(()) } else { self.compact(&files, &old) }
    }

    /// The same after a run that asked for its own rows only: all others are wanted as well.
    pub(crate) fn tidy_files(mut self) -> Result<()> {
        self.asked.extend(&self.known);
        self.tidy()
    }

    /// Writes the rows of some files that are asked for into one, then removes those files.
    fn compact(mut self, files: &[Rows], old: &[usize]) -> Result<()> {
        let dir = folder_of(&self.dir, &self.model);
        let mut writer = RowsWriter::create(&dir, self.model.dims())?;
        for file in old.iter().map(|at| &files[*at]) {
            file.trials().for_each(|trial| writer.try_with(trial.into()));
            for (at, hash) in file.hashes().enumerate() {
                if self.asked.remove(&hash) {
                    writer.push(hash, file.bytes(at))?;
                }
            }
        }
        writer.finish(&next_name(&dir)?, COMPARED_ROWS_MAX + 1)?;
        // A file that cannot be removed now is removed by a later run.
        old.iter().for_each(|at| drop(std::fs::remove_file(dir.join(&files[*at].name))));
        Ok(())
    }
}

/// Which files are to become one, each given by its rows and whether they are in lists: when there
/// are too many files, or too many rows without lists. The largest stays as it is while the others
/// are few beside it, since sorting it anew takes long.
fn outgrown(files: &[(usize, bool)]) -> Vec<usize> {
    let loose: usize = files.iter().filter(|(_, is_listed)| !is_listed).map(|(rows, _)| rows).sum();
    if files.len() <= VECTOR_FILES_MAX && (loose <= COMPARED_ROWS_MAX || files.len() == 1) {
        return Vec::new();
    }
    let largest = (0..files.len()).max_by_key(|at| files[*at].0).unwrap_or_default();
    let others: usize = files.iter().map(|(rows, _)| rows).sum::<usize>() - files[largest].0;
    let stays = |at: usize| at == largest && others * GROWN < files[largest].0;
    (0..files.len()).filter(|at| !stays(*at)).collect()
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

/// What is in the way of the rows that will be made again.
fn drop_broken(dir: &Path, files: &[Rows]) -> Result<()> {
    let is_broken = |name: &PathBuf| !files.iter().any(|file| file.name == *name);
    names(dir)?.iter().filter(|name| is_broken(name)).for_each(|name| drop(std::fs::remove_file(dir.join(name))));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_stay_as_they_are() {
        assert!(outgrown(&[]).is_empty());
        assert!(outgrown(&[(1, false); VECTOR_FILES_MAX]).is_empty());
        assert_eq!(outgrown(&[(1, false); VECTOR_FILES_MAX + 1]).len(), VECTOR_FILES_MAX + 1);
    }

    #[test]
    fn rows_without_lists_are_few() {
        let half = COMPARED_ROWS_MAX / 2;
        assert!(outgrown(&[(half, false), (half, false)]).is_empty());
        assert_eq!(outgrown(&[(half, false), (half + 1, false)]), [0, 1]);
        assert_eq!(outgrown(&[(COMPARED_ROWS_MAX * 100, true), (half, false), (half + 1, false)]), [1, 2]);
    }

    #[test]
    fn the_largest_file_is_sorted_anew_when_the_others_have_grown() {
        let mut files = vec![(1_000, false); VECTOR_FILES_MAX];
        files.insert(3, (GROWN * 1_000 * VECTOR_FILES_MAX + 1, true));
        assert!(!outgrown(&files).contains(&3));
        assert_eq!(outgrown(&files).len(), VECTOR_FILES_MAX);
        files[3].0 -= 1;
        assert_eq!(outgrown(&files).len(), VECTOR_FILES_MAX + 1);
    }
}
