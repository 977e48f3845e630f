//! The files of sources, and those that are left out.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use walkdir::{DirEntry, WalkDir};

use super::{ContentSource, SkippedItem, SourceError, SourceFile};
use crate::format::Format;
use crate::limits::FILES_MAX;

/// The files of sources.
#[derive(Debug, Default)]
pub struct Files {
    /// The files that are read, each source's in the order of their names.
    pub read: Vec<SourceFile>,
    /// The files that are not read, each with the reason.
    pub left_out: Vec<SkippedItem>,
    /// Files of endings that are not read: the first of each ending, and how many.
    unknown: BTreeMap<String, (String, usize)>,
}

/// All files of the sources. Reads no content. Fails when a source is missing, is in no format that is read, or has
/// more than [`FILES_MAX`] files.
pub fn files(sources: &[ContentSource]) -> Result<Files, SourceError> {
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

fn walk(source: &ContentSource, files: &mut Files) -> Result<(), SourceError> {
    // In the order of names: of two files with one id the same one counts in every run.
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
        // The source itself may be hidden: the operator named it.
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
        // What is left out is told and takes memory too, so that it has the same bound.
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

fn single(source: &ContentSource) -> Result<SourceFile, SourceError> {
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

fn unreadable(path: &Path, reason: impl ToString) -> SourceError {
    SourceError { path: path.to_owned(), reason: reason.to_string() }
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
        let told: Vec<String> = super::super::look(&[ContentSource::new(dir.path())])
            .unwrap()
            .left_out
            .iter()
            .map(ToString::to_string)
            .collect();
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
            assert!(matches!(files(&[ContentSource::new(dir.path().join(path))]), Err(SourceError { .. })));
        }
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
