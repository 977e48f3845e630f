//! Plain text and reStructuredText: headings are lines with a line of `=`, `-` or the like under them.

use super::outline::{Anchor, Outline};
use super::whole::whole_text;
use super::{Input, Sink, Stop, rst};
use crate::limits::HEADING_BYTES_MAX;

/// Plain text. A text without headings goes by its first line, if that is short enough to be a title.
pub(super) fn load_text(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(text) = whole_text(input, sink)? else { return Ok(()) };
    let mut outline = Outline::new(input, input.at().bytes);
    let lines: Vec<&str> = text.lines().collect();
    if headings(&lines).next().is_none() {
        outline.titled(title(&lines));
    }
    let mut levels = Levels::default();
    each_section(&lines, |found| match found {
        MarkupPart::Heading { text, style, line } => {
            // Neither format says which adornment is which level: the order of their first use does
            // (reStructuredText).
            let level = levels.of(style);
            outline.heading(level, text, Anchor::Unknown, line, sink)
        }
        MarkupPart::Body { lines, line } => {
            paragraphs(lines, line).try_for_each(|(text, line)| outline.block(&text, &text, line, sink))
        }
    })?;
    outline.finish(sink)
}

/// reStructuredText.
pub(super) fn load_rst(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(text) = whole_text(input, sink)? else { return Ok(()) };
    let mut outline = Outline::new(input, input.at().bytes);
    let lines: Vec<&str> = text.lines().collect();
    let mut levels = Levels::default();
    each_section(&lines, |found| match found {
        MarkupPart::Heading { text, style, line } => {
            let level = levels.of(style);
            outline.heading(level, &rst::plain(text), Anchor::Made, line, sink)
        }
        MarkupPart::Body { lines, line } => rst::blocks(lines).into_iter().try_for_each(|block| {
            let link = |link: &str| outline.resolved(link);
            let (text, markdown) = rst::written(&block, &link);
            outline.block(&text, &markdown, line + block.line as u64, sink)
        }),
    })?;
    outline.finish(sink)
}

/// A part of a text.
enum MarkupPart<'l, 't> {
    /// A heading, and how it is adorned: with what, and whether above too.
    Heading { text: &'t str, style: (char, bool), line: u64 },
    /// What is between two headings. `line` is where it begins.
    Body { lines: &'l [&'t str], line: u64 },
}

/// The levels of adornments, in the order in which a document uses them first.
#[derive(Default)]
struct Levels(Vec<(char, bool)>);

impl Levels {
    fn of(&mut self, style: (char, bool)) -> u8 {
        let at = self.0.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.0.push(style);
            self.0.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(u8::MAX)
    }
}

fn each_section<'t>(
    lines: &[&'t str],
    mut take: impl FnMut(MarkupPart<'_, 't>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut from = 0;
    for (first, last, text) in headings(lines) {
        // The line below one heading may be the line above the next one; it belongs to the first.
        if first < from {
            continue;
        }
        take(MarkupPart::Body { lines: &lines[from..first], line: from as u64 + 1 })?;
        let style = (lines[last].trim().chars().next().unwrap_or('='), last - first == 2);
        take(MarkupPart::Heading { text, style, line: first as u64 + 1 })?;
        from = last + 1;
    }
    take(MarkupPart::Body { lines: &lines[from..], line: from as u64 + 1 })
}

/// Headings: the first and the last line of each, and its text.
fn headings<'l, 't>(lines: &'l [&'t str]) -> impl Iterator<Item = (usize, usize, &'t str)> + 'l {
    (1..lines.len()).filter_map(move |at| {
        let mark = adornment(lines[at])?;
        let text = lines[at - 1];
        let is_text = adornment(text).is_none() && !text.trim().is_empty() && text.len() <= HEADING_BYTES_MAX;
        let over = at.checked_sub(2).filter(|over| adornment(lines[*over]) == Some(mark));
        // Without a line above, a heading is not indented; else it is a table or a list.
        let is_heading = is_text && (over.is_some() || !text.starts_with(char::is_whitespace));
        // A line that is shorter than the text above it underlines nothing.
        let covers = lines[at].trim_end().len() >= text.trim().chars().count().min(HEADING_BYTES_MAX);
        // In the middle of a paragraph, a line of dashes ends a table or divides text.
        let is_alone = over.is_some() || at < 2 || lines[at - 2].trim().is_empty();
        (is_heading && covers && is_alone).then(|| (over.unwrap_or(at - 1), at, text.trim()))
    })
}

/// What a line is made of, when it is three or more of one sign.
fn adornment(line: &str) -> Option<char> {
    const SIGNS: &str = "=-~^\"'`#*+:._<>!$%&";
    let line = line.trim_end();
    let first = line.chars().next().filter(|first| SIGNS.contains(*first))?;
    (line.len() >= 3 && line.chars().all(|c| c == first)).then_some(first)
}

fn title<'t>(lines: &[&'t str]) -> &'t str {
    let first = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
    const TITLE_CHARS_MAX: usize = 100;
    if first.chars().count() <= TITLE_CHARS_MAX { first } else { "" }
}

