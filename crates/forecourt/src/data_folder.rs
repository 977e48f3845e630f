//! The folder in which a deployment keeps its state: for its owner's eyes only, whatever was there before.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, umask};
use nix::unistd::Uid;

use crate::error::Error;

/// What its owner may do with a file.
const PRIVATE_FILE: u32 = 0o600;
/// What its owner may do with a folder.
const PRIVATE_FOLDER: u32 = 0o700;
/// The bit of folders that all users share, such as `/tmp`.
const SHARED: u32 = 0o1000;

/// Has all that this process, and every program that it starts, makes from here on be its owner's alone.
pub fn keep_private() {
    umask(Mode::from_bits_truncate(0o077));
}

/// Makes the data folder, or takes away what others may do with all that is in it.
///
/// Refuses a folder that is not this program's to close: another user's, one that all users share, and one
/// with a deployment in it.
pub fn make(data: &Path) -> Result<PathBuf, Error> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(data);
    let data = made.and_then(|()| data.canonicalize()).map_err(|error| unusable(data, &error))?;
    let is = data.metadata().map_err(|error| unusable(&data, &error))?;
    if let Some(why) = not_ours(&data, &is) {
        return Err(Error::new(format!("the data folder {} cannot be used: {why}", data.display()))
            .hint("give it a folder of its own with --data DIR"));
    }
    close(&data).map_err(|error| unusable(&data, &error))?;
    Ok(data)
}

/// The data folder as it was when it was opened.
pub(crate) struct Place {
    path: PathBuf,
    /// Its device and number there.
    is: (u64, u64),
}

impl Place {
    /// Remembers which folder is there now.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), is: identity(path)? })
    }

    /// Says so when the folder has gone, or is another one: nothing that is written would last.
    pub(crate) fn is_there(&self) -> Result<(), String> {
        match identity(&self.path) {
            Ok(is) if is == self.is => Ok(()),
            _ => Err(format!("the data folder {} is gone", self.path.display())),
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.metadata().map(|is| (is.dev(), is.ino()))
}

/// Why a folder is not to be closed to everybody else.
fn not_ours(data: &Path, is: &Metadata) -> Option<&'static str> {
    let me = Uid::effective();
    if is.uid() != me.as_raw() && !me.is_root() {
        return Some("it belongs to another user");
    }
    // Closing `/tmp` to everybody else would break the machine.
    if is.mode() & SHARED != 0 {
        return Some("all users of this machine share it");
    }
    data.join("forecourt.toml").exists().then_some("it holds a deployment")
}

/// Closes a folder and all that is in it. Links are left alone: what they lead to is elsewhere. What goes
/// away meanwhile is closed enough.
fn close(folder: &Path) -> io::Result<()> {
    set(folder, PRIVATE_FOLDER)?;
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in present(fs::read_dir(&folder))?.into_iter().flatten() {
            let entry = entry?;
            let Some(kind) = present(entry.file_type())? else { continue };
            if kind.is_dir() {
                set(&entry.path(), PRIVATE_FOLDER)?;
                open.push(entry.path());
            } else if !kind.is_symlink() {
                set(&entry.path(), PRIVATE_FILE)?;
            }
        }
    }
    Ok(())
}

fn set(path: &Path, mode: u32) -> io::Result<()> {
    let Some(is) = present(path.metadata())? else { return Ok(()) };
    if is.permissions().mode() & 0o7777 == mode {
        return Ok(());
    }
    present(fs::set_permissions(path, Permissions::from_mode(mode))).map(drop)
}

/// What is there; `None` for what has gone.
fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn unusable(data: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full: make room on it, or name another folder with --data DIR"
        }
        _ => "name another one with --data DIR",
    };
    Error::new(format!("the data folder {} cannot be used: {error}", data.display())).hint(hint)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn whatever_was_there_becomes_private_and_nothing_beyond_it() {
        let dir = tempfile::tempdir().unwrap();
        let (data, outside) = (dir.path().join("data"), dir.path().join("outside"));
        fs::create_dir_all(data.join("index/chef")).unwrap();
        for file in [data.join("index/chef/x.del"), data.join("host.key"), outside.clone()] {
            fs::write(&file, "x").unwrap();
            set(&file, 0o644).unwrap();
        }
        for folder in [data.clone(), data.join("index"), data.join("index/chef")] {
            set(&folder, 0o755).unwrap();
        }
        symlink(&outside, data.join("link")).unwrap();
        make(&data).unwrap();
        for folder in [data.clone(), data.join("index"), data.join("index/chef")] {
            assert_eq!(mode(&folder), PRIVATE_FOLDER);
        }
        assert_eq!([mode(&data.join("index/chef/x.del")), mode(&data.join("host.key"))], [PRIVATE_FILE; 2]);
        assert_eq!(mode(&outside), 0o644, "what a link leads to is not ours");
    }

    #[test]
    fn a_folder_that_is_not_ours_is_refused_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("forecourt.toml"), "").unwrap();
        set(dir.path(), 0o755).unwrap();
        assert!(make(dir.path()).is_err());
        assert_eq!(mode(dir.path()), 0o755);
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).unwrap();
        set(&shared, 0o1777).unwrap();
        assert!(make(&shared).is_err());
    }
}
