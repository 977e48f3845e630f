//! Where content lies: files and folders, and a cheap way to see that they have changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forecourt_core::Timestamp;
use walkdir::{DirEntry, WalkDir};

use crate::error::{Error, Result};
use crate::item::hash;
use crate::limits::FILES_MAX;
use crate::loaders::Format;
use crate::mapping::TableMapping;
use crate::report::SkippedItem;

/// A file or a folder whose items are to be found. Folders are read with all folders in them. What is left
/// out of them, such as hidden files and files in no format that we read, is told in [`crate::Report`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSource {
    /// The file or folder.
    pub path: PathBuf,
    /// What the settings call it. Files are known by this and their path under it, so that an index stays
    /// what it is when the deployment is moved, or reached by another path.
    pub label: String,
    /// The public URL of that folder, for items (Markdown sections) that have none of their own.
    pub url: Option<String>,
    /// How tables in it are read; the first that is about a file holds.
    pub tables: Vec<TableMapping>,
}

impl ContentSource {
    /// A source without a public URL, known by its path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { label: path.to_string_lossy().into_owned(), path, url: None, tables: Vec::new() }
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
    /// How it is read, when it is a table.
    pub(crate) table: Option<TableMapping>,
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
    look(sources).map(|look| look.fingerprint)
}

/// What sources look like from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLook {
    /// What the files that are read look like.
    pub fingerprint: Fingerprint,
    /// The files that are left out, and why: as [`crate::Library::index`] would tell, without those in which
    /// nothing is found.
    pub left_out: Vec<SkippedItem>,
    /// Labels of sources with documents and without a URL, to which nothing can lead, and how many documents
    /// each has.
    pub without_url: Vec<(String, usize)>,
}

/// Looks at sources. Reads no content. Fails like [`crate::Library::index`] when a source is missing.
pub fn look(sources: &[ContentSource]) -> Result<SourceLook> {
    let files = files(sources)?;
    let mut seen = 0;
    let mut without_url: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files.read {
        // Not its path: the same deployment can be spelled in many ways.
        let origin = file.origin().to_be_bytes();
        let (bytes, modified) = (file.bytes.to_be_bytes(), file.modified_ns.to_be_bytes());
        seen = hash(&[&u64::to_be_bytes(seen), &origin, &bytes, &modified]);
        if file.url.is_none() && file.format.is_document() {
            *without_url.entry(&file.source).or_default() += 1;
        }
    }
    let without_url = without_url.into_iter().map(|(label, count)| (label.to_owned(), count)).collect();
    Ok(SourceLook { fingerprint: Fingerprint(seen), left_out: files.left_out, without_url })
}

/// The files of sources.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Those that are read, each source's in the order of their names.
    pub(crate) read: Vec<SourceFile>,
    /// Those that are not, and why.
    pub(crate) left_out: Vec<SkippedItem>,
    /// Files of endings that are not read: the first of each ending, and how many.
    unknown: BTreeMap<String, (String, usize)>,
}

/// All files of the sources.
pub(crate) fn files(sources: &[ContentSource]) -> Result<Files> {
    let mut files = Files::default();
    for source in sources {
        match std::fs::metadata(&source.path) {
            Ok(meta) if meta.is_dir() => walk(source, &mut files)?,
            Ok(_) => files.take(single(source)?),
            Err(error) => return Err(unreadable(&source.path, error)),
        }
    }
    files.tell_unknown();
    Ok(files)
}

impl Files {
    /// A file that is read, unless its size says already that nothing can be in it.
    fn take(&mut self, file: SourceFile) {
        let reason = match (file.bytes, file.format.bytes_max()) {
            (0, _) => "it is empty".to_owned(),
            (bytes, Some(most)) if bytes > most => {
                format!("it has {bytes} bytes, and a file of this kind may have {most}")
            }
            _ => return self.read.push(file),
        };
        self.leave_out(file.name, reason);
    }

    fn leave_out(&mut self, file: String, reason: String) {
        self.left_out.push(SkippedItem { file, line: None, reason });
    }

    fn note_unknown(&mut self, name: &Path, shown: String) {
        let ending = name.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        self.unknown.entry(ending).or_insert((shown, 0)).1 += 1;
    }

