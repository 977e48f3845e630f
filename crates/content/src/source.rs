//! Where content lies: files and folders, and a cheap way to see that they have changed.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forecourt_core::Timestamp;
use walkdir::{DirEntry, WalkDir};

use crate::error::{Error, Result};
use crate::item::hash;
use crate::limits::FILES_MAX;
use crate::loaders::Format;

/// A file or a folder whose items are to be found. Folders are read with all folders in them;
/// hidden files, and files in no format that we read, are passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSource {
    /// The file or folder.
    pub path: PathBuf,
    /// What the settings call it. Files are known by this and their path under it, so that an index stays
    /// what it is when the deployment is moved, or reached by another path.
    pub label: String,
    /// The public URL of that folder, for items (Markdown sections) that have none of their own.
    pub url: Option<String>,
}

impl ContentSource {
    /// A source without a public URL, known by its path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { label: path.to_string_lossy().into_owned(), path, url: None }
    }
}

/// One file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// The path under its source, with `/` between names.
    pub(crate) name: String,
    /// The label of its source.
    source: String,
    pub(crate) format: Format,
    pub(crate) bytes: u64,
    pub(crate) url: Option<String>,
    modified_ns: u128,
}

impl SourceFile {
    /// What tells its items from those of other files.
    pub(crate) fn origin(&self) -> u64 {
        hash(&[self.source.as_bytes(), self.name.as_bytes()])
    }

    /// When it was written last.
    pub(crate) fn written_at(&self) -> Timestamp {
        let nanoseconds = i128::try_from(self.modified_ns).unwrap_or_default();
        Timestamp::from_nanosecond(nanoseconds).unwrap_or_default()
    }
}

/// What a set of sources looks like from outside: names, sizes and times of all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint as a number, to be kept and compared later.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// The fingerprint of some sources. It changes when a file is added, removed, renamed or written.
/// Reads no content. Fails like [`crate::Library::index`] when a source is missing.
pub fn fingerprint(sources: &[ContentSource]) -> Result<Fingerprint> {
    let mut seen = 0;
    for file in files(sources)? {
        // Not its path: the same deployment can be spelled in many ways.
        let origin = file.origin().to_be_bytes();
        let (bytes, modified) = (file.bytes.to_be_bytes(), file.modified_ns.to_be_bytes());
        seen = hash(&[&u64::to_be_bytes(seen), &origin, &bytes, &modified]);
    }
    Ok(Fingerprint(seen))
}

/// All files of the sources, each source's in the order of their names.
pub(crate) fn files(sources: &[ContentSource]) -> Result<Vec<SourceFile>> {
    let mut out = Vec::new();
    for source in sources {
        match std::fs::metadata(&source.path) {
            Ok(meta) if meta.is_dir() => walk(source, &mut out)?,
            Ok(_) => out.push(single(source)?),
            Err(error) => return Err(unreadable(&source.path, error)),
        }
    }
    Ok(out)
}

fn walk(source: &ContentSource, out: &mut Vec<SourceFile>) -> Result<()> {
    let entries = WalkDir::new(&source.path).follow_links(true).sort_by_file_name();
    for entry in entries.into_iter().filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link that leads nowhere or in a circle, or a file that was just removed.
            Err(error) if error.loop_ancestor().is_some() || is_missing(&error) => continue,
            Err(error) => return Err(unreadable(&source.path, error)),
        };
        let Some(format) = Format::of(entry.path()).filter(|_| entry.file_type().is_file()) else { continue };
        let name = entry.path().strip_prefix(&source.path).unwrap_or(entry.path());
        if let Some(file) = describe(entry.path(), name, format, source) {
            out.push(file);
        }
        if out.len() > FILES_MAX {
            return Err(unreadable(&source.path, format!("more than {FILES_MAX} files")));
        }
    }
    Ok(())
}

fn is_missing(error: &walkdir::Error) -> bool {
    error.depth() > 0 && error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn single(source: &ContentSource) -> Result<SourceFile> {
    let known = "name it .jsonl, .json, .jsonld, .csv, .tsv, .rss, .atom, .xml or .md";
    let format =
        Format::of(&source.path).ok_or_else(|| unreadable(&source.path, format!("unknown format; {known}")))?;
    let name = Path::new(source.path.file_name().unwrap_or_default());
    describe(&source.path, name, format, source).ok_or_else(|| unreadable(&source.path, "it was just removed"))
}

fn describe(path: &Path, name: &Path, format: Format, source: &ContentSource) -> Option<SourceFile> {
    let meta = std::fs::metadata(path).ok()?;
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let names: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    Some(SourceFile {
        path: path.to_owned(),
        name: names.join("/"),
        source: source.label.clone(),
        format,
        bytes: meta.len(),
        url: source.url.clone(),
        modified_ns: modified.map_or(0, |time| time.as_nanos()),
    })
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn unreadable(path: &Path, reason: impl ToString) -> Error {
    Error::Source { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(dir: &Path) -> Vec<String> {
        files(&[ContentSource::new(dir)]).unwrap().into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn folders_are_walked_in_order_without_hidden_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("b/.git")).unwrap();
        for name in ["z.md", "a.jsonl", "b/c.csv", "b/.git/x.md", ".hidden.json", "NOTICE", "b/d.PNG"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(names(dir.path()), ["a.jsonl", "b/c.csv", "z.md"]);
    }

    #[test]
    fn missing_and_unknown_sources_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.png"), "").unwrap();
        for path in ["nothing", "x.png"] {
            assert!(matches!(files(&[ContentSource::new(dir.path().join(path))]), Err(Error::Source { .. })));
        }
    }

    #[test]
    fn a_fingerprint_changes_with_names_sizes_and_times() {
        let dir = tempfile::tempdir().unwrap();
        let sources = [ContentSource::new(dir.path())];
        let mut seen = vec![fingerprint(&sources).unwrap()];
        let mut check = |changed: bool| {
            let now = fingerprint(&sources).unwrap();
            assert_eq!(!seen.contains(&now), changed);
            seen.push(now);
        };
        let file = dir.path().join("a.jsonl");
        fs::write(&file, "x").unwrap();
        check(true);
        check(false);
        let later = UNIX_EPOCH + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
        check(true);
        fs::rename(&file, dir.path().join("b.jsonl")).unwrap();
        check(true);
        fs::write(dir.path().join("ignored.txt"), "x").unwrap();
        check(false);
    }

    #[cfg(unix)]
    #[test]
    fn circles_of_links_end() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("self")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling.md")).unwrap();
        assert_eq!(names(dir.path()), ["a.md"]);
    }
}
