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
mod outline;
mod packed;
pub(crate) mod page;
mod pdf;
mod rst;
mod shape;
mod split;
mod transcode;
mod whole;

use std::path::Path;

use serde_json::Value;

use crate::limits::{PACKED_FILE_BYTES_MAX, TEXT_FILE_BYTES_MAX};

pub(crate) use html::resolve;
pub(crate) use input::Input;
pub use links::PLACES;
pub use pdf::read_pdf_if_asked;
pub(crate) use transcode::{charset, declared};

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    JsonLines,
    Json,
    Csv,
    Tsv,
    Feed,
    Markdown,
    Mdx,
    Rst,
    AsciiDoc,
    Text,
    Html,
    Docx,
    Odt,
    Epub,
    Pdf,
}

/// A format, what people call it, the endings of its files and its media types.
type FormatInfo = (Format, &'static str, &'static [&'static str], &'static [&'static str]);

const FORMATS: &[FormatInfo] = &[
    (
        Format::JsonLines,
        "JSON Lines",
        &["jsonl", "ndjson"],
        &["application/jsonl", "application/x-ndjson", "application/jsonlines"],
    ),
    (
        Format::Json,
        "JSON",
        &["json", "jsonld"],
        &["application/json", "application/ld+json", "application/schema+json", "application/feed+json"],
    ),
    (Format::Csv, "CSV", &["csv", "psv"], &["text/csv"]),
    (Format::Tsv, "TSV", &["tsv", "tab"], &["text/tab-separated-values"]),
    (
        Format::Feed,
        "feeds",
        &["rss", "atom", "xml", "rdf"],
        &["application/rss+xml", "application/atom+xml", "application/xml", "text/xml", "application/rdf+xml"],
    ),
    (Format::Markdown, "Markdown", &["md", "markdown", "mkd", "qmd"], &["text/markdown"]),
    (Format::Mdx, "MDX", &["mdx"], &["text/mdx"]),
    (Format::Rst, "reStructuredText", &["rst", "rest"], &["text/x-rst", "text/prs.fallenstein.rst"]),
    (Format::AsciiDoc, "AsciiDoc", &["adoc", "asciidoc"], &["text/asciidoc", "text/x-asciidoc"]),
    (Format::Text, "text", &["txt", "text"], &["text/plain"]),
    (Format::Html, "HTML", &["html", "htm", "xhtml"], &["text/html", "application/xhtml+xml"]),
    (
        Format::Docx,
        "Word",
        &["docx", "docm"],
        &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ),
    (Format::Odt, "OpenDocument", &["odt"], &["application/vnd.oasis.opendocument.text"]),
    (Format::Epub, "EPUB", &["epub"], &["application/epub+zip"]),
    (Format::Pdf, "PDF", &["pdf"], &["application/pdf"]),
];

impl Format {
    /// The format that a file's name promises. `None` for what is no content.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let known = FORMATS.iter().find(|(_, _, endings, _)| endings.contains(&extension.as_str()))?;
        Some(known.0)
    }

    /// The format that a media type promises. `None` for those that promise nothing.
    fn of_mime(mime: &str) -> Option<Self> {
        let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = FORMATS.iter().find(|(_, _, _, mimes)| mimes.contains(&kind.as_str()))?;
        Some(known.0)
    }

    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, ..)| name)
    }

    /// Bytes that a file may have, when it is read whole.
    pub(crate) fn bytes_max(self) -> Option<u64> {
        match self {
            Self::JsonLines | Self::Json | Self::Csv | Self::Tsv | Self::Feed => None,
            Self::Docx | Self::Odt | Self::Epub | Self::Pdf => Some(PACKED_FILE_BYTES_MAX),
            _ => Some(TEXT_FILE_BYTES_MAX),
        }
    }

    /// Whether a file of it is a text that people read, of which every section is an item.
    pub(crate) fn is_document(self) -> bool {
        self.bytes_max().is_some()
    }

    /// The endings of files that are read.
    pub(crate) fn endings() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().flat_map(|(_, _, endings, _)| endings.iter().copied())
    }
}

/// Why an item, or the rest of a file, was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("not UTF-8")]
    NotUtf8,
    #[error("no text: it has NUL bytes")]
    NoText,
    #[error("it is encrypted, and no password is known")]
    Encrypted,
    #[error("it asks not to be indexed")]
    NoIndex,
    #[error("none of the columns is a name: {0}; say which one in `[backend.tables]`")]
    NoNameColumn(String),
    #[error("{0} rows from here on have more cells than the header has columns; those cells were left out")]
    Ragged(u64),
    #[error("{0}")]
    Broken(String),
    #[error("not an object")]
    NotAnObject,
    #[error("no name, headline or title")]
    NoName,
    #[error("no `@id` and no `url`, by which it could be replaced and removed")]
    NoId,
    #[error("the id `{0}` comes again further on, and the last one counts")]
    Again(String),
    #[error("longer than {} bytes", crate::limits::ITEM_BYTES_MAX)]
    TooLong,
    #[error("the id `{0}` was seen before")]
    SameId(String),
    #[error("more than {} items", crate::limits::ITEMS_MAX)]
    TooManyItems,
    #[error("the rest of the file: {0}")]
    Rest(String),
}

/// What ends the reading of a file early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Whoever listens has had enough.
    Cancelled,
    /// The index could not take an item; the listener knows why.
    Failed,
    /// The rest of the file cannot be read.
    Broken { line: u64, reason: Reason },
}

impl Stop {
    fn rest(line: u64, error: impl std::fmt::Display) -> Self {
        Self::Broken { line, reason: Reason::Rest(error.to_string()) }
    }
}

/// How far into a file an item lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    /// Line on which the item begins, from 1.
    pub(crate) line: u64,
    /// Bytes of the file read so far.
    pub(crate) bytes: u64,
}

/// Takes what a loader finds.
pub(crate) trait Sink {
    /// One object, with its own bytes where the file has them in one piece.
    fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop>;

    /// Something that is no item, and why.
    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop>;
}

/// What a document in memory held.
#[derive(Debug, Default)]
pub(crate) struct DocumentContents {
    /// Its items, each with the line on which it begins.
    pub(crate) items: Vec<(u64, Value)>,
    /// What is no item: its line, if it has one, and why.
    pub(crate) skipped: Vec<(Option<u64>, Reason)>,
}

/// Reads a document in memory, in the format that its media type promises, else its name. `None` when it is
/// in none that we read. `url` is where it was found.
pub(crate) fn collect_items(bytes: &[u8], mime: &str, name: &str, url: Option<&str>) -> Option<DocumentContents> {
    let format = Format::of_mime(mime).or_else(|| Format::of(Path::new(name)))?;
    let mut found = DocumentContents::default();
    let decoded = transcode::utf8_by_mime(bytes, mime);
    let is_text = !matches!(format, Format::Docx | Format::Odt | Format::Epub | Format::Pdf);
    let decoded = decoded.filter(|_| is_text);
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

/// Reads a whole file.
pub(crate) fn load(format: Format, input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
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

    #[test]
    fn extensions_name_the_format() {
        assert_eq!(Format::of(Path::new("a/B.JSONL")), Some(Format::JsonLines));
        assert_eq!(Format::of(Path::new("feed.xml")), Some(Format::Feed));
        assert_eq!(Format::of(Path::new("NOTICE")), None);
        assert_eq!(Format::of(Path::new(".md")), None);
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
}
