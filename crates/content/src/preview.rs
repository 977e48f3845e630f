//! A file's items without an index: what a check of a deployment, and a fuzzer, want to see.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::item::{Item, Place};
use crate::loaders::{At, Format, Input, Reason, Sink, Stop, load};
use crate::report::Report;

/// Reads a file as [`crate::Library::index`] would, and visits the items in it with their ids.
/// The report counts them as loaded; items that come twice are only noticed by an index. `name`
/// is the path under its source, and says by its ending which format it is; with an ending that
/// is no format's, there is nothing to read.
pub fn read_items(name: &str, reader: impl Read, take: &mut dyn FnMut(&str, &Value)) -> Report {
    let mut preview = Preview { name, take, report: Report::default() };
    let Some(format) = Format::of(Path::new(name)) else { return preview.report };
    if let Err(Stop::Broken { line, reason }) = load(format, &mut Input::new(reader, name, None), &mut preview) {
        preview.report.skip(name, Some(line), &reason);
    }
    preview.report
}

struct Preview<'a> {
    name: &'a str,
    take: &'a mut dyn FnMut(&str, &Value),
    report: Report,
}

impl Sink for Preview<'_> {
    fn item(&mut self, at: At, json: &Value, _: Option<&[u8]>) -> Result<(), Stop> {
        match Item::read(json, Place { file: self.name, line: at.line }) {
            Some(item) => {
                self.report.loaded += 1;
                (self.take)(&item.id, json);
                Ok(())
            }
            None => self.skip(at, Reason::NoName),
        }
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.report.skip(self.name, Some(at.line), &reason);
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
        let report = read_items("a/b.jsonl", &bytes[..], &mut |id, _| ids.push(id.to_owned()));
        assert_eq!((report.loaded, report.skipped), (1, 1));
        assert_eq!(ids, ["a/b.jsonl#L1"]);
        assert_eq!(read_items("x.png", &bytes[..], &mut |_, _| {}), Report::default());
    }
}
