//! Which files of a deployment hold settings, and their text.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::Problem;

/// Bytes of one settings file.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// The settings files of a folder by name: `*.toml`, none that is hidden, none of its folders. Empty
/// where there is no folder.
///
/// # Errors
/// The folder can't be read, or has more than `files_max` of them.
pub fn files_in(folder: &Path, files_max: usize) -> Result<Vec<PathBuf>, Problem> {
    let wrong = |message: String| Problem::of_file(folder, message);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_settings(path));
    // One more than is allowed shows that there are too many, without reading a huge folder to its end.
    let mut files: Vec<PathBuf> = paths.take(files_max.saturating_add(1)).collect();
    files.sort();
    if files.len() > files_max { Err(wrong(format!("has more than {files_max} files"))) } else { Ok(files) }
}

fn is_settings(path: &Path) -> bool {
    let is_hidden = path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'));
    !is_hidden && path.extension().is_some_and(|extension| extension == "toml") && !path.is_dir()
}

/// The text of a settings file.
///
/// # Errors
/// It can't be read, has more than [`FILE_BYTES_MAX`] bytes, or is not UTF-8.
pub fn text_of(file: &Path) -> Result<String, Problem> {
    let bytes = bytes_of(file, FILE_BYTES_MAX).map_err(|why| Problem::of_file(file, why))?;
    String::from_utf8(bytes).map_err(|_| Problem::of_file(file, "is not UTF-8 text"))
}

/// The bytes of a file that the settings name.
///
/// # Errors
/// A sentence: it is no file, can't be read, or has more than `bytes_max` bytes.
pub fn bytes_of(file: &Path, bytes_max: usize) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "is not there".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    // Opening what is no plain file could wait for ever.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err("is no file".to_owned());
    }
    let mut bytes = Vec::new();
    // Read up to the bound rather than trusting the length: a file may grow, and some have none.
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    File::open(file).map_err(unreadable)?.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > bytes_max { Err(format!("is larger than {bytes_max} bytes")) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_not_opened() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(bytes_of(here, 10).unwrap_err(), "is no file");
        assert_eq!(bytes_of(&here.join("none"), 10).unwrap_err(), "is not there");
        assert_eq!(text_of(&here.join("none")).unwrap_err().message(), "is not there");
    }

    #[test]
    fn a_file_has_a_bound() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let length = std::fs::metadata(&file).unwrap().len() as usize;
        assert_eq!(bytes_of(&file, length).unwrap().len(), length);
        assert!(bytes_of(&file, length - 1).unwrap_err().contains("is larger than"));
    }

    #[test]
    fn a_folder_has_a_bound_and_may_be_missing() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(files_in(here, 1).unwrap(), [here.join("Cargo.toml")]);
        assert_eq!(files_in(here, 0).unwrap_err().message(), "has more than 0 files");
        assert_eq!(files_in(&here.join("none"), 0).unwrap(), Vec::<PathBuf>::new());
        assert!(files_in(&here.join("Cargo.toml"), 1).is_err(), "it is no folder");
    }
}
