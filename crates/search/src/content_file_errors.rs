//! This module finds what can't be read of files of data, for whoever checks a deployment. It makes no index, and tells
//! of no item that is merely left out, such as one without a name.

use std::fs::File;

use forecourt_agents::ContentFileError;
use forecourt_loaders::{At, ContentSource, Format, Input, Reason, Sink, SourceFile, Stop, files, load};
use serde_json::Value;

use crate::limits::{CHECKED_BYTES_MAX, CHECKED_FILE_BYTES_MAX, FILE_ERRORS_MAX};

/// How much is read, and told.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckBounds {
    /// Errors that are told.
    pub(super) errors_max: usize,
    /// Bytes of one file that are read.
    pub(super) file_bytes_max: u64,
    /// Bytes of all files that are read.
    pub(super) bytes_max: u64,
}

impl Default for CheckBounds {
    fn default() -> Self {
        Self { errors_max: FILE_ERRORS_MAX, file_bytes_max: CHECKED_FILE_BYTES_MAX, bytes_max: CHECKED_BYTES_MAX }
    }
}

/// What can't be read of the files of data in these sources, the first ones within the bounds. Sources that are not
/// there are told elsewhere.
pub(super) fn file_errors(sources: &[ContentSource], bounds: CheckBounds) -> Vec<ContentFileError> {
    let mut found = Vec::new();
    let mut left = bounds.bytes_max;
    for source in sources {
        let Ok(files) = files(std::slice::from_ref(source)) else { continue };
        for file in files.read.iter().filter(|file| is_data(file.format)) {
            if found.len() >= bounds.errors_max || left == 0 {
                return found;
            }
            let bytes_max = bounds.file_bytes_max.min(left);
            left = left.saturating_sub(file.bytes.min(bytes_max));
            FileCheck { file, bytes_max, errors_max: bounds.errors_max, found: &mut found }.run();
        }
    }
    found
}

/// Whether a format has a form that a file can fail: documents are read whatever is in them.
fn is_data(format: Format) -> bool {
    matches!(format, Format::JsonLines | Format::Json | Format::Csv | Format::Tsv)
}

/// One file that is looked at.
struct FileCheck<'a> {
    file: &'a SourceFile,
    bytes_max: u64,
    errors_max: usize,
    found: &'a mut Vec<ContentFileError>,
}

impl FileCheck<'_> {
    fn run(mut self) {
        let file = self.file;
        let reader = match File::open(&file.path) {
            Ok(reader) => reader,
            Err(error) => return self.tell(0, error.to_string()),
        };
        let mut input = Input::new(reader, &file.name, file.url.as_deref()).with_table(file.table.as_ref());
        if let Err(Stop::Broken { line, reason }) = load(file.format, &mut input, &mut self) {
            self.tell(line, reason.to_string());
        }
    }

    fn tell(&mut self, line: u64, reason: String) {
        let line = usize::try_from(line).ok().filter(|line| *line > 0);
        self.found.push(ContentFileError { file: self.file.path.clone(), line, reason });
    }

    /// Goes on to the next item, unless enough was read or told.
    fn goes_on(&self, at: At) -> Result<(), Stop> {
        match at.bytes >= self.bytes_max || self.found.len() >= self.errors_max {
            true => Err(Stop::Cancelled),
            false => Ok(()),
        }
    }
}

impl Sink for FileCheck<'_> {
    fn item(&mut self, at: At, _: &Value, _: Option<&[u8]>) -> Result<(), Stop> {
        self.goes_on(at)
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        if is_error(&reason) {
            self.tell(at.line, reason.to_string());
        }
        self.goes_on(at)
    }
}

/// Whether a file is broken where something was left out for this reason. All others are of single items, which an
/// operator may well mean to leave out.
fn is_error(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::NotUtf8
            | Reason::NoText
            | Reason::NoNameColumn(_)
            | Reason::Broken(_)
            | Reason::NotAnObject
            | Reason::TooLong
            | Reason::Rest(_)
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(files: &[(&str, &str)], bounds: CheckBounds) -> Vec<(String, Option<usize>, String)> {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        let errors = file_errors(&[ContentSource::new(folder.path())], bounds);
        let name = |error: &ContentFileError| error.file.file_name().unwrap().to_string_lossy().into_owned();
        errors.iter().map(|error| (name(error), error.line, error.reason.clone())).collect()
    }

    #[test]
    fn broken_lines_are_told_with_their_file_and_line_and_good_ones_are_not() {
        let good = [("a.jsonl", "{\"name\": \"a\"}\n\n{\"x\": 1}\n"), ("b.csv", "name,price\nsoup,4\n")];
        assert_eq!(found(&good, CheckBounds::default()), []);
        let broken = [("a.jsonl", "{\"name\": \"a\"}\n{\"name\": \"b\",}\n7\n"), ("b.json", "[{\"name\": \"a\"}")];
        let told = found(&broken, CheckBounds::default());
        let places: Vec<_> = told.iter().map(|(file, line, _)| (file.as_str(), *line)).collect();
        assert!(places.starts_with(&[("a.jsonl", Some(2)), ("a.jsonl", Some(3))]), "{told:?}");
        assert!(places[2..].iter().any(|(file, _)| *file == "b.json"), "{told:?}");
    }

    #[test]
    fn a_table_without_a_column_of_names_is_told_with_its_columns() {
        let told =
            found(&[("a.csv", "sku,price\n1,4\n"), ("b.tsv", "Title\tPrice\nsoup\t4\n")], CheckBounds::default());
        assert!(told.len() == 1 && told[0].0 == "a.csv" && told[0].2.contains("sku, price"), "{told:?}");
    }

    #[test]
    fn so_many_errors_are_told_and_no_more() {
        let bounds = |errors_max| CheckBounds { errors_max, ..CheckBounds::default() };
        let files = [("a.jsonl", "x\nx\nx\n"), ("b.jsonl", "x\n")];
        assert_eq!(found(&files, bounds(4)).len(), 4);
        assert_eq!(found(&files, bounds(3)).len(), 3);
    }

    #[test]
    fn a_file_is_read_up_to_its_bound_and_all_files_up_to_theirs() {
        let (good, line) = ("{\"name\": \"a\"}\n", 14);
        let text = format!("{good}x\n");
        let files = [("a.jsonl", text.as_str()), ("b.jsonl", text.as_str())];
        let told = |file_bytes_max, bytes_max| {
            let bounds = CheckBounds { file_bytes_max, bytes_max, ..CheckBounds::default() };
            found(&files, bounds).into_iter().map(|(file, ..)| file).collect::<Vec<_>>()
        };
        assert_eq!(told(line, 1_000), [""; 0], "its first line has so many bytes");
        assert_eq!(told(line + 1, 1_000), ["a.jsonl", "b.jsonl"]);
        assert_eq!(told(1_000, text.len() as u64), ["a.jsonl"], "nothing is left for the second");
        assert_eq!(told(1_000, text.len() as u64 + line + 1), ["a.jsonl", "b.jsonl"]);
    }

    #[test]
    fn of_a_file_that_is_larger_than_its_bound_only_what_is_read_counts() {
        let good = "{\"name\": \"a\"}\n";
        let large = good.repeat(20);
        let short = format!("{good}x\n");
        let bounds = CheckBounds { file_bytes_max: 15, bytes_max: 100, ..CheckBounds::default() };
        let told = found(&[("a.jsonl", large.as_str()), ("b.jsonl", short.as_str())], bounds);
        assert!(told.len() == 1 && told[0].0 == "b.jsonl", "{told:?}");
    }
}
