//! The XML of OpenDocument: headings, paragraphs, lists and tables.

use quick_xml::events::{BytesStart, Event};

use super::word::reader;
use crate::formats::feed::attribute;
use crate::formats::html::resolve_entity;
use crate::formats::outline::{Anchor, Outline};
use crate::formats::page::Table;
use crate::formats::{Sink, Stop};
use crate::limits::{PART_DEPTH_MAX, SECTION_BLOCK_BYTES_MAX};

/// Reads the body of a document.
pub(super) fn read(xml: &str, outline: Outline<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut reader = reader(xml);
    let mut body = Body {
        outline,
        depth: 0,
        silent: 0,
        text: None,
        level: 1,
        lists: 0,
        tables: 0,
        table: Table::default(),
        cell: String::new(),
    };
    loop {
        match reader.read_event().map_err(|error| Stop::rest(1, error))? {
            Event::Start(_) if body.depth >= PART_DEPTH_MAX => {
                return Err(Stop::rest(1, "too many elements inside of each other"));
            }
            Event::Start(tag) => body.start(&tag),
            Event::End(tag) => body.end(tag.local_name().as_ref(), sink)?,
            Event::Text(text) => body.words(&text.xml10_content()),
            Event::GeneralRef(name) => body.words(resolve_entity(&name).unwrap_or(' ').encode_utf8(&mut [0; 4])),
            Event::Eof => break,
            _ => {}
        }
    }
    body.outline.finish(sink)
}

struct Body<'a> {
    outline: Outline<'a>,
    depth: usize,
    /// Elements open whose text does not count: notes, changes, tables of contents.
    silent: usize,
    /// The heading or paragraph that is open.
    text: Option<String>,
    level: u8,
    lists: usize,
    tables: usize,
    table: Table,
    cell: String,
}

impl Body<'_> {
    fn words(&mut self, words: &str) {
        let Some(text) = self.text.as_mut().filter(|_| self.silent == 0) else { return };
        if text.len() + words.len() <= SECTION_BLOCK_BYTES_MAX {
            text.push_str(words);
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        match tag.local_name().as_ref() {
            "note" | "annotation" | "tracked-changes" | "table-of-content" => self.silent += 1,
            "h" => {
                self.text = Some(String::new());
                let level = attribute(tag, "text:outline-level").and_then(|level| level.parse().ok());
                self.level = level.unwrap_or(1);
            }
            "p" if self.text.is_none() => self.text = Some(String::new()),
            "s" | "tab" | "line-break" => self.words(" "),
            "list" => self.lists += 1,
            "table" => self.tables += 1,
            // A table within a cell is text of that cell.
            "table-row" if self.tables == 1 => self.table.row(),
            _ => {}
        }
    }

    fn end(&mut self, local: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.depth = self.depth.saturating_sub(1);
        match local {
            "note" | "annotation" | "tracked-changes" | "table-of-content" => {
                self.silent = self.silent.saturating_sub(1)
            }
            "h" | "p" => return self.end_text(local == "h", sink),
            "list" => self.lists = self.lists.saturating_sub(1),
            "table-cell" if self.tables == 1 => {
                let cell = std::mem::take(&mut self.cell);
                self.table.cell(cell.trim().to_owned(), cell.trim());
            }
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    let (text, markdown) = std::mem::take(&mut self.table).written();
                    return if text.is_empty() { Ok(()) } else { self.outline.block(&text, &markdown, 1, sink) };
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_text(&mut self, is_heading: bool, sink: &mut dyn Sink) -> Result<(), Stop> {
        if self.silent > 0 {
            return Ok(());
        }
        let text = self.text.take().unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.is_empty() {
            true => Ok(()),
            false if self.tables > 0 => {
                if self.cell.len() + text.len() <= SECTION_BLOCK_BYTES_MAX {
                    self.cell.push_str(&text);
                    self.cell.push(' ');
                }
                Ok(())
            }
            false if is_heading => self.outline.heading(self.level, &text, Anchor::Unknown, 1, sink),
            false => {
                let item = (self.lists > 0).then(|| format!("{}- {text}", "  ".repeat(self.lists.min(10) - 1)));
                self.outline.block(&text, item.as_deref().unwrap_or(&text), 1, sink)
            }
        }
    }
}