/// Runs of lines without an empty one between them, and the line on which each begins.
fn paragraphs(lines: &[&str], from: u64) -> impl Iterator<Item = (String, u64)> {
    let mut at = from;
    lines.split(|line| line.trim().is_empty()).filter_map(move |part| {
        let line = at;
        at += part.len() as u64 + 1;
        (!part.is_empty()).then(|| (part.join("\n"), line))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use crate::item::SECTION;
    use proptest::prelude::*;

    #[test]
    fn texts_have_a_title_and_headings() {
        let heap = load_bytes(Format::Text, b"Opening hours\n\nMonday to Friday.\n\nAnd Sunday.\n");
        assert_eq!(names(&heap), ["Opening hours"]);
        assert_eq!(heap.items[0][SECTION]["markdown"], "Opening hours\n\nMonday to Friday.\n\nAnd Sunday.");
        let heap = load_bytes(Format::Text, b"House rules\n===========\n\nBe kind.\n\nPets\n----\nNo dogs.\nNone.\n");
        assert_eq!(names(&heap), ["House rules", "House rules \u{203A} Pets"]);
        assert_eq!(heap.items[1]["text"], "No dogs.\nNone.");
        assert_eq!(heap.lines, [1, 6]);
    }

    #[test]
    fn restructured_text_has_levels_by_their_first_use() {
        let rst = b"=====\nGuide\n=====\n\nIntro with ``code``.\n\nInstall\n=======\n\n.. code-block:: sh\n\n   get it\n   run it\n\nLinux\n-----\n\nSee `the site <https://e.org/>`_ and :ref:`other part <x>`.\n\nUse\n===\n\nText::\n\n    literal\n\nafter\n";
        let heap = load_bytes(Format::Rst, rst);
        assert_eq!(
            names(&heap),
            ["Guide", "Guide \u{203A} Install", "Guide \u{203A} Install \u{203A} Linux", "Guide \u{203A} Use"]
        );
        let written = |at: usize| heap.items[at][SECTION]["markdown"].as_str().unwrap().to_owned();
        assert_eq!(written(0), "Intro with `code`.");
        assert_eq!(written(1), "```sh\nget it\nrun it\n```");
        assert_eq!(written(2), "See [the site](https://e.org/) and other part.");
        assert_eq!(written(3), "Text:\n\n```\nliteral\n```\n\nafter");
        assert_eq!(heap.items[1]["@id"], "file#install");
        assert_eq!(heap.items[1]["text"], "get it\nrun it");
    }

    #[test]
    fn tables_and_rules_are_no_headings() {
        let rst = b"A\n=\n\n=====  =====\nName   Value\n=====  =====\na      1\n=====  =====\n\n- one\n- two\n";
        let heap = load_bytes(Format::Rst, rst);
        assert_eq!(names(&heap).len(), 1);
        assert!(heap.items[0][SECTION]["markdown"].as_str().unwrap().contains("a      1"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(=|-|a|\\.\\. |::|`|_|<|>| |\n|   |note|code-block|\\|){0,80}") {
            for format in [Format::Text, Format::Rst] {
                load_bytes(format, text.as_bytes());
            }
        }
    }
}
