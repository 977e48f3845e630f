//! The files of an index: whether they are whole, and which of them nobody needs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::OpenReadError;
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyError};

use super::commit::Summary;
use super::schema::schema;
use crate::columns::KEY;
use crate::error::{Result, folder};

/// The file that names all others.
const META: &str = "meta.json";
/// What files begin with while they are written, before they get their names.
const DRAFT: &str = ".tmp";
/// Endings of files that not every index has: of deletions, and of items that are being written.
const OPTIONAL: [&str; 2] = ["del", "temp"];
/// Bytes at the end of a file that say where its checksum is. A shorter file is none.
const FOOTER_BYTES_MIN: u64 = 8;

/// The state of an index folder.
pub(super) enum State {
    /// An index of ours, of this version, every file of which is as it was written.
    Whole(Index),
    /// No index.
    Missing,
    /// One that was made by another version of this program.
    OtherVersion,
    /// One that cannot be used, and why.
    Damaged(String),
}

/// Looks at an index and at every byte of its files. Fails when the system keeps us from looking: an index
/// is not to be thrown away because there were too many open files.
pub(super) fn state(path: &Path) -> Result<State> {
    if !path.join(META).exists() {
        return Ok(State::Missing);
    }
    let directory = MmapDirectory::open(path).map_err(TantivyError::from)?;
    let index = match Index::open(directory) {
        Ok(index) => index,
        Err(error) => return broken(META, error),
    };
    let metas = match index.load_metas() {
        Ok(metas) => metas,
        Err(error) => return broken(META, error),
    };
    // An index that no run has committed to has no payload yet.
    let is_current = metas.payload.is_none_or(|payload| Summary::is_current(&payload));
    if index.schema() != schema().0 || !is_current {
        return Ok(State::OtherVersion);
    }
    for file in living(&index)? {
        if !path.join(&file).exists() {
            // Tantivy lists these for every segment, whether or not it has them. Opening fails below where a needed
            // one is gone.
            match file.extension().is_some_and(|kind| OPTIONAL.iter().any(|optional| kind == *optional)) {
                true => continue,
                false => return Ok(State::Damaged(format!("{}: it is gone", file.display()))),
            }
        }
        match is_whole(path, &index, &file) {
            Ok(true) => {}
            Ok(false) => return Ok(State::Damaged(format!("{}: wrong checksum", file.display()))),
            Err(error) => return broken(&file.display().to_string(), error),
        }
    }
    let opened: tantivy::Result<IndexReader> = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
    match opened.and_then(|reader| counts_agree(&reader)) {
        Ok(true) => Ok(State::Whole(index)),
        Ok(false) => Ok(State::Damaged(format!("{META}: wrong number of items"))),
        Err(error) => broken("a file", error),
    }
}

/// Damage, unless the system itself failed.
fn broken(what: &str, error: TantivyError) -> Result<State> {
    use std::io::ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    let io = match &error {
        TantivyError::IoError(io) => Some(io),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => Some(io_error),
        _ => None,
    };
    match io.map(|io| io.kind()) {
        None | Some(InvalidData | InvalidInput | NotFound | Other | UnexpectedEof) => {
            Ok(State::Damaged(format!("{what}: {error}")))
        }
        Some(_) => Err(error.into()),
    }
}

/// Names of the files that the last commit is made of, and of those of [`OPTIONAL`] that it may have.
fn living(index: &Index) -> Result<HashSet<PathBuf>> {
    Ok(index.load_metas()?.list_segment_files())
}

/// Whether a file has the checksum that was written with it.
fn is_whole(path: &Path, index: &Index, file: &Path) -> tantivy::Result<bool> {
    let length = fs::metadata(path.join(file))?.len();
    Ok(length >= FOOTER_BYTES_MIN && index.directory().validate_checksum(file)?)
}

/// Whether as many items are in the files as the index says: it has no checksum itself.
fn counts_agree(reader: &IndexReader) -> tantivy::Result<bool> {
    for segment in reader.searcher().segment_readers() {
        if segment.fast_fields().u64(KEY)?.num_docs() != segment.max_doc() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what runs left behind that did not get to their end. Only for who holds the lock and writes
/// nothing at the time.
pub(super) fn sweep(path: &Path, index: &Index) -> Result<()> {
    let living = living(index)?;
    for entry in fs::read_dir(path).map_err(folder(path))?.flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        // Tantivy's `.managed.json` and lock begin with a dot, and so do drafts, which may go.
        let is_needed = text == META || (text.starts_with('.') && !text.starts_with(DRAFT));
        if is_needed || living.contains(Path::new(&name)) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        tracing::debug!(file = %text, "removing what an unfinished run of indexing left behind");
        fs::remove_file(entry.path()).map_err(folder(&entry.path()))?;
    }
    Ok(())
}
