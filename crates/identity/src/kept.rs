//! Files of ours that must be whole, or not there, whatever happens while they are written.

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

/// Writes a file that must not exist yet; when it appeared meanwhile, that one stays.
pub(crate) fn create(path: &Path, text: &str, entropy: &dyn Entropy) -> Result<(), KeptError> {
    let draft = write_draft(path, text, entropy)?;
    let linked = fs::hard_link(&draft, path);
    let removed = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(KeptError { path: path.to_owned(), error }),
        _ => removed.map_err(|error| KeptError { path: draft, error }).and_then(|()| settle(path)),
    }
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
