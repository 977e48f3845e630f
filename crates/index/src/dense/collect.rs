//! Making the vectors that are missing, some at a time, and keeping their files few.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forecourt_embed::limits::TEXT_BYTES_MAX;

use super::Model;
use super::file::Rows;
use super::graph::TRIALS;
use super::quantized::QuantizedVector;
use super::vectors::{Vectors, folder_of, names, open_all};
use super::write::RowsWriter;
use crate::error::{Result, folder};
use crate::item_texts;
use crate::limits::{COMPARED_ROWS_MAX, EMBED_ITEMS, GRAPH_ROWS_MAX, VECTOR_FILES_MAX};
use forecourt_loaders::item::Item;

/// The largest file is merged with the others once these have a quarter as many rows: writing its graph anew takes
/// long.
const GROWN: usize = 4;
/// Three quarters of the rows of a graph have to be wanted for it to be grown rather than built from nothing.
const KEPT: usize = 4;

/// Embeds items and writes their vectors into one file.
pub(crate) struct Collector<'m> {
    model: &'m Model,
    dir: PathBuf,
    writer: Option<RowsWriter>,
    /// Names of some items, by the hash of their content: those with the smallest, at most [`TRIALS`].
    trials: BTreeMap<u64, String>,
    /// Content hashes and texts that wait to be embedded together, at most [`EMBED_ITEMS`].
    waiting: Vec<(u64, String)>,
}

impl<'m> Collector<'m> {
    /// Begins a file. Vectors of other models are thrown away, and so are files that are broken.
    pub(crate) fn begin(dir: &Path, model: &'m Model) -> Result<Self> {
        drop_other_models(dir, model);
        drop_broken(&folder_of(dir, model), &open_all(dir, model)?)?;
        Ok(Self { model, dir: dir.to_owned(), writer: None, trials: BTreeMap::new(), waiting: Vec::new() })
    }

    /// Embeds an item of this content hash, soon.
    pub(crate) fn add(&mut self, hash: u64, item: &Item<'_>) -> Result<()> {
        // Hashes are as good as chance, and the smallest are the same ones in whatever order items come.
        self.trials.insert(hash, item.name.to_owned());
        if self.trials.len() > TRIALS {
            self.trials.pop_last();
        }
        let mut text = String::new();
        item_texts::embeddable(item, &mut text, TEXT_BYTES_MAX);
        self.waiting.push((hash, text));
        if self.waiting.len() < EMBED_ITEMS { Ok(()) } else { self.embed_waiting() }
    }

    /// Notes that there is nothing to embed in this content.
    pub(crate) fn note_silent(&mut self, hash: u64) -> Result<()> {
        self.writer()?.note_silent(hash);
        Ok(())
    }

    fn embed_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<&str> = waiting.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = self.model.embed_all(&texts);
        let writer = self.writer()?;
        for ((hash, _), vector) in waiting.iter().zip(vectors) {
            match vector {
                Some(vector) => writer.push(*hash, &QuantizedVector::of(&vector).to_bytes())?,
                None => writer.note_silent(*hash),
            }
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut RowsWriter> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => {
                let dir = folder_of(&self.dir, self.model);
                std::fs::create_dir_all(&dir).map_err(folder(&dir))?;
                Ok(none.insert(RowsWriter::create(&dir, self.model.dims())?))
            }
        }
    }

    /// Puts the new rows beside the old ones, on the disk.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.embed_waiting()?;
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let names: Vec<&str> = self.trials.values().map(String::as_str).collect();
        let vectors = self.model.embed_all(&names);
        vectors.iter().flatten().for_each(|vector| writer.try_with(QuantizedVector::of(vector)));
        // Joined with others soon, and compared one by one until then.
        writer.finish(&next_name(&folder_of(&self.dir, self.model))?, usize::MAX, None)
    }
}

/// Makes one file of many, or of files whose rows are mostly unwanted. Whether it did: then the vectors are to
/// be found anew.
pub(crate) fn tidy(dir: &Path, model: &Model, vectors: &Vectors) -> Result<bool> {
    let files = &vectors.files;
    let wanted = |file: usize| (0..files[file].len()).filter(|row| vectors.is_wanted(file, *row)).count();
    let wanted: Vec<usize> = (0..files.len()).map(wanted).collect();
    let rows: usize = files.iter().map(Rows::len).sum();
    let old: Vec<usize> = match wanted.iter().sum::<usize>() * 2 < rows {
        true => (0..files.len()).collect(),
        false => outgrown(&files.iter().map(|file| (file.len(), file.has_graph())).collect::<Vec<_>>()),
    };
    if old.is_empty() {
        return Ok(false);
    }
    compact(&folder_of(dir, model), model.dims(), vectors, &old, &wanted)?;
    Ok(true)
}

