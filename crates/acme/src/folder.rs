//! A folder of one node: a file for each thing, which nobody but its owner can read.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::storage::{AcmeStorage, StorageError, StorageFuture};

/// The file that says who has what until when.
const CLAIMS: &str = "claims";

/// A folder of one node.
#[derive(Debug)]
pub struct Folder {
    folder: PathBuf,
    /// One change after another.
    changing: Mutex<()>,
}

impl Folder {
    /// Makes the folder if it is not there.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StorageError> {
        let folder = folder.into();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| wrong(&folder, &error))?;
        Ok(Self { folder, changing: Mutex::default() })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// What is kept: a value, and until when.
    fn read(&self, name: &str, now: Timestamp) -> Result<Option<Value>, StorageError> {
        let file = self.file(name);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(&file, &error)),
        };
        let damaged = |_| StorageError(format!("{}: is not what was written there", file.display()));
        let mut kept: Value = serde_json::from_slice(&bytes).map_err(damaged)?;
        let until: Option<Timestamp> = serde_json::from_value(kept["until"].take()).unwrap_or_default();
        Ok(until.is_none_or(|until| until > now).then(|| kept["value"].take()))
    }

    fn write(&self, name: &str, value: &Value, until: Option<Timestamp>) -> Result<(), StorageError> {
        let file = self.file(name);
        let written = match value {
            Value::Null => remove(&file),
            value => replace(&file, &json!({ "value": value, "until": until }).to_string()),
        };
        written.map_err(|error| wrong(&file, &error))
    }

    fn take(&self, name: &str, now: Timestamp, until: Timestamp) -> Result<bool, StorageError> {
        // Read and written under one lock, or two callers could both find a claim free.
        let _one_at_a_time = self.changing.lock();
        let claims = self.read(CLAIMS, now)?.unwrap_or_default();
        let mut claims: BTreeMap<String, Timestamp> = serde_json::from_value(claims).unwrap_or_default();
        claims.retain(|_, until| *until > now);
        if claims.contains_key(name) {
            return Ok(false);
        }
        claims.insert(name.to_owned(), until);
        self.write(CLAIMS, &json!(claims), None).map(|()| true)
    }
}

// Files of a few kilobytes, some a month: they need no thread of their own.
impl AcmeStorage for Folder {
    fn load<'a>(&'a self, name: &'a str, now: Timestamp) -> StorageFuture<'a, Option<Value>> {
        Box::pin(async move { self.read(name, now) })
    }

    fn save<'a>(
        &'a self,
        name: &'a str,
        value: Value,
        _: Timestamp,
        until: Option<Timestamp>,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move { self.write(name, &value, until) })
    }

    fn claim<'a>(&'a self, name: &'a str, now: Timestamp, until: Timestamp) -> StorageFuture<'a, bool> {
        Box::pin(async move { self.take(name, now, until) })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// In one step, so that a crash leaves the old one or the new one.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let unfinished = file.with_extension("unfinished");
    remove(&unfinished)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written = options.open(&unfinished)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(&unfinished, file)
}

fn wrong(path: &Path, error: &io::Error) -> StorageError {
    StorageError(format!("{}: {error}", path.display()))
}
