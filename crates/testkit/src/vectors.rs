//! Public test data: read where it lies. A test that finds none of it fails, unless whoever runs it said that there
//! is none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `AGENT_VECTORS` says where there are no vectors and their tests are to be skipped.
const NONE: &str = "none";

/// The bytes of one vector file, as `set/file`. `None`, and a line that says what is skipped, where `AGENT_VECTORS`
/// is `none`.
///
/// # Panics
///
/// When the file can't be read: a test without its cases would hold nothing.
#[track_caller]
pub fn vectors(path: &str) -> Option<Vec<u8>> {
    read(folder(), path)
}

/// The files of a folder of vectors, by name; folders in it are left out. `None`, and a line that says what is
/// skipped, where `AGENT_VECTORS` is `none`.
///
/// # Panics
///
/// When the folder is missing or has no files.
#[track_caller]
pub fn vector_files(path: &str) -> Option<Vec<PathBuf>> {
    list(folder(), path)
}

/// A file or a folder of the test data: under `FORECOURT_DATA`, else in the nearest `shared/data` beside the
/// workspace or beside a folder that it lies in. `None`, and a line that says so, when it is missing.
pub fn data(path: &str) -> Option<PathBuf> {
    let set = std::env::var_os("FORECOURT_DATA").filter(|dir| !dir.is_empty());
    let dir = set.map_or_else(|| nearest(Path::new(env!("CARGO_MANIFEST_DIR")), "shared/data"), PathBuf::from);
    let file = dir.join(path);
    if !file.exists() {
        eprintln!("skipped: no data at {}", file.display());
        return None;
    }
    Some(file)
}

/// Where vectors are to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Folder {
    /// Whoever runs the tests has none, and said so.
    Nowhere,
    At(PathBuf),
}

fn folder() -> Folder {
    folder_of(std::env::var_os("AGENT_VECTORS"), Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// The folder that a variable names, else the nearest `shared/vectors`.
fn folder_of(variable: Option<OsString>, start: &Path) -> Folder {
    match variable.filter(|dir| !dir.is_empty()) {
        Some(dir) if dir == NONE => Folder::Nowhere,
        Some(dir) => Folder::At(PathBuf::from(dir)),
        None => Folder::At(nearest(start, "shared/vectors")),
    }
}

#[track_caller]
fn read(folder: Folder, path: &str) -> Option<Vec<u8>> {
    let file = located(folder, path)?;
    match std::fs::read(&file) {
        Ok(bytes) => Some(bytes),
        Err(error) => panic!("{}", missing(&file, &error.to_string())),
    }
}

#[track_caller]
fn list(folder: Folder, path: &str) -> Option<Vec<PathBuf>> {
    let folder = located(folder, path)?;
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => panic!("{}", missing(&folder, &error.to_string())),
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|file| file.is_file()).collect();
    assert!(!files.is_empty(), "{}", missing(&folder, "no files"));
    // `read_dir` has no order, and failures should name the same file in every run.
    files.sort();
    Some(files)
}

fn located(folder: Folder, path: &str) -> Option<PathBuf> {
    match folder {
        Folder::Nowhere => {
            eprintln!("skipped: AGENT_VECTORS is none, so there is no {path}");
            None
        }
        Folder::At(dir) => Some(dir.join(path)),
    }
}

fn missing(path: &Path, why: &str) -> String {
    format!(
        "no vectors at {} ({why}): name their folder in AGENT_VECTORS, or skip their tests with AGENT_VECTORS=none",
        path.display()
    )
}

/// The nearest folder of this name beside `start` or beside a folder that it lies in. Need not exist.
fn nearest(start: &Path, name: &str) -> PathBuf {
    let beside = |folder: &Path| folder.join(name);
    start.ancestors().map(beside).find(|dir| dir.is_dir()).unwrap_or_else(|| beside(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(folder: &tempfile::TempDir) -> Folder {
        Folder::At(folder.path().to_owned())
    }

    #[test]
    fn none_skips_and_says_so() {
        let nowhere = folder_of(Some(NONE.into()), Path::new("/"));
        assert_eq!((read(nowhere.clone(), "a/b.json"), list(nowhere, "a")), (None, None));
    }

    #[test]
    #[should_panic = "AGENT_VECTORS=none"]
    fn a_file_that_is_missing_fails() {
        read(at(&tempfile::tempdir().unwrap()), "no/such/set.json");
    }

    #[test]
    #[should_panic = "AGENT_VECTORS=none"]
    fn a_folder_that_is_missing_fails() {
        list(at(&tempfile::tempdir().unwrap()), "no/such/set");
    }

    #[test]
    #[should_panic = "no files"]
    fn a_folder_without_files_fails() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("set/deeper")).unwrap();
        list(at(&folder), "set");
    }

    #[test]
    fn files_come_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        assert_eq!(list(at(&folder), "").unwrap(), ["a", "b"].map(|name| folder.path().join(name)));
        assert_eq!(read(at(&folder), "a").unwrap(), b"a");
    }

    #[test]
    fn the_nearest_folder_above_is_taken_and_a_variable_goes_before() {
        let root = tempfile::tempdir().unwrap();
        let crate_dir = root.path().join("project/crates/one");
        let vectors = root.path().join("shared/vectors");
        for dir in [&crate_dir, &vectors] {
            std::fs::create_dir_all(dir).unwrap();
        }
        assert_eq!(folder_of(None, &crate_dir), Folder::At(vectors.clone()));
        assert_eq!(folder_of(Some(OsString::new()), &crate_dir), Folder::At(vectors));
        assert_eq!(folder_of(Some("/elsewhere".into()), &crate_dir), Folder::At("/elsewhere".into()));
    }
}
