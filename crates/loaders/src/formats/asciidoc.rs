//! AsciiDoc: sections, code, tables, lists and links, as far as they can be told line by line.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::outline::{Anchor, Outline};
use super::page::Table;
use super::rst::fenced;
use super::whole::whole_text;
use super::{Input, Sink, Stop};

static LINK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:link:|xref:)?((?:https?://|mailto:)?[^\s\[\]<>,]+)\[([^\]]*)\]").ok());
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<<[^,>]*(?:,\s*([^>]*))?>>").ok());
/// Words in front of a paragraph that make it a note.
const NOTES: &[&str] = &["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"];

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(text) = whole_text(input, sink)? else { return Ok(()) };
    let mut outline = Outline::new(input, input.at().bytes);
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { lines: &lines, at: 0, language: String::new() };
    while reader.at < lines.len() {
        reader.block(&mut outline, sink)?;
    }
    outline.finish(sink)
}

struct Reader<'l> {
    lines: &'l [&'l str],
    at: usize,
    /// The language of the next block of code, as `[source,sh]` names it.
    language: String,
}

impl Reader<'_> {
    fn block(&mut self, outline: &mut Outline<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (line, number) = (self.lines[self.at].trim_end(), self.at as u64 + 1);
        if line.is_empty() || is_silent(line) {
            self.note_language(line);
            self.at += 1;
            return Ok(());
        }
        if let Some((level, text)) = heading(line) {
            self.at += 1;
            // `=` is the title of the document and `==` begins its first sections: both are level 1 here.
            let level = level.saturating_sub(1).max(1);
            return outline.heading(level, &plain(text), Anchor::Made, number, sink);
        }
        if matches!(line, "----" | "...." | "++++" | "```") {
            let code = self.until(line).join("\n");
            let language = std::mem::take(&mut self.language);
            return outline.block(&code, &fenced(&language, &code), number, sink);
        }
        if line.starts_with("|===") {
            let (text, markdown) = table(&self.until("|===")).written();
            return outline.block(&text, &markdown, number, sink);
        }
        // Marks around blocks of text: what is between them is read as if they were not there.
        if matches!(line, "====" | "****" | "____" | "--") {
            self.at += 1;
            return Ok(());
        }
        let paragraph = self.paragraph();
        let said = paragraph.join("\n");
        let note = NOTES.iter().find(|note| said.strip_prefix(**note).is_some_and(|rest| rest.starts_with(": ")));
        let link = |link: &str| outline.resolved(link);
        let markdown = match note {
            Some(note) => format!("> **{note}**{}", inline(&said[note.len()..], &link).replace('\n', "\n> ")),
            None => paragraph.iter().map(|line| inline(&item(line), &link)).collect::<Vec<_>>().join("\n"),
        };
        outline.block(&plain(&said), &markdown, number, sink)
    }

    /// The lines up to the next one like this, or the end.
    fn until(&mut self, mark: &str) -> Vec<&str> {
        let rest = &self.lines[self.at + 1..];
        let length = rest.iter().position(|line| line.trim_end() == mark).unwrap_or(rest.len());
        // Behind the closing mark, or at the end of a text that lacks it: an open block reaches no further.
        self.at += (length + 2).min(rest.len() + 1);
        rest[..length].to_vec()
    }

    fn paragraph(&mut self) -> Vec<&str> {
        let rest = &self.lines[self.at..];
        let ends = |line: &&str| line.trim().is_empty() || matches!(line.trim_end(), "----" | "|===" | "====");
        // One line at least: a paragraph that takes none would be read for ever.
        let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
        self.at += length;
        rest[..length].iter().filter(|line| line.trim() != "+").copied().collect()
    }

    fn note_language(&mut self, line: &str) {
        if let Some(said) = line.strip_prefix("[source").or_else(|| line.strip_prefix("[,")) {
            let language = said.trim_start_matches(',').trim_end_matches(']').split(',').next();
            self.language = language.unwrap_or_default().trim().to_owned();
        }
    }
}

