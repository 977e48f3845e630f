//! The formats, each with what people call it, the endings of its files and its media types.

use std::path::Path;

use crate::limits::{PACKED_FILE_BYTES_MAX, TEXT_FILE_BYTES_MAX};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Objects, one a line.
    JsonLines,
    /// One object or a list of them, JSON-LD and JSON Feed too.
    Json,
    /// Cells between commas, or what else is found between them.
    Csv,
    /// Cells between tabs.
    Tsv,
    /// RSS and Atom, and what else is XML.
    Feed,
    /// Markdown.
    Markdown,
    /// Markdown with components.
    Mdx,
    /// reStructuredText.
    Rst,
    /// AsciiDoc.
    AsciiDoc,
    /// Plain text.
    Text,
    /// A page of the web.
    Html,
    /// A Word document.
    Docx,
    /// An OpenDocument text.
    Odt,
    /// A book.
    Epub,
    /// PDF.
    Pdf,
}

/// A format, what people call it, the endings of its files and its media types.
pub(crate) type FormatInfo = (Format, &'static str, &'static [&'static str], &'static [&'static str]);

pub(crate) const FORMATS: &[FormatInfo] = &[
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
    pub(crate) fn of_mime(mime: &str) -> Option<Self> {
        let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = FORMATS.iter().find(|(_, _, _, mimes)| mimes.contains(&kind.as_str()))?;
        Some(known.0)
    }

    /// The name of the format for people, such as `JSON Lines`.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, ..)| name)
    }

    /// Bytes that a file may have, when it is read whole.
    pub(crate) fn bytes_max(self) -> Option<u64> {
        match self {
            Self::JsonLines | Self::Json | Self::Csv | Self::Tsv | Self::Feed => None,
            packed if packed.is_packed() => Some(PACKED_FILE_BYTES_MAX),
            _ => Some(TEXT_FILE_BYTES_MAX),
        }
    }

    /// Whether a file of it is an archive of parts, which name their encodings themselves.
    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Self::Docx | Self::Odt | Self::Epub | Self::Pdf)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_name_the_format() {
        assert_eq!(Format::of(Path::new("a/B.JSONL")), Some(Format::JsonLines));
        assert_eq!(Format::of(Path::new("feed.xml")), Some(Format::Feed));
        assert_eq!(Format::of(Path::new("NOTICE")), None);
        assert_eq!(Format::of(Path::new(".md")), None);
    }
}
