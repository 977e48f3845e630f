//! Files one after another into an archive, each with its hash in the manifest that ends it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use forecourt_store::copy_database;
use tar::{Builder, Header};

use super::chosen::ChosenFile;
use super::manifest::{KeptFile, Manifest, NAME};
use super::open;
use crate::output::Failure;

/// The mode of every file: what is in a data folder is its owner's alone.
const MODE: u32 = 0o600;

/// An archive that is written.
pub(super) struct Archive<'a, W: Write> {
    tar: Builder<W>,
    manifest: Manifest,
    /// Where databases are copied to first.
    staging: &'a Path,
}

impl<'a, W: Write> Archive<'a, W> {
    pub(super) fn new(out: W, manifest: Manifest, staging: &'a Path) -> Self {
        Self { tar: Builder::new(out), manifest, staging }
    }

    /// Adds a file as it stands now. Of one that grows meanwhile, what it had is kept.
    pub(super) fn add(&mut self, chosen: &ChosenFile) -> Result<(), Failure> {
        // A database that is written to meanwhile would be torn if its file were read from one end to the other.
        let copy = chosen.is_database.then(|| self.copied(&chosen.from)).transpose()?;
        let from = copy.as_deref().unwrap_or(&chosen.from);
        let file = open(from)?;
        let wrong = |error: io::Error| Failure::yours(format!("{}: {error}", chosen.from.display()));
        let bytes = file.metadata().map_err(wrong)?.len();
        // The header of a tar entry names the length before the bytes: a log that grows must not write more.
        let mut hashed = HashingReader { file: file.take(bytes), hash: Context::new(&SHA256), read: 0 };
        self.tar.append_data(&mut header(bytes), &chosen.path, &mut hashed).map_err(wrong)?;
        if hashed.read != bytes {
            return Err(
                Failure::yours(format!("{} was cut short while it was read", chosen.from.display())).hint("try again")
            );
        }
        let sha256 = hashed.hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        self.manifest.files.push(KeptFile { path: chosen.path.clone(), bytes, sha256 });
        copy.map_or(Ok(()), |copy| fs::remove_file(copy).map_err(wrong))
    }

    /// A copy of a database as it stands at one moment.
    fn copied(&self, database: &Path) -> Result<PathBuf, Failure> {
        let copy = self.staging.join("copy.db");
        let wrong = |error| Failure::yours(format!("{}: {error}", database.display()));
        copy_database(database, &copy).map_err(wrong)?;
        Ok(copy)
    }

    /// Ends the archive with its manifest.
    pub(super) fn finish(mut self) -> Result<(W, Manifest), Failure> {
        let text = serde_json::to_vec_pretty(&self.manifest).map_err(|error| Failure::ours(error.to_string()))?;
        self.tar.append_data(&mut header(text.len() as u64), NAME, text.as_slice())?;
        Ok((self.tar.into_inner()?, self.manifest))
    }
}

fn header(bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(MODE);
    header
}

/// A file whose bytes are hashed as they are read.
struct HashingReader {
    file: io::Take<File>,
    hash: Context,
    read: u64,
}

impl Read for HashingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.hash.update(&into[..read]);
        self.read += read as u64;
        Ok(read)
    }
}
