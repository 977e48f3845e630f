//! This module keeps two from having one index open, in this process and in others.
//!
//! Many indexes can share one lock file: a host with a thousand of them would else hold a thousand descriptors
//! for nothing but their locks.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use parking_lot::Mutex;

use crate::error::{Error, Result, folder};

/// The lock files that this process holds. Locks of files belong to the whole process, so what it has open has
/// to be known to all of it.
static HELD: LazyLock<Mutex<HashMap<PathBuf, LockFile>>> = LazyLock::new(Mutex::default);

/// A lock file, open for as long as an index is locked by it. The system lets go of it when the process ends.
struct LockFile {
    _file: File,
    indexes: HashSet<PathBuf>,
}

/// The right to have an index open. Dropping it lets go.
#[derive(Debug)]
pub(super) struct IndexLock {
    file: PathBuf,
    index: PathBuf,
}

impl IndexLock {
    /// Locks the index in `dir` by the file `shared`, or by one of its own. Fails with [`Error::InUse`] when this
    /// process has it open, or another one any index of that file.
    pub(super) fn take(dir: &Path, shared: Option<&Path>) -> Result<Self> {
        // Links and relative paths lead to one folder by many names; the canonical path tells that it is one.
        let index = fs::canonicalize(dir).map_err(folder(dir))?;
        let file = match shared {
            Some(file) => {
                let (parent, name) = (file.parent().unwrap_or(dir), file.file_name().unwrap_or_default());
                fs::canonicalize(parent).map_err(folder(parent))?.join(name)
            }
            None => index.join("lock"),
        };
        // Held over the opening: this process asks the system once for each file, and then keeps the books itself.
        let mut held = HELD.lock();
        if !held.contains_key(&file) {
            held.insert(file.clone(), LockFile { _file: open(&file, dir)?, indexes: HashSet::new() });
        }
        let is_free = held.get_mut(&file).is_some_and(|lock| lock.indexes.insert(index.clone()));
        if is_free { Ok(Self { file, index }) } else { Err(Error::InUse(dir.to_owned())) }
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let mut held = HELD.lock();
        let Some(lock) = held.get_mut(&self.file) else { return };
        lock.indexes.remove(&self.index);
        // Closing the file lets go of the system's lock on it.
        if lock.indexes.is_empty() {
            held.remove(&self.file);
        }
    }
}

fn open(file: &Path, index: &Path) -> Result<File> {
    let lock = File::options().create(true).truncate(false).write(true).open(file).map_err(folder(file))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(index.to_owned())),
        Err(TryLockError::Error(error)) => Err(folder(file)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in_use(result: Result<IndexLock>) -> bool {
        matches!(result, Err(Error::InUse(_)))
    }

    #[test]
    fn one_file_locks_many_indexes_and_each_of_them_once() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join(".lock");
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        for index in [&a, &b] {
            fs::create_dir(index).unwrap();
        }
        let first = IndexLock::take(&a, Some(&shared)).unwrap();
        let second = IndexLock::take(&b, Some(&shared)).unwrap();
        assert!(is_in_use(IndexLock::take(&dir.path().join("b/../a"), Some(&shared))));
        drop(first);
        // What another process would see.
        let other = File::options().write(true).open(&shared).unwrap();
        assert!(other.try_lock().is_err(), "the other index is open");
        IndexLock::take(&a, Some(&shared)).unwrap();
        drop(second);
        other.try_lock().unwrap();
        assert!(is_in_use(IndexLock::take(&a, Some(&shared))));
    }
}
