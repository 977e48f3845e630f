//! Which file of a model's folder is which.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::limits::FILE_BYTES_MAX;

/// The files of a folder, in the order of their names.
pub(crate) struct Folder {
    path: PathBuf,
    files: Vec<PathBuf>,
}

impl Folder {
    pub(crate) fn list(path: &Path) -> Result<Self> {
        let entries = fs::read_dir(path).map_err(|error| Error::new(path, error))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        // The order of a folder differs between file systems; which file is meant must not.
        files.sort();
        Ok(Self { path: path.to_owned(), files })
    }

    /// `tokenizer.json`, or the only other tokenizer.
    pub(crate) fn tokenizer(&self) -> Result<&Path> {
        let is_one =
            |name: &str| name.ends_with(".json") && name.contains("tokenizer") && name != "tokenizer_config.json";
        self.the_one("tokenizer.json", is_one)
    }

    /// `model.safetensors`, or the only other file of weights.
    pub(crate) fn weights(&self) -> Result<&Path> {
        self.the_one("model.safetensors", |name| name.ends_with(".safetensors"))
    }

    /// The settings in a JSON file, those of a missing one being the default.
    pub(crate) fn settings<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        let file = self.path.join(name);
        match file.exists() {
            true => serde_json::from_slice(&read(&file)?).map_err(|error| Error::new(&file, error)),
            false => Ok(T::default()),
        }
    }

    /// What is wrong with the folder as a whole.
    pub(crate) fn unusable(&self, reason: impl ToString) -> Error {
        Error::new(&self.path, reason)
    }

    /// The file of the usual name, else the only one of its kind.
    fn the_one(&self, usual: &str, kind: impl Fn(&str) -> bool) -> Result<&Path> {
        let named = |file: &&PathBuf, wanted: &dyn Fn(&str) -> bool| {
            file.file_name().and_then(|name| name.to_str()).is_some_and(wanted)
        };
        if let Some(file) = self.files.iter().find(|file| named(file, &|name| name == usual)) {
            return Ok(file);
        }
        let all: Vec<&PathBuf> = self.files.iter().filter(|file| named(file, &kind)).collect();
        match all.as_slice() {
            [file] => Ok(file),
            [] => Err(Error::new(&self.path, format!("there is no {usual}"))),
            _ => Err(Error::new(&self.path, format!("there are several files for {usual}; name one of them so"))),
        }
    }
}

/// A whole file, of at most [`FILE_BYTES_MAX`].
pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    let unreadable = |error| Error::new(file, error);
    match fs::metadata(file).map_err(unreadable)?.len() {
        0..=FILE_BYTES_MAX => fs::read(file).map_err(unreadable),
        _ => Err(Error::new(file, format!("more than {FILE_BYTES_MAX} bytes"))),
    }
}
