//! What was served, kept in the data folder, so that it can be put back.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use forecourt_admin::editor::{EditError, HouseVersion, Texts, changed_files};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ServedHouse;
use super::limits::{VERSIONS_BYTES_MAX, VERSIONS_MAX};

/// The folder of versions in the data folder.
const VERSIONS: &str = "versions";
/// What a file of a version ends in.
const EXTENSION: &str = "json";

/// A version as it is kept. Its file may hold secrets, as the files do that it is of.
#[derive(Serialize, Deserialize)]
struct KeptVersion {
    version: HouseVersion,
    texts: Texts,
}

/// The same without the files, which a list does not need.
#[derive(Deserialize)]
struct VersionHead {
    version: HouseVersion,
}

/// The versions in a data folder.
pub(super) struct Versions {
    folder: PathBuf,
}

impl Versions {
    pub(super) fn of(data: &Path) -> Self {
        Self { folder: data.join(VERSIONS) }
    }

    /// Keeps what is served, unless it is what was kept last. The oldest ones go where there are too many. Blocks.
    pub(super) fn keep(&self, texts: &Texts, served: ServedHouse) -> Result<(), EditError> {
        fs::create_dir_all(&self.folder).map_err(unwritable)?;
        let numbers = self.numbers()?;
        // One that can't be read any more is no reason to keep nothing from then on.
        let last = numbers.last().and_then(|last| self.kept::<KeptVersion>(*last).ok());
        let changed = match &last {
            Some(last) => changed_files(&last.texts, texts),
            None => texts.keys().cloned().collect(),
        };
        if last.is_some() && changed.is_empty() {
            return Ok(());
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let ServedHouse { at, by } = served;
        let version = HouseVersion { number, at, by: by.who, reason: by.reason, changed };
        let kept = KeptVersion { version, texts: texts.clone() };
        let bytes = serde_json::to_vec(&kept).map_err(|error| EditError::Unavailable(error.to_string()))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(unwritable)?;
        file.write_all(&bytes).map_err(unwritable)?;
        file.persist(self.path(number)).map_err(|error| unwritable(error.error))?;
        self.drop_old()
    }

    /// What was served, the last first. Blocks.
    pub(super) fn list(&self) -> Result<Vec<HouseVersion>, EditError> {
        let numbers = self.numbers()?;
        Ok(numbers
            .into_iter()
            .rev()
            .filter_map(|number| Some(self.kept::<VersionHead>(number).ok()?.version))
            .collect())
    }

    /// A version with its files. Blocks.
    pub(super) fn read(&self, number: u64) -> Result<(HouseVersion, Texts), EditError> {
        let KeptVersion { version, texts } = self.kept(number)?;
        Ok((version, texts))
    }

    fn kept<T: DeserializeOwned>(&self, number: u64) -> Result<T, EditError> {
        let bytes = fs::read(self.path(number)).map_err(|_| EditError::NoVersion(number))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| EditError::Unavailable(format!("version {number} can't be read any more: {error}")))
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}.{EXTENSION}"))
    }

    /// The numbers of what is kept, rising.
    fn numbers(&self) -> Result<Vec<u64>, EditError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unwritable(error)),
        };
        let number = |path: PathBuf| {
            let is_version = path.extension().is_some_and(|extension| extension == EXTENSION);
            path.file_stem().filter(|_| is_version)?.to_str()?.parse().ok()
        };
        let mut numbers: Vec<u64> = entries.flatten().filter_map(|entry| number(entry.path())).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Drops the oldest ones while there are too many or they are too large; the last one stays.
    fn drop_old(&self) -> Result<(), EditError> {
        let numbers = self.numbers()?;
        let bytes = |number: &u64| fs::metadata(self.path(*number)).map_or(0, |is| is.len());
        let (mut count, mut all) = (numbers.len(), numbers.iter().map(bytes).sum::<u64>());
        for number in &numbers[..numbers.len().saturating_sub(1)] {
            if count <= VERSIONS_MAX && all <= VERSIONS_BYTES_MAX {
                break;
            }
            (count, all) = (count - 1, all.saturating_sub(bytes(number)));
            fs::remove_file(self.path(*number)).map_err(unwritable)?;
        }
        Ok(())
    }
}

fn unwritable(error: std::io::Error) -> EditError {
    EditError::Unavailable(format!("versions can't be kept in the data folder: {error}"))
}
