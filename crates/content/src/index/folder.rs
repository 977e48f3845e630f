//! The index folder: locked by one process, opened or built anew.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

use super::schema::{Fields, register_tokenizers, schema};
use super::snapshot::Summary;
use crate::error::{Error, Result, folder};

/// Bytes of stored items that are compressed together: to read one, all of them are unpacked.
const STORE_BLOCK_BYTES: usize = 4 * 1024;
/// Unpacked blocks kept per segment.
const STORE_BLOCKS_CACHED: usize = 32;

/// An open index folder. Dropping it lets go of the lock, as does a crash.
pub(crate) struct Folder {
    pub(crate) index: Index,
    pub(crate) reader: IndexReader,
    pub(crate) fields: Fields,
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens the folder, which is created when missing. An index of another version, or one that
    /// cannot be read, is replaced by an empty one: everything in it comes from the sources.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(folder(path))?;
        let lock = lock(path)?;
        let words = path.join("words");
        let index = match existing(&words) {
            Some(index) => index,
            None => create(&words)?,
        };
        register_tokenizers(&index);
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_BLOCKS_CACHED)
            .try_into()?;
        Ok(Self { index, reader, fields: schema().1, path: path.to_owned(), _lock: lock })
    }

    /// Where vectors lie.
    pub(crate) fn vectors(&self) -> PathBuf {
        self.path.join("vectors")
    }

    /// What the last finished run wrote down about the index.
    pub(crate) fn summary(&self) -> Result<Summary> {
        let payload = self.index.load_metas()?.payload;
        Ok(payload.and_then(|payload| serde_json::from_str(&payload).ok()).unwrap_or_default())
    }
}

/// Taken for as long as the folder is open; the system lets go of it when the process ends.
fn lock(path: &Path) -> Result<File> {
    let file = path.join("lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&file).map_err(folder(&file))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(folder(&file)(error)),
    }
}

/// The index in a folder, if it is one of ours and of this version.
fn existing(path: &Path) -> Option<Index> {
    let index = Index::open(MmapDirectory::open(path).ok()?).ok()?;
    let payload = index.load_metas().ok()?.payload;
    let is_current = payload.is_none_or(|payload| Summary::is_current(&payload));
    let opens = || index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().is_ok();
    (index.schema() == schema().0 && is_current && opens()).then_some(index)
}

fn create(path: &Path) -> Result<Index> {
    if path.exists() {
        tracing::info!("the search index is of another version; it will be built anew");
        fs::remove_dir_all(path).map_err(folder(path))?;
    }
    fs::create_dir_all(path).map_err(folder(path))?;
    let directory = MmapDirectory::open(path).map_err(tantivy::TantivyError::from)?;
    let settings = IndexSettings { docstore_blocksize: STORE_BLOCK_BYTES, ..IndexSettings::default() };
    Ok(Index::create(directory, schema().0, settings)?)
}
