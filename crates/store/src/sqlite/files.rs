//! This module makes the database's files private, and reads and makes the key file. A folder that exists already keeps
//! its mode: it is not ours.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, set_permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use forecourt_core::{Entropy, StoreError};

use super::error::corrupt;
use crate::seal::KEY_BYTES;

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

/// Makes the folders on the way (0700) and the database file (0600), or takes away what others may
/// do with the file. SQLite gives its side files the mode of the database.
pub(super) fn prepare(database: &Path) -> Result<(), StoreError> {
    let folder = folder(database);
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder).map_err(|e| away(folder, &e))?;
    let open = || {
        OpenOptions::new().create(true).append(true).mode(PRIVATE_FILE).open(database)?;
        set_permissions(database, Permissions::from_mode(PRIVATE_FILE))
    };
    open().map_err(|e| away(database, &e))
}

/// Where the key of a database is: `store.key` in the same folder.
pub(super) fn key_path(database: &Path) -> PathBuf {
    database.with_file_name("store.key")
}

/// Reads the key, if there is one.
pub(super) fn read_key(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(away(path, &error)),
    };
    set_permissions(path, Permissions::from_mode(PRIVATE_FILE)).map_err(|e| away(path, &e))?;
    let mut bytes = Vec::with_capacity(KEY_BYTES);
    // One byte more than a key has: enough to see that the file is too long, whatever its size.
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|e| away(path, &e))?;
    let key = bytes.try_into().map_err(|_| corrupt(format!("store.key does not have {KEY_BYTES} bytes")))?;
    Ok(Some(key))
}

/// Makes a key and returns once it is durable. Written aside and renamed, so that no power cut
/// leaves half of one.
pub(super) fn create_key(path: &Path, entropy: &dyn Entropy) -> Result<[u8; KEY_BYTES], StoreError> {
    let mut key = [0; KEY_BYTES];
    entropy.fill(&mut key);
    let aside = path.with_extension("key.new");
    let write = || {
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(PRIVATE_FILE).open(&aside)?;
        file.write_all(&key)?;
        file.sync_all()?;
        std::fs::rename(&aside, path)?;
        // The folder too: a rename is durable only with it, and a database whose key is lost opens nothing.
        File::open(folder(path))?.sync_all()
    };
    write().map_err(|e| away(path, &e))?;
    Ok(key)
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn away(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_and_files_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("a/b/forecourt.db");
        prepare(&database).unwrap();
        create_key(&key_path(&database), &CountedEntropy::default()).unwrap();
        assert_eq!(mode(&dir.path().join("a")), 0o700);
        assert_eq!(mode(&dir.path().join("a/b")), 0o700);
        assert_eq!(mode(&database), 0o600);
        assert_eq!(mode(&key_path(&database)), 0o600);
    }

    #[test]
    fn a_file_that_others_could_read_becomes_private() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("forecourt.db");
        std::fs::write(&database, []).unwrap();
        set_permissions(&database, Permissions::from_mode(0o644)).unwrap();
        prepare(&database).unwrap();
        assert_eq!(mode(&database), 0o600);
    }

    #[test]
    fn a_key_reads_back_and_has_its_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.key");
        assert_eq!(read_key(&path).unwrap(), None);
        let key = create_key(&path, &CountedEntropy::default()).unwrap();
        assert_eq!(read_key(&path).unwrap(), Some(key));
        for len in [0, KEY_BYTES - 1, KEY_BYTES + 1] {
            std::fs::write(&path, vec![7; len]).unwrap();
            assert!(matches!(read_key(&path), Err(StoreError::Corrupt(_))), "{len}");
        }
    }
}
