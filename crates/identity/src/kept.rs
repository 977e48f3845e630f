//! This module writes files that must be whole or absent, whatever happens while they are written.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forecourt_core::Entropy;

/// A file that can't be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub(crate) struct KeptError {
    /// Which one.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Files that are made durable side by side: the disk takes many of them with one write of its journal.
const AT_ONCE: usize = 16;

/// Writes a file that must not exist yet; when it appeared meanwhile, that one stays.
pub(crate) fn create(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), KeptError> {
    put(write_draft(path, text, entropy)?, path)?;
    settle(path)
}

/// Writes files of one folder as [`create`] does each, with the disk waited for [`AT_ONCE`] times side by side and once
/// for all of their names. Which of them are ours now: not those that were there before, nor those that failed.
pub(crate) fn create_all(files: &[(PathBuf, String)], entropy: &dyn Entropy) -> Result<Vec<bool>, KeptError> {
    let Some((last, _)) = files.last() else { return Ok(Vec::new()) };
    let written = std::thread::scope(|scope| {
        let part = |files: &'_ [(PathBuf, String)]| -> Vec<_> {
            files.iter().map(|(path, text)| write_draft(path, text, entropy)).collect()
        };
        let parts = files.chunks(files.len().div_ceil(AT_ONCE)).map(|files| scope.spawn(move || part(files)));
        let parts: Vec<_> = parts.collect();
        // A thread that panicked has written nothing that counts.
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let ours = files.iter().zip(written).map(|((path, _), draft)| draft.and_then(|draft| put(draft, path)));
    let ours = ours.map(|put| put.unwrap_or(false)).collect();
    settle(last)?;
    Ok(ours)
}

/// Gives a written draft its name; `false` when another file had it first, which stays.
fn put(draft: PathBuf, path: &Path) -> Result<bool, KeptError> {
    // A link fails where the name exists, while a rename would replace it: of two processes the first one's file stays.
    let linked = fs::hard_link(&draft, path);
    let removed = fs::remove_file(&draft);
    let is_ours = match linked {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(KeptError { path: path.to_owned(), error }),
    };
    removed.map_err(|error| KeptError { path: draft, error })?;
    Ok(is_ours)
}

/// Replaces a file in one step.
pub(crate) fn replace(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), KeptError> {
    let draft = write_draft(path, text, entropy)?;
    fs::rename(&draft, path).map_err(|error| KeptError { path: path.to_owned(), error })?;
    settle(path)
}

/// Makes the name of a file durable, as its content is.
fn settle(path: &Path) -> Result<(), KeptError> {
    let synced = match path.parent().filter(|folder| cfg!(unix) && *folder != Path::new("")) {
        Some(folder) => fs::File::open(folder).and_then(|folder| folder.sync_all()),
        None => Ok(()),
    };
    synced.map_err(|error| KeptError { path: path.to_owned(), error })
}

/// Writes a file beside `path` that only its owner can read, and makes it durable.
fn write_draft(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<PathBuf, KeptError> {
    let draft = path.with_extension(format!("{}.tmp", &forecourt_core::ids::mint(entropy)[..16]));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(draft),
        Err(error) => Err(KeptError { path: draft, error }),
    }
}