/// Attributes, comments, marks of blocks and their titles.
fn is_silent(line: &str) -> bool {
    let is_attribute = line.strip_prefix(':').is_some_and(|rest| rest.contains(':'));
    let is_mark = line.starts_with('[') && line.ends_with(']');
    let directive = ["include::", "toc::", "ifdef::", "ifndef::", "endif::"].iter().any(|name| line.starts_with(name));
    is_attribute || is_mark || directive || (line.starts_with("//") && !line.starts_with("///"))
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'=').count();
    let text = line[level..].strip_prefix(' ')?;
    Some((u8::try_from(level).ok().filter(|level| (1..=6).contains(level))?, text))
}

/// `* item` and `. item` as markdown writes them.
fn item(line: &str) -> String {
    let (mark, rest) = line.trim_start().split_once(' ').unwrap_or_default();
    let depth = "  ".repeat(mark.len().saturating_sub(1).min(9));
    match mark.chars().next() {
        Some('*' | '-') if mark.chars().all(|c| c == '*' || c == '-') => format!("{depth}- {rest}"),
        Some('.') if mark.chars().all(|c| c == '.') => format!("{depth}1. {rest}"),
        _ => line.to_owned(),
    }
}

fn table(lines: &[&str]) -> Table {
    let mut table = Table::default();
    // A row may have each cell on a line of its own: the widest line tells how many cells make a row.
    let width = lines.iter().map(|line| line.matches('|').count()).max().unwrap_or(1).max(1);
    let mut cells = 0;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        for cell in line.split('|').skip(1) {
            if cells % width == 0 {
                table.row();
            }
            table.cell(plain(cell.trim()), cell.trim());
            cells += 1;
        }
    }
    table
}

fn plain(text: &str) -> String {
    let text = replaced(&LINK, text, |found| if found[2].is_empty() { &found[1] } else { &found[2] }.to_owned());
    let text = replaced(&REFERENCE, &text, |found| found.get(1).map_or("", |text| text.as_str()).to_owned());
    text.replace(['`', '*'], "")
}

fn inline(text: &str, link: &dyn Fn(&str) -> Option<String>) -> String {
    let text = replaced(&LINK, text, |found| {
        let target = link(&found[1]).unwrap_or_else(|| found[1].to_owned());
        let is_image = found[0].starts_with("image:");
        let target = target.trim_start_matches("image::").trim_start_matches("image:");
        let name = if found[2].is_empty() { target } else { &found[2] };
        format!("{}[{name}]({target})", if is_image { "!" } else { "" })
    });
    replaced(&REFERENCE, &text, |found| found.get(1).map_or("", |text| text.as_str()).to_owned())
}

fn replaced(pattern: &LazyLock<Option<Regex>>, text: &str, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.as_ref() {
        Some(pattern) => pattern.replace_all(text, |found: &Captures<'_>| with(found)).into_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use crate::item::SECTION;
    use proptest::prelude::*;

    #[test]
    fn sections_keep_code_tables_and_links() {
        let text = "= Guide\n:toc:\n\nIntro.\n\n== Install\n\n[source,sh]\n----\nget it\n----\n\nNOTE: See https://e.org/x[the site].\n\n|===\n|a |b\n|1 |2\n|===\n\n* one\n** two\n";
        let heap = load_bytes(Format::AsciiDoc, text.as_bytes());
        assert_eq!(names(&heap), ["Guide", "Install"]);
        let written = heap.items[1][SECTION]["markdown"].as_str().unwrap();
        assert_eq!(
            written,
            "```sh\nget it\n```\n\n> **NOTE**: See [the site](https://e.org/x).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n  - two"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(=|-|\\*|\\.|\\|===|----|a|\\[|\\]|<<|>>|:|https://e| |\n){0,80}") {
            load_bytes(Format::AsciiDoc, text.as_bytes());
        }
    }
}