/// Writes the rows of some files that are wanted into one, then removes those files. A graph of which most is
/// wanted is grown, with all of its rows.
fn compact(dir: &Path, dims: usize, vectors: &Vectors, old: &[usize], wanted: &[usize]) -> Result<()> {
    let files = &vectors.files;
    let largest = old.iter().copied().filter(|at| files[*at].has_graph()).max_by_key(|at| files[*at].len());
    let grown = largest.filter(|at| wanted[*at] * KEPT >= files[*at].len() * (KEPT - 1));
    let mut writer = RowsWriter::create(dir, dims)?;
    let others = old.iter().copied().filter(|at| Some(*at) != grown);
    // The grown file comes first and keeps its unwanted rows: its links name rows by their numbers.
    for at in grown.into_iter().chain(others) {
        let file = &files[at];
        file.trials().for_each(|trial| writer.try_with(trial.into()));
        file.silent().for_each(|hash| writer.note_silent(hash));
        for (row, hash) in file.hashes().enumerate() {
            if Some(at) == grown || vectors.is_wanted(at, row) {
                writer.push(hash, file.bytes(row))?;
            }
        }
    }
    writer.finish(&next_name(dir)?, COMPARED_ROWS_MAX + 1, grown.map(|at| &files[at]))?;
    // Only now, with the new file under its name: a crash before this leaves rows twice, which does no harm. A file
    // that cannot be removed is removed by a later run.
    old.iter().for_each(|at| drop(std::fs::remove_file(dir.join(&files[*at].name))));
    Ok(())
}

/// Which files are to become one, each given by its rows and whether they are joined: when there are too many
/// files, or too many rows that are not. The largest stays as it is while the others are few beside it, since
/// writing it anew takes long, and one that is full stays for ever.
fn outgrown(files: &[(usize, bool)]) -> Vec<usize> {
    let open: Vec<usize> = (0..files.len()).filter(|at| !(files[*at].1 && files[*at].0 >= GRAPH_ROWS_MAX)).collect();
    let loose: usize = files.iter().filter(|(_, has_graph)| !has_graph).map(|(rows, _)| rows).sum();
    if open.len() <= VECTOR_FILES_MAX && loose <= COMPARED_ROWS_MAX {
        return Vec::new();
    }
    let largest = open.iter().copied().max_by_key(|at| files[*at].0).unwrap_or_default();
    let others: usize = open.iter().map(|at| files[*at].0).sum::<usize>() - files[largest].0;
    let stays = |at: usize| at == largest && files[at].1 && others * GROWN < files[largest].0;
    open.into_iter().filter(|at| !stays(*at)).collect()
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
    fn rows_that_are_not_joined_are_few() {
        let half = COMPARED_ROWS_MAX / 2;
        assert!(outgrown(&[(half, false), (half, false)]).is_empty());
        assert_eq!(outgrown(&[(half, false), (half + 1, false)]), [0, 1]);
        assert_eq!(outgrown(&[(2 * half + 1, false)]), [0]);
        assert_eq!(outgrown(&[(GRAPH_ROWS_MAX - 1, true), (half, false), (half + 1, false)]), [1, 2]);
    }

    #[test]
    fn the_largest_file_is_written_anew_when_the_others_have_grown() {
        let mut files = vec![(1_000, false); VECTOR_FILES_MAX];
        files.insert(3, (GROWN * 1_000 * VECTOR_FILES_MAX + 1, true));
        assert!(!outgrown(&files).contains(&3));
        assert_eq!(outgrown(&files).len(), VECTOR_FILES_MAX);
        files[3].0 -= 1;
        assert_eq!(outgrown(&files).len(), VECTOR_FILES_MAX + 1);
    }

    #[test]
    fn a_graph_grows_to_its_bound() {
        let files =
            |largest: usize| [(largest, true), (COMPARED_ROWS_MAX, false), (GRAPH_ROWS_MAX / GROWN, true), (1, false)];
        assert_eq!(outgrown(&files(GRAPH_ROWS_MAX - 1)), [0, 1, 2, 3]);
        assert_eq!(outgrown(&files(GRAPH_ROWS_MAX)), [1, 3], "a full one is let alone, and the next is the largest");
    }
}
