//! Markdown: an item per section. Its name is the path of headings, its id and URL end in the
//! heading's anchor, as GitHub writes them.

use std::io::Read;
use std::path::Path;

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Anchorizer, Arena, Options, parse_document};
use serde_json::{Map, Value};

use super::{At, Input, Reason, Sink, Stop};
use crate::limits::{ITEM_BYTES_MAX, MARKDOWN_BYTES_MAX};

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut bytes = Vec::new();
    input.by_ref().take(MARKDOWN_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| Stop::rest(1, error))?;
    let whole = At { line: 1, bytes: input.at().bytes };
    if bytes.len() as u64 > MARKDOWN_BYTES_MAX {
        let reason = Reason::Rest(format!("a Markdown file of more than {MARKDOWN_BYTES_MAX} bytes"));
        return Err(Stop::Broken { line: 1, reason });
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return sink.skip(whole, Reason::NotUtf8);
    };
    let arena = Arena::new();
    let document = parse_document(&arena, text, &options());
    let mut page = Page::new(input, whole.bytes);
    for block in document.children() {
        page.block(block, sink)?;
    }
    page.flush(sink)
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.front_matter_delimiter = Some("---".to_owned());
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options
}

/// The section being read, and the headings above it.
struct Page {
    file: String,
    url: Option<String>,
    title: String,
    anchors: Anchorizer,
    /// Level and text of the headings that the current section is under, itself included.
    headings: Vec<(u8, String)>,
    anchor: Option<String>,
    at: At,
    text: String,
}

impl Page {
    fn new(input: &Input<'_>, bytes: u64) -> Self {
        let stem = Path::new(input.file()).file_stem().and_then(|stem| stem.to_str()).unwrap_or(input.file());
        Self {
            file: input.file().to_owned(),
            url: input.url(),
            title: stem.to_owned(),
            anchors: Anchorizer::new(),
            headings: Vec::new(),
            anchor: None,
            at: At { line: 1, bytes },
            text: String::new(),
        }
    }

    fn block<'a>(&mut self, block: &'a AstNode<'a>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (line, level) = {
            let data = block.data();
            let level = match &data.value {
                NodeValue::Heading(heading) => Some(heading.level),
                NodeValue::FrontMatter(text) => {
                    self.front_matter(text);
                    return Ok(());
                }
                _ => None,
            };
            (data.sourcepos.start.line as u64, level)
        };
        let text = plain(block);
        match level {
            None => {
                self.text.push_str(&text);
                self.text.push('\n');
                Ok(())
            }
            Some(level) => {
                self.flush(sink)?;
                self.headings.retain(|(above, _)| *above < level);
                self.anchor = Some(self.anchors.anchorize(&text));
                self.headings.push((level, text));
                self.at.line = line;
                Ok(())
            }
        }
    }

    /// Takes the title; the rest of a front matter is for other programs.
    fn front_matter(&mut self, text: &str) {
        let title = text.lines().find_map(|line| line.strip_prefix("title:"));
        if let Some(title) = title.map(|title| title.trim().trim_matches(['"', '\''])).filter(|title| !title.is_empty())
        {
            self.title = title.to_owned();
        }
    }

    /// Passes on the section that ends here. Text before the first heading goes by the page's title.
    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.is_empty() && self.anchor.is_none() {
            return Ok(());
        }
        if text.len() > ITEM_BYTES_MAX {
            return sink.skip(self.at, Reason::TooLong);
        }
        let anchor = self.anchor.as_deref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
        let mut item = Map::new();
        item.insert("@type".to_owned(), "WebPageElement".into());
        item.insert("name".to_owned(), self.name().into());
        item.insert("isPartOf".to_owned(), self.file.as_str().into());
        if !text.is_empty() {
            item.insert("text".to_owned(), text.into());
        }
        match &self.url {
            Some(url) => item.insert("url".to_owned(), format!("{url}{anchor}").into()),
            None => item.insert("@id".to_owned(), format!("{}{anchor}", self.file).into()),
        };
        sink.item(self.at, &Value::Object(item), None)
    }

    fn name(&self) -> String {
        let path: Vec<&str> =
            self.headings.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
        if path.is_empty() { self.title.clone() } else { path.join(" › ") }
    }
}

/// The text of a block without its markup.
fn plain<'a>(block: &'a AstNode<'a>) -> String {
    let mut out = String::new();
    for node in block.descendants() {
        match &node.data().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::Code(code) => out.push_str(&code.literal),
            NodeValue::CodeBlock(code) => out.push_str(&code.literal),
            NodeValue::SoftBreak
            | NodeValue::LineBreak
            | NodeValue::Paragraph
            | NodeValue::Item(_)
            | NodeValue::TableCell
                if !out.is_empty() && !out.ends_with(char::is_whitespace) =>
            {
                out.push(' ');
            }
            _ => {}
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;

    const GUIDE: &[u8] = b"---\ntitle: \"Guide\"\n---\nHello *you*.\r\n\r\n# Install\n\nGet `it`.\n\n## Linux\n\n- one\n- two\n\n```\n# no heading\n```\n\n## Linux\n\nAgain\n\n# Use\n";

    #[test]
    fn sections_are_items_named_by_their_headings() {
        let heap = load_bytes(Format::Markdown, GUIDE);
        let expected = ["Guide", "Install", "Install › Linux", "Install › Linux", "Use"];
        assert_eq!(names(&heap), expected);
        let ids: Vec<&str> = heap.items.iter().filter_map(|item| item["@id"].as_str()).collect();
        assert_eq!(ids, ["file", "file#install", "file#linux", "file#linux-1", "file#use"]);
        assert_eq!(heap.items[0]["text"], "Hello you.");
        assert_eq!(heap.items[2]["text"], "one two\n# no heading");
        assert_eq!(heap.lines, [1, 6, 10, 19, 23]);
    }

    #[test]
    fn a_base_makes_urls() {
        let mut heap = super::super::tests::Heap::default();
        let mut input = Input::new(&b"# A b\ntext"[..], "docs/a.md", Some("https://e.org/"));
        load(&mut input, &mut heap).unwrap();
        assert_eq!(heap.items[0]["url"], "https://e.org/docs/a.md#a-b");
    }

    #[test]
    fn a_file_is_too_long_past_the_bound() {
        let file = |bytes: u64| vec![b'x'; bytes as usize];
        // One section of all that is too long for an item, but it was read.
        let skipped = load_bytes(Format::Markdown, &file(MARKDOWN_BYTES_MAX)).skipped;
        assert_eq!(skipped, [(1, Reason::TooLong)]);
        let skipped = load_bytes(Format::Markdown, &file(MARKDOWN_BYTES_MAX + 1)).skipped;
        assert!(matches!(skipped.as_slice(), [(1, Reason::Rest(_))]));
    }

    #[test]
    fn other_encodings_are_refused() {
        assert_eq!(load_bytes(Format::Markdown, b"# \xFF").skipped, [(1, Reason::NotUtf8)]);
    }
}
