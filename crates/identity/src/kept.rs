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

/// Up to so many files are made durable side by side, each by itself. For more of them all of their file system is: that
/// waits for whatever else was written there, and for the disk once.
const EACH_MAX: usize = 16;

/// Writes a file that must not exist yet; when it appeared meanwhile, that one stays.
pub(crate) fn create(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), KeptError> {
    put(&durable_draft(path, text, entropy)?, path)?;
    settle(path)
}

/// Writes files of one folder as [`create`] does each, with the disk waited for once for all that is in them and once
/// for their names. Which of them are ours now: not those that were there before, nor those that failed.
pub(crate) fn create_all(files: &[(PathBuf, String)], entropy: &dyn Entropy) -> Result<Vec<bool>, KeptError> {
    let Some((last, _)) = files.last() else { return Ok(Vec::new()) };
    let drafts: Vec<_> = files.iter().map(|(path, text)| write_draft(path, text, entropy).ok()).collect();
    let are_durable = sync_all(&drafts);
    let ours = files.iter().zip(drafts).zip(are_durable).map(|(((path, _), draft), is_durable)| {
        let Some(draft) = draft else { return false };
        if !is_durable {
            // What failed is reported by whoever makes it alone.
            let _ = fs::remove_file(&draft);
        }
        is_durable && put(&draft, path).unwrap_or(false)
    });
    let ours = ours.collect();
    settle(last)?;
    Ok(ours)
}

/// Makes drafts of one folder durable. Which of them are; none where there is no draft.
fn sync_all(drafts: &[Option<PathBuf>]) -> Vec<bool> {
    let folder = drafts.iter().flatten().next().and_then(|draft| draft.parent());
    if drafts.len() > EACH_MAX && folder.is_some_and(sync_file_system) {
        return drafts.iter().map(Option::is_some).collect();
    }
    let sync = |draft: &Option<PathBuf>| {
        draft.as_ref().is_some_and(|draft| fs::File::open(draft).and_then(|file| file.sync_all()).is_ok())
    };
    // Side by side, the disk takes many of them with one write of its journal.
    std::thread::scope(|scope| {
        let parts = drafts.chunks(drafts.len().div_ceil(EACH_MAX).max(1));
        let parts = parts.map(|part| (part.len(), scope.spawn(move || part.iter().map(sync).collect::<Vec<_>>())));
        let parts: Vec<_> = parts.collect();
        // A thread that panicked has synced nothing that counts.
        parts.into_iter().flat_map(|(len, part)| part.join().unwrap_or_else(|_| vec![false; len])).collect()
    })
}

/// Makes everything durable that was written on the file system of a folder; `false` where that can't be done, or is not
/// known here.
fn sync_file_system(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return fs::File::open(folder).is_ok_and(|folder| nix::unistd::syncfs(folder).is_ok());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// Gives a written draft its name; `false` when another file had it first, which stays.
fn put(draft: &Path, path: &Path) -> Result<bool, KeptError> {
    // A link fails where the name exists, while a rename would replace it: of two processes the first one's file stays.
    let linked = fs::hard_link(draft, path);
    let removed = fs::remove_file(draft);
    let is_ours = match linked {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(KeptError { path: path.to_owned(), error }),
    };
    removed.map_err(|error| KeptError { path: draft.to_owned(), error })?;
    Ok(is_ours)
}

/// Replaces a file in one step.
pub(crate) fn replace(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), KeptError> {
    let draft = durable_draft(path, text, entropy)?;
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
fn durable_draft(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<PathBuf, KeptError> {
    let draft = write_draft(path, text, entropy)?;
    match fs::File::open(&draft).and_then(|file| file.sync_all()) {
        Ok(()) => Ok(draft),
        Err(error) => Err(KeptError { path: draft, error }),
    }
}

/// Writes a file beside `path` that only its owner can read, and that is not durable yet.
fn write_draft(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<PathBuf, KeptError> {
    let draft = path.with_extension(format!("{}.tmp", &forecourt_core::ids::mint(entropy)[..16]));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(draft),
        Err(error) => Err(KeptError { path: draft, error }),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;

    use super::*;

    #[test]
    fn few_files_and_many_are_made_whole_and_those_that_were_there_stay() {
        for count in [1, EACH_MAX, EACH_MAX + 1, 3 * EACH_MAX] {
            let folder = tempfile::tempdir().unwrap();
            let files: Vec<_> = (0..count).map(|n| (folder.path().join(format!("{n}.json")), n.to_string())).collect();
            fs::write(&files[0].0, "was there").unwrap();
            let ours = create_all(&files, &CountedEntropy::default()).unwrap();
            assert_eq!(ours, (0..count).map(|n| n > 0).collect::<Vec<_>>());
            let text = |n: usize| fs::read_to_string(&files[n].0).unwrap();
            assert_eq!(text(0), "was there");
            assert!((1..count).all(|n| text(n) == n.to_string()));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), count, "no draft stays");
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = |n: usize| match n {
            7 => folder.path().join("x".repeat(400)),
            n => folder.path().join(n.to_string()),
        };
        let files: Vec<_> = (0..2 * EACH_MAX).map(|n| (path(n), "text".to_owned())).collect();
        let ours = create_all(&files, &CountedEntropy::default()).unwrap();
        assert!(ours.iter().enumerate().all(|(n, is_ours)| *is_ours == (n != 7)), "{ours:?}");
    }

    /// The one call that makes many files durable: where it fails, each would be synced by itself again.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_is_synced_in_one_call() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_file_system(folder.path()));
        assert!(!sync_file_system(&folder.path().join("nowhere")));
    }
}
