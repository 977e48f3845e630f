//! The index folder: locked by one process, opened, checked, and built anew when it has to be.

use std::fs;
use std::path::{Path, PathBuf};

use arc_swap::ArcSwap;
use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher};

use super::commit::Summary;
use super::files::{self, State};
use super::lock::IndexLock;
use super::schema::{schema, tokenizers};
use crate::error::{Result, folder};
use crate::limits::WRITER_BYTES;

/// Bytes of stored items that are compressed together: to read one, all of them are unpacked.
const STORE_BLOCK_BYTES: usize = 4 * 1024;
/// Unpacked blocks kept per segment.
const STORE_BLOCKS_CACHED: usize = 32;

/// An open index folder. Dropping it lets go of the lock, as does a crash.
pub(crate) struct Folder {
    opened: ArcSwap<OpenIndex>,
    path: PathBuf,
    _lock: IndexLock,
}

/// The index in the folder. Another one takes its place when it is built anew.
struct OpenIndex {
    index: Index,
    reader: IndexReader,
}

impl OpenIndex {
    fn new(mut index: Index) -> Result<Self> {
        index.set_tokenizers(tokenizers());
        // Reloaded by hand: a snapshot takes the searcher, the columns and the vectors of one commit together.
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_BLOCKS_CACHED)
            .try_into()?;
        Ok(Self { index, reader })
    }
}

impl Folder {
    /// Opens the folder, locked by the file `lock` or by one of its own, which is created when missing, and compares
    /// every file with its checksum. An index of another version, or one that is damaged, is replaced by an empty one:
    /// everything in it comes from the sources and from what was pushed. What a crash left behind is removed. Fails
    /// with [`crate::Error::InUse`] while the index is open elsewhere.
    pub(crate) fn open(path: &Path, lock: Option<&Path>) -> Result<Self> {
        fs::create_dir_all(path).map_err(folder(path))?;
        let lock = IndexLock::take(path, lock)?;
        let words = path.join("words");
        let index = match files::state(&words)? {
            State::Whole(index) => index,
            State::Missing => create(&words)?,
            State::OtherVersion => {
                tracing::info!(index = %path.display(), "the search index is of another version; it will be rebuilt");
                create(&words)?
            }
            State::Damaged(what) => {
                tracing::error!(
                    index = %path.display(),
                    "the search index is damaged ({what}); it is built again from the content and from what was pushed"
                );
                create(&words)?
            }
        };
        let opened = ArcSwap::from_pointee(OpenIndex::new(index)?);
        Ok(Self { opened, path: path.to_owned(), _lock: lock })
    }

    /// Begins to write. What a run that failed or was killed left behind is removed before: a file of its
    /// name would be in the way of the next one.
    pub(crate) fn writer(&self) -> Result<IndexWriter> {
        let opened = self.opened.load();
        files::sweep(&self.words(), &opened.index)?;
        Ok(opened.index.writer_with_num_threads(1, WRITER_BYTES)?)
    }

    /// The last commit.
    pub(crate) fn searcher(&self) -> Result<Searcher> {
        let opened = self.opened.load();
        opened.reader.reload()?;
        Ok(opened.reader.searcher())
    }

    /// What is damaged, if anything is. Reads every file.
    pub(crate) fn damage(&self) -> Result<Option<String>> {
        Ok(match files::state(&self.words())? {
            State::Whole(_) => None,
            State::Missing => Some("its files are gone".to_owned()),
            State::OtherVersion => Some("it is of another version".to_owned()),
            State::Damaged(what) => Some(what),
        })
    }

    /// Puts an empty index in the place of the one that is there. Who looks at the old one still sees it.
    pub(crate) fn build_anew(&self) -> Result<()> {
        self.opened.store(OpenIndex::new(create(&self.words())?)?.into());
        Ok(())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where vectors lie.
    pub(crate) fn vectors(&self) -> PathBuf {
        self.path.join("vectors")
    }

    /// The summary that the last finished run wrote with its commit; empty before the first.
    pub(crate) fn summary(&self) -> Result<Summary> {
        let payload = self.opened.load().index.load_metas()?.payload;
        Ok(payload.and_then(|payload| serde_json::from_str(&payload).ok()).unwrap_or_default())
    }

    fn words(&self) -> PathBuf {
        self.path.join("words")
    }
}

fn create(path: &Path) -> Result<Index> {
    // The folder of vectors beside it stays: rows are named by content and fit the index that is built next.
    if path.exists() {
        fs::remove_dir_all(path).map_err(folder(path))?;
    }
    fs::create_dir_all(path).map_err(folder(path))?;
    let directory = MmapDirectory::open(path).map_err(tantivy::TantivyError::from)?;
    let settings = IndexSettings { docstore_blocksize: STORE_BLOCK_BYTES, ..IndexSettings::default() };
    Ok(Index::create(directory, schema().0, settings)?)
}
