//! A built index in one file, for another node that has to build the same: its words and its vectors, as they lie in
//! their folders.
//!
//! What comes out of such a file is a start and no more: the next run of [`crate::Library::index`] brings it in line
//! with the content of whoever took it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Component, Path};

use super::Library;
use crate::error::{Error, Result, folder};
use crate::index::VERSION;
use crate::limits::{ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX};

/// The folders of an index that are in an archive.
const FOLDERS: [&str; 2] = ["words", "vectors"];
/// How hard it is compressed: what is in it is compressed in part.
const LEVEL: i32 = 1;
/// What stands at the end of the name of a folder that is not whole yet.
const UNFINISHED: &str = "unpacking";

/// The form of an index: one of another form is of no use.
pub const INDEX_VERSION: u32 = VERSION;

impl Library {
    /// Writes the index as it is now. Nothing is added to it meanwhile; questions are answered. Fails with
    /// [`Error::Busy`] while it is being written.
    pub fn pack(&self, out: &mut dyn Write) -> Result<()> {
        // Both locks: merges of words and joins of vectors remove files that are being packed.
        let (Some(_writing), Some(_embedding)) = (self.writing.try_lock(), self.embedding.try_lock()) else {
            return Err(Error::Busy);
        };
        let index = self.path();
        let wrong = |error: std::io::Error| folder(index)(error);
        let mut compressed = zstd::Encoder::new(out, LEVEL).map_err(wrong)?;
        compressed.include_checksum(true).map_err(wrong)?;
        let mut archive = tar::Builder::new(compressed);
        for name in FOLDERS {
            let Ok(entries) = fs::read_dir(index.join(name)) else { continue };
            for entry in entries {
                let entry = entry.map_err(wrong)?;
                if !entry.file_type().map_err(wrong)?.is_file() || is_lock(&entry.file_name().to_string_lossy()) {
                    continue;
                }
                let path = Path::new(name).join(entry.file_name());
                archive.append_path_with_name(entry.path(), path).map_err(wrong)?;
            }
        }
        archive.into_inner().and_then(zstd::Encoder::finish).map(drop).map_err(wrong)
    }
}

/// Puts the index of an archive into the folder `index`, in which there is none. Of an archive that is not whole, or
/// holds anything else, nothing is left.
///
/// # Errors
/// [`Error::InUse`] when there is an index already; what is wrong with the archive, or with the disk.
pub fn unpack(archive: &mut dyn Read, index: &Path) -> Result<()> {
    if FOLDERS.iter().any(|name| index.join(name).exists()) {
        return Err(Error::InUse(index.to_owned()));
    }
    fs::create_dir_all(index).map_err(folder(index))?;
    // Unpacked beside its place and renamed when it is whole: a crash leaves a draft, never half an index.
    let draft = index.join(UNFINISHED);
    if draft.exists() {
        fs::remove_dir_all(&draft).map_err(folder(&draft))?;
    }
    let unpacked = unpack_all(archive, &draft).and_then(|()| {
        FOLDERS.iter().filter(|name| draft.join(name).exists()).try_for_each(|name| {
            let to = index.join(name);
            fs::rename(draft.join(name), &to).map_err(folder(&to))
        })
    });
    let removed = fs::remove_dir_all(&draft).map_err(folder(&draft));
    unpacked.and(removed)
}

fn unpack_all(archive: &mut dyn Read, draft: &Path) -> Result<()> {
    let wrong = |error: std::io::Error| Error::Unreadable(format!("the archive can't be read: {error}"));
    let foreign = || Error::Unreadable("the archive is of no index".to_owned());
    for name in FOLDERS {
        let path = draft.join(name);
        fs::create_dir_all(&path).map_err(folder(&path))?;
    }
    let mut archive = tar::Archive::new(zstd::Decoder::new(archive).map_err(wrong)?);
    let (mut files, mut bytes) = (0, 0);
    for entry in archive.entries().map_err(wrong)? {
        let mut entry = entry.map_err(wrong)?;
        let path = entry.path().map_err(wrong)?.into_owned();
        (files, bytes) = (files + 1, bytes + entry.header().size().map_err(wrong)?);
        // No links, no `..`, no deeper folders: an archive from another node writes into these two folders alone.
        if !entry.header().entry_type().is_file() || !is_of_index(&path) {
            return Err(foreign());
        }
        if files > ARCHIVE_FILES_MAX || bytes > ARCHIVE_BYTES_MAX {
            return Err(Error::Unreadable(format!(
                "the archive has more than {ARCHIVE_FILES_MAX} files or {ARCHIVE_BYTES_MAX} bytes"
            )));
        }
        let path = draft.join(path);
        // Refuses an archive that has one name twice.
        let mut file = File::create_new(&path).map_err(folder(&path))?;
        std::io::copy(&mut entry, &mut file).map_err(wrong)?;
    }
    // What stands behind the last file is the end of the stream: its checksum is looked at on the way there.
    std::io::copy(&mut archive.into_inner(), &mut std::io::sink()).map_err(wrong)?;
    match files {
        0 => Err(foreign()),
        _ => Ok(()),
    }
}

/// Whether a path is that of a file right in one of the folders.
fn is_of_index(path: &Path) -> bool {
    let mut parts = path.components();
    let folder = parts.next().and_then(|part| part.as_os_str().to_str());
    let name = matches!(parts.next(), Some(Component::Normal(name)) if !is_lock(&name.to_string_lossy()));
    name && parts.next().is_none() && folder.is_some_and(|folder| FOLDERS.contains(&folder))
}

/// Lock files belong to the process that made them: they are neither packed nor unpacked.
fn is_lock(name: &str) -> bool {
    name.ends_with(".lock")
}
