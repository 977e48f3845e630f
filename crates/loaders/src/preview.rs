//! Reads the items of one file or page without an index: a page that is summarised, and files for tests and fuzzing.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use url::Url;

use crate::format::Format;
use crate::formats::{Input, Page, decode_text, load};
use crate::item::{Item, Place};
use crate::limits::REASONS_MAX;
use crate::sink::{At, Reason, Sink, Stop};
use crate::source::SkippedItem;

/// The result of reading one file without an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileItems {
    /// Items in it; some may have the same id.
    pub items: u64,
    /// Items, or rests of the file, that were left out.
    pub skipped: u64,
    /// Why, for the first [`REASONS_MAX`] of them.
    pub reasons: Vec<SkippedItem>,
}

impl FileItems {
    fn skip(&mut self, name: &str, line: u64, reason: &Reason) {
        self.skipped += 1;
        if self.reasons.len() < REASONS_MAX {
            let (file, reason) = (name.to_owned(), reason.to_string());
            self.reasons.push(SkippedItem { file, line: Some(line), reason });
        }
    }
}

/// Reads a file as an index would, and visits the items in it with their ids. `name` is the path under its source, and
/// says by its ending which format it is; with an ending that is no format's, there is nothing to read.
pub fn read_items(name: &str, reader: impl Read, take: &mut dyn FnMut(&str, &Value)) -> FileItems {
    let mut preview = Preview { name, take, found: FileItems::default() };
    let Some(format) = Format::of(Path::new(name)) else { return preview.found };
    if let Err(Stop::Broken { line, reason }) = load(format, &mut Input::new(reader, name, None), &mut preview) {
        preview.found.skip(name, line, &reason);
    }
    preview.found
}

/// The items of a page that was found at `url`, as a visit to its site would take them.
pub fn read_page(page: &[u8], media_type: &str, url: &Url) -> Vec<Value> {
    Page::read(&decode_text(page, media_type), url, "").items
}

struct Preview<'a> {
    name: &'a str,
    take: &'a mut dyn FnMut(&str, &Value),
    found: FileItems,
}

impl Sink for Preview<'_> {
    fn item(&mut self, at: At, json: &Value, _: Option<&[u8]>) -> Result<(), Stop> {
        match Item::read(json, Place { file: self.name, line: at.line }) {
            Some(item) => {
                self.found.items += 1;
                (self.take)(&item.id, json);
                Ok(())
            }
            None => self.skip(at, Reason::NoName),
        }
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.found.skip(self.name, at.line, &reason);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_seen_without_an_index() {
        let mut ids = Vec::new();
        let bytes = b"{\"name\":\"a\"}\n{\"x\":1}\n";
        let found = read_items("a/b.jsonl", &bytes[..], &mut |id, _| ids.push(id.to_owned()));
        assert_eq!((found.items, found.skipped), (1, 1));
        assert_eq!(ids, ["a/b.jsonl#L1"]);
        assert_eq!(read_items("x.png", &bytes[..], &mut |_, _| {}), FileItems::default());
    }

    #[test]
    fn reasons_end_at_the_bound_and_the_count_goes_on() {
        let found = read_items("a.jsonl", "1\n".repeat(REASONS_MAX + 1).as_bytes(), &mut |_, _| {});
        assert_eq!((found.reasons.len(), found.skipped), (REASONS_MAX, REASONS_MAX as u64 + 1));
    }

    #[test]
    fn a_page_is_seen_without_a_visit() {
        let url = Url::parse("https://e.org/a").unwrap();
        assert_eq!(read_page(b"<title>caf\xE9</title>", "text/html; charset=latin1", &url)[0]["name"], "café");
    }
}
