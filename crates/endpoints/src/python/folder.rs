//! The folder of a deployment's functions: which modules it has, and whether one was edited.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::limits::{FUNCTION_ENTRIES_MAX, FUNCTION_FILES_MAX, FUNCTION_FOLDERS_DEEP_MAX};

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// The module's file, if the folder has one. Nothing else may be bound to an endpoint.
    pub(super) fn module(&self, dotted: &str) -> Option<PathBuf> {
        let path = self.0.join(dotted.replace('.', "/"));
        [path.with_extension("py"), path.join("__init__.py")].into_iter().find(|file| file.is_file())
    }

    /// How the module's file would be called.
    pub(super) fn shown(&self, dotted: &str) -> String {
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}/{}.py", dotted.replace('.', "/"))
    }

    /// A number that changes when a Python file is added, removed or written. Looks at
    /// [`FUNCTION_FILES_MAX`] of them and [`FUNCTION_ENTRIES_MAX`] others, and no deeper than
    /// [`FUNCTION_FOLDERS_DEEP_MAX`] folders.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut found = FolderScan::default();
        found.collect(&self.0, FUNCTION_FOLDERS_DEEP_MAX);
        // The order of a directory is the file system's, and may change without any file doing so.
        found.files.sort();
        let mut hasher = DefaultHasher::new();
        found.files.hash(&mut hasher);
        hasher.finish()
    }
}

/// A file, when it was written, and its bytes.
type Stamp = (PathBuf, Option<std::time::SystemTime>, u64);

/// What was found so far.
#[derive(Default)]
struct FolderScan {
    files: Vec<Stamp>,
    /// How much else was looked at.
    others: usize,
}

impl FolderScan {
    fn collect(&mut self, folder: &Path, deeper: usize) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.files.len() == FUNCTION_FILES_MAX || self.others == FUNCTION_ENTRIES_MAX {
                return;
            }
            let path = entry.path();
            let is_python = path.extension().is_some_and(|extension| extension == "py");
            self.others += usize::from(!is_python);
            // Only what Python could read is looked at: data lies beside it. A link is followed, as Python
            // would.
            if is_python || is_package(&path) {
                self.take(path, is_python, deeper);
            }
        }
    }

    fn take(&mut self, path: PathBuf, is_python: bool, deeper: usize) {
        let Ok(metadata) = std::fs::metadata(&path) else { return };
        if is_python && metadata.is_file() {
            self.files.push(stamp(path, &metadata));
        } else if !is_python && metadata.is_dir() && deeper > 0 {
            self.collect(&path, deeper - 1);
        }
    }
}

fn stamp(path: PathBuf, metadata: &Metadata) -> Stamp {
    (path, metadata.modified().ok(), metadata.len())
}

/// Whether a folder can be part of a module's name.
fn is_package(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name != "__pycache__" && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            write(root.path(), file, "");
        }
        let folder = Folder(root.path().to_owned());
        (root, folder)
    }

    fn write(root: &Path, file: &str, text: &str) {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), text).unwrap();
    }

    #[test]
    fn a_module_is_a_file_or_a_package_of_the_folder() {
        let (_root, folder) = folder(&["rooms.py", "stay/__init__.py", "stay/night.py", "notes.txt"]);
        for (module, is_there) in
            [("rooms", true), ("stay", true), ("stay.night", true), ("notes", false), ("os", false), ("", false)]
        {
            assert_eq!(folder.module(module).is_some(), is_there, "{module}");
        }
    }

    #[test]
    fn edits_of_python_files_show_and_other_files_do_not() {
        let (root, folder) = folder(&["rooms.py", "stay/__init__.py"]);
        let before = folder.fingerprint();
        write(root.path(), "notes.txt", "x");
        write(root.path(), "__pycache__/rooms.py", "x");
        assert_eq!(folder.fingerprint(), before);
        write(root.path(), "stay/__init__.py", "x");
        let edited = folder.fingerprint();
        assert_ne!(edited, before);
        write(root.path(), "stay/more.py", "");
        let added = folder.fingerprint();
        assert_ne!(added, edited);
        std::fs::remove_file(root.path().join("stay/more.py")).unwrap();
        assert_eq!(folder.fingerprint(), edited);
    }

    #[test]
    fn only_so_many_files_are_looked_at() {
        let names: Vec<String> = (0..=FUNCTION_FILES_MAX).map(|n| format!("f{n}.py")).collect();
        let (root, _) = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut found = FolderScan::default();
        found.collect(root.path(), 1);
        assert_eq!(found.files.len(), FUNCTION_FILES_MAX);
    }

    #[test]
    fn only_so_much_else_is_looked_at() {
        let (root, _) = folder(&[]);
        for n in 0..=FUNCTION_ENTRIES_MAX {
            write(root.path(), &format!("{n}.json"), "");
        }
        let mut found = FolderScan::default();
        found.collect(root.path(), 1);
        assert_eq!(found.others, FUNCTION_ENTRIES_MAX);
        // Links to where they are, ten of them, lead to 10⁸ folders.
        let (root, _) = folder(&[]);
        for n in 0..10 {
            std::os::unix::fs::symlink(root.path(), root.path().join(format!("again{n}"))).unwrap();
        }
        let mut found = FolderScan::default();
        found.collect(root.path(), FUNCTION_FOLDERS_DEEP_MAX);
        assert_eq!(found.others, FUNCTION_ENTRIES_MAX);
    }

    #[test]
    fn folders_within_folders_end() {
        let deep = |levels: usize| format!("{}f.py", "d/".repeat(levels));
        let (root, _) = folder(&[&deep(FUNCTION_FOLDERS_DEEP_MAX), &deep(FUNCTION_FOLDERS_DEEP_MAX + 1)]);
        let mut found = FolderScan::default();
        found.collect(root.path(), FUNCTION_FOLDERS_DEEP_MAX);
        assert_eq!(found.files.len(), 1);
    }
}