    /// One reason for all files of one ending: folders of pictures are not worth a line each.
    fn tell_unknown(&mut self) {
        for (ending, (first, count)) in std::mem::take(&mut self.unknown) {
            let file = if count == 1 { first } else { format!("{first} and {} more", count - 1) };
            let reason = match ending.is_empty() {
                true => "without an ending nobody knows what is in it".to_owned(),
                false => format!("files that end in .{ending} are not read"),
            };
            self.leave_out(file, reason);
        }
    }
}

fn walk(source: &ContentSource, files: &mut Files) -> Result<()> {
    let mut entries = WalkDir::new(&source.path).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            // A link that leads nowhere or in a circle, or a file that was just removed.
            Err(error) if error.loop_ancestor().is_some() || is_missing(&error) => {
                let path = error.path().unwrap_or(&source.path);
                files.leave_out(name_under(source, path), "it leads nowhere, or in a circle".to_owned());
                continue;
            }
            Err(error) => return Err(unreadable(&source.path, error)),
        };
        let shown = name_under(source, entry.path());
        if entry.depth() > 0 && is_hidden(&entry) {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            files.leave_out(shown, "it is hidden: its name begins with a dot".to_owned());
            continue;
        }
        if !entry.file_type().is_file() {
            continue;
        }
        match Format::of(entry.path()) {
            Some(format) => {
                let name = entry.path().strip_prefix(&source.path).unwrap_or(entry.path());
                describe(entry.path(), name, format, source).into_iter().for_each(|file| files.take(file));
            }
            None => files.note_unknown(entry.path(), shown),
        }
        if files.read.len() > FILES_MAX || files.left_out.len() > FILES_MAX {
            return Err(unreadable(&source.path, format!("more than {FILES_MAX} files")));
        }
    }
    Ok(())
}

fn name_under(source: &ContentSource, path: &Path) -> String {
    slashed(path.strip_prefix(&source.path).unwrap_or(path))
}

fn slashed(name: &Path) -> String {
    let names: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    names.join("/")
}

fn is_missing(error: &walkdir::Error) -> bool {
    error.depth() > 0 && error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn single(source: &ContentSource) -> Result<SourceFile> {
    let known = || Format::endings().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ");
    let format = Format::of(&source.path)
        .ok_or_else(|| unreadable(&source.path, format!("unknown format; these are read: {}", known())))?;
    let name = Path::new(source.path.file_name().unwrap_or_default());
    describe(&source.path, name, format, source).ok_or_else(|| unreadable(&source.path, "it was just removed"))
}

fn describe(path: &Path, name: &Path, format: Format, source: &ContentSource) -> Option<SourceFile> {
    let meta = std::fs::metadata(path).ok()?;
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let name = slashed(name);
    Some(SourceFile {
        path: path.to_owned(),
        table: source.tables.iter().find(|table| table.is_about(&name)).cloned(),
        name,
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
    use crate::limits::TEXT_FILE_BYTES_MAX;
    use std::fs;

    fn names(dir: &Path) -> Vec<String> {
        files(&[ContentSource::new(dir)]).unwrap().read.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn folders_are_walked_in_order_without_hidden_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("b/.git")).unwrap();
        for name in ["z.md", "a.jsonl", "b/c.csv", "b/.git/x.md", ".hidden.json", "NOTICE", "b/d.PNG", "b/e.png"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::write(dir.path().join("empty.md"), "").unwrap();
        assert_eq!(names(dir.path()), ["a.jsonl", "b/c.csv", "z.md"]);
        let told: Vec<String> =
            look(&[ContentSource::new(dir.path())]).unwrap().left_out.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                ".hidden.json: it is hidden: its name begins with a dot",
                "b/.git: it is hidden: its name begins with a dot",
                "empty.md: it is empty",
                "NOTICE: without an ending nobody knows what is in it",
                "b/d.PNG and 1 more: files that end in .png are not read",
            ]
        );
    }

    #[test]
    fn documents_are_too_large_past_their_bound() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.md", TEXT_FILE_BYTES_MAX), ("b.md", TEXT_FILE_BYTES_MAX + 1)] {
            fs::File::create(dir.path().join(name)).unwrap().set_len(bytes).unwrap();
        }
        assert_eq!(names(dir.path()), ["a.md"]);
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
        fs::write(dir.path().join("ignored.png"), "x").unwrap();
        check(false);
    }

    #[cfg(unix)]
    #[test]
    fn circles_of_links_end() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("self")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling.md")).unwrap();
        assert_eq!(names(dir.path()), ["a.md"]);
    }
}
