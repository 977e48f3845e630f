//! Files to items, one format a file. Data is read as a stream: what is in memory at once is one item, however
//! long the file. Documents are read whole, up to a bound.

mod adorned;
mod asciidoc;
mod cell;
mod csv;
mod feed;
mod graph;
mod html;
mod html_file;
mod input;
mod json;
mod json_feed;
mod jsonl;
mod linked;
mod links;
mod markdown;
mod mdx;
mod notes;
mod outline;
mod packed;
mod page;
mod paths;
mod pdf;
mod rst;
mod shape;
mod shop;
mod split;
mod transcode;
mod whole;

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use crate::active::without_active_addresses;
use crate::format::Format;
use crate::sink::{At, Reason, Sink, Stop};

pub use html::resolve_entity;
pub use input::Input;
pub use links::PLACES;
pub use page::{Page, has_directive};
pub use pdf::read_pdf_if_asked;
pub use transcode::decode_text;

/// The items of a document in memory.
#[derive(Debug, Default)]
pub struct DocumentContents {
    /// Its items, each with the line on which it begins.
    pub items: Vec<(u64, Value)>,
    /// The parts that are no items: their line, if they have one, and the reason.
    pub skipped: Vec<(Option<u64>, Reason)>,
}

/// Reads a document in memory, in the format that its media type promises, else its name. `None` when it is
/// in none that we read. `url` is where it was found.
pub fn collect_items(bytes: &[u8], mime: &str, name: &str, url: Option<&str>) -> Option<DocumentContents> {
    // The media type first: a server says it of this answer, and a name may end in anything.
    let format = Format::of_mime(mime).or_else(|| Format::of(Path::new(name)))?;
    let mut found = DocumentContents::default();
    let decoded = transcode::utf8_by_mime(bytes, mime);
    // Packed formats name the encodings of their parts themselves; decoded as text they would be broken.
    let decoded = decoded.filter(|_| !format.is_packed());
    let input = Input::new(decoded.as_deref().unwrap_or(bytes), name, None);
    match load(format, &mut input.found_at(url), &mut found) {
        Err(Stop::Broken { line, reason }) => found.skipped.push((Some(line), reason)),
        Ok(()) | Err(Stop::Cancelled | Stop::Failed) => {}
    }
    Some(found)
}

impl Sink for DocumentContents {
    fn item(&mut self, at: At, json: &Value, _: Option<&[u8]>) -> Result<(), Stop> {
        self.items.push((at.line, json.clone()));
        Ok(())
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.skipped.push((Some(at.line), reason));
        Ok(())
    }
}

/// Reads a file to its end and hands items, and what is none, to `sink`. Fails with what the sink stops it by, and
/// with [`Stop::Broken`] where the rest of the file cannot be read. Addresses that do something when they are opened,
/// such as `javascript:`, are not handed over.
pub fn load(format: Format, input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    load_as(format, input, &mut HarmlessSink(sink))
}

/// Hands items on without what must be in none.
struct HarmlessSink<'a>(&'a mut dyn Sink);

impl Sink for HarmlessSink<'_> {
    fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop> {
        match without_active_addresses(json) {
            Cow::Borrowed(json) => self.0.item(at, json, raw),
            // Its own bytes still have them.
            Cow::Owned(json) => self.0.item(at, &json, None),
        }
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.0.skip(at, reason)
    }
}

fn load_as(format: Format, input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    match format {
        Format::JsonLines => jsonl::load(input, sink),
        Format::Json => json::load(input, sink),
        Format::Csv => csv::load(input, b',', sink),
        Format::Tsv => csv::load(input, b'\t', sink),
        Format::Feed => feed::load(input, sink),
        Format::Markdown => markdown::load(input, sink),
        Format::Mdx => markdown::load_mdx(input, sink),
        Format::Rst => adorned::load_rst(input, sink),
        Format::AsciiDoc => asciidoc::load(input, sink),
        Format::Text => adorned::load_text(input, sink),
        Format::Html => html_file::load(input, sink),
        Format::Docx => packed::load_docx(input, sink),
        Format::Odt => packed::load_odt(input, sink),
        Format::Epub => packed::load_epub(input, sink),
        Format::Pdf => pdf::load(input, sink),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::FORMATS;
    use proptest::prelude::*;

    /// Remembers everything.
    #[derive(Default)]
    pub(crate) struct Heap {
        pub(crate) items: Vec<Value>,
        pub(crate) lines: Vec<u64>,
        pub(crate) raw: Vec<Option<String>>,
        pub(crate) skipped: Vec<(u64, Reason)>,
        pub(crate) stop_after: Option<usize>,
    }

    impl Sink for Heap {
        fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop> {
            if self.stop_after == Some(self.items.len()) {
                return Err(Stop::Cancelled);
            }
            self.items.push(json.clone());
            self.lines.push(at.line);
            self.raw.push(raw.map(|raw| String::from_utf8_lossy(raw).into_owned()));
            Ok(())
        }

        fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
            self.skipped.push((at.line, reason));
            Ok(())
        }
    }

    /// Loads bytes; the reason that ended the file early comes last among the skipped.
    pub(crate) fn load_bytes(format: Format, bytes: &[u8]) -> Heap {
        let mut heap = Heap::default();
        let mut input = Input::new(bytes, "file", None);
        match load(format, &mut input, &mut heap) {
            Err(Stop::Broken { line, reason }) => heap.skipped.push((line, reason)),
            other => assert_eq!(other, Ok(())),
        }
        heap
    }

    pub(crate) fn names(heap: &Heap) -> Vec<&str> {
        heap.items.iter().filter_map(crate::item::name).collect()
    }

    #[test]
    fn a_cancelled_sink_ends_the_file() {
        let bytes = b"{\"name\":\"a\"}\n{\"name\":\"b\"}\n";
        let mut heap = Heap { stop_after: Some(1), ..Heap::default() };
        let mut input = Input::new(&bytes[..], "file", None);
        assert_eq!(load(Format::JsonLines, &mut input, &mut heap), Err(Stop::Cancelled));
        assert_eq!(names(&heap), ["a"]);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_end_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            FORMATS.iter().for_each(|(format, ..)| drop(load_bytes(*format, &bytes)));
        }

        #[test]
        fn almost_structured_text_ends_without_a_panic(
            text in "([\\[\\]{}\",:\\\\# \n<>/&;=-]|name|title|item|entry|rss|@graph|null|1){0,120}"
        ) {
            FORMATS.iter().for_each(|(format, ..)| drop(load_bytes(*format, text.as_bytes())));
        }
    }

    #[test]
    fn no_item_is_handed_over_with_an_address_that_runs() {
        let line = br#"{"name": "a", "url": "javascript:alert(1)", "image": "https://a.example/i.png"}"#;
        for (format, bytes) in [
            (Format::JsonLines, &line[..]),
            (Format::Csv, b"name,url,image\na,javascript:alert(1),https://a.example/i.png"),
        ] {
            let heap = load_bytes(format, bytes);
            assert_eq!(heap.items[0].get("url"), None, "{format:?}");
            assert_eq!((&heap.items[0]["image"], &heap.raw[0]), (&"https://a.example/i.png".into(), &None));
        }
        let harmless = load_bytes(Format::JsonLines, br#"{"name": "a"}"#);
        assert_eq!(harmless.raw[0].as_deref(), Some(r#"{"name": "a"}"#), "what has none stays as it is written");
    }
}
