//! Markdown and MDX: an item per section, with anchors as GitHub makes them.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, format_commonmark, parse_document};

use super::outline::{Anchor, Outline};
use super::whole::whole_text;
use super::{Input, Sink, Stop, mdx};

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(text) = whole_text(input, sink)? else { return Ok(()) };
    sections(&text, input, sink)
}

/// Markdown with JSX in it: of that, what is between the tags is read.
pub(super) fn load_mdx(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(text) = whole_text(input, sink)? else { return Ok(()) };
    sections(&mdx::without_jsx(&text), input, sink)
}

fn sections(text: &str, input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let arena = Arena::new();
    let document = parse_document(&arena, text, &reading_options(text));
    let mut outline = Outline::new(input, input.at().bytes);
    let lines: Vec<&str> = text.lines().collect();
    for block in document.children() {
        take(block, &lines, &mut outline, sink)?;
    }
    outline.finish(sink)
}

/// The lines around a front matter: of YAML, and of TOML.
const FRONT_MATTER: [&str; 2] = ["---", "+++"];

fn reading_options(text: &str) -> Options<'static> {
    let mut options = options();
    let delimiter = FRONT_MATTER.into_iter().find(|delimiter| text.starts_with(delimiter));
    options.extension.front_matter_delimiter = delimiter.map(str::to_owned);
    options
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options
}

fn take<'a>(
    block: &'a AstNode<'a>,
    lines: &[&str],
    outline: &mut Outline<'_>,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let (from, to, level) = {
        let data = block.data();
        let level = match &data.value {
            NodeValue::Heading(heading) => Some(heading.level),
            NodeValue::FrontMatter(text) => {
                front_matter(text, outline);
                return Ok(());
            }
            _ => None,
        };
        (data.sourcepos.start.line, data.sourcepos.end.line, level)
    };
    let text = plain(block);
    match level {
        Some(level) => outline.heading(level, &text, Anchor::Made, from as u64, sink),
        None => {
            // As the author wrote it: written anew, every block would look a little different.
            let written = lines.get(from.saturating_sub(1)..to.min(lines.len())).unwrap_or_default().join("\n");
            let written = whole_links(block, written, outline);
            outline.block(&text, &written, from as u64, sink)
        }
    }
}

/// Takes the title; the rest of a front matter is for other programs.
fn front_matter(text: &str, outline: &mut Outline<'_>) {
    // In TOML a table begins with a bracket, and what is called a title there is another one's.
    let lines = text.lines().take_while(|line| !line.starts_with('['));
    let mut titles = lines.filter_map(|line| line.strip_prefix("title")?.trim_start().strip_prefix([':', '=']));
    let title = titles.next();
    outline.titled(title.unwrap_or_default().trim().trim_matches(['"', '\'']));
}

/// How a block is written, with links that lead somewhere from elsewhere too. A block whose links are named at
/// another place in the document, or would lead nowhere, is written anew.
fn whole_links<'a>(block: &'a AstNode<'a>, written: String, outline: &Outline<'_>) -> String {
    let mut is_changed = false;
    for node in block.descendants() {
        if let NodeValue::Link(link) | NodeValue::Image(link) = &mut node.data_mut().value {
            // An address that is not in the block is defined elsewhere in the document. `mailto:` is added by the
            // parser.
            is_changed |= !link.url.is_empty() && !written.contains(&link.url) && !link.url.starts_with("mailto:");
            if let Some(whole) = outline.resolved(&link.url) {
                link.url = whole;
                is_changed = true;
            }
        }
    }
    let mut anew = String::new();
    match is_changed && format_commonmark(block, &options(), &mut anew).is_ok() {
        true => anew,
        false => written,
    }
}

/// The text of a block without its markup.
fn plain<'a>(block: &'a AstNode<'a>) -> String {
    let mut out = String::new();
    for node in block.descendants() {
        match &node.data().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::Code(code) => out.push_str(&code.literal),
            NodeValue::CodeBlock(code) => {
                if !out.is_empty() && !out.ends_with(char::is_whitespace) {
                    out.push('\n');
                }
                out.push_str(&code.literal);
            }
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
    use super::super::tests::{Heap, load_bytes, names};
    use super::super::{Format, Reason};
    use super::*;
    use crate::item::SECTION;
    use crate::limits::TEXT_FILE_BYTES_MAX;

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
    fn a_front_matter_of_toml_is_no_text() {
        let page = b"+++\ntitle = 'Opening hours'\ndate = 2026-01-01\n[menu.main]\ntitle = \"Menu\"\n+++\nFrom nine to five.\n";
        let heap = load_bytes(Format::Markdown, page);
        assert_eq!((names(&heap), &heap.items[0]["text"]), (vec!["Opening hours"], &"From nine to five.".into()));
        let unclosed = load_bytes(Format::Markdown, b"+++\ntitle = 'x'\n\n# A\n\ntext\n");
        assert!(names(&unclosed).iter().any(|name| name.ends_with('A')), "{:?}", names(&unclosed));
    }

    #[test]
    fn a_section_is_kept_as_it_is_written() {
        let heap = load_bytes(Format::Markdown, GUIDE);
        assert_eq!(heap.items[0][SECTION]["markdown"], "Hello *you*.");
        assert_eq!(heap.items[2][SECTION]["markdown"], "- one\n- two\n\n```\n# no heading\n```");
        assert_eq!(heap.items[2][SECTION]["anchor"], "linux");
        let table = "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n    indented\n";
        let heap = load_bytes(Format::Markdown, table.as_bytes());
        assert_eq!(heap.items[0][SECTION]["markdown"], "| a | b |\n|---|---|\n| 1 | 2 |\n\n    indented");
    }

    #[test]
    fn links_are_made_whole_and_code_is_left_alone() {
        let text = "# A\n\nSee [b](b.md#x), ![pic](../p.png) and [there][ref].\n\n```\n[b](b.md)\n```\n\n[ref]: https://o.org/\n";
        let mut heap = Heap::default();
        let mut input = Input::new(text.as_bytes(), "docs/a.md", Some("https://e.org/"));
        load(&mut input, &mut heap).unwrap();
        let written = heap.items[0][SECTION]["markdown"].as_str().unwrap();
        assert!(written.contains("[b](https://e.org/docs/b.md#x)"), "{written}");
        assert!(written.contains("![pic](https://e.org/p.png)"), "{written}");
        assert!(written.contains("[there](https://o.org/)"), "{written}");
        assert!(written.contains("```\n[b](b.md)\n```"), "{written}");
    }

    #[test]
    fn a_base_makes_urls() {
        let mut heap = Heap::default();
        let mut input = Input::new(&b"# A b\ntext"[..], "docs/a.md", Some("https://e.org/"));
        load(&mut input, &mut heap).unwrap();
        assert_eq!(heap.items[0]["url"], "https://e.org/docs/a.md#a-b");
    }

    #[test]
    fn a_file_is_too_long_past_the_bound() {
        let file = |bytes: u64| vec![b'x'; bytes as usize];
        // One section of all that is too long for an item, but it was read.
        let skipped = load_bytes(Format::Markdown, &file(TEXT_FILE_BYTES_MAX)).skipped;
        assert_eq!(skipped, [(1, Reason::TooLong)]);
        let skipped = load_bytes(Format::Markdown, &file(TEXT_FILE_BYTES_MAX + 1)).skipped;
        assert!(matches!(skipped.as_slice(), [(1, Reason::Rest(_))]));
    }

    #[test]
    fn other_encodings_are_read() {
        assert_eq!(names(&load_bytes(Format::Markdown, b"# Caf\xE9\n\ntext")), ["Café"]);
    }
}
