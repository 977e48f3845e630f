//! The XML of Word: paragraphs, headings by their styles, lists, tables and links.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::formats::feed::attribute;
use crate::formats::html::resolve_entity;
use crate::formats::outline::{Anchor, Outline};
use crate::formats::page::Table;
use crate::formats::{Sink, Stop};
use crate::limits::{PART_DEPTH_MAX, SECTION_BLOCK_BYTES_MAX};

/// The styles and links that other parts of the file define.
#[derive(Default)]
pub(super) struct Names {
    /// Levels of headings, by the ids of styles.
    levels: HashMap<String, u8>,
    /// Where links lead, by their ids.
    links: HashMap<String, String>,
}

impl Names {
    pub(super) fn of(styles: &str, links: &str) -> Self {
        let mut names = Self::default();
        let mut style = String::new();
        each_tag(styles, &mut |local, tag| match local {
            "style" => style = attribute(tag, "w:styleId").unwrap_or_default(),
            "name" => {
                let name = attribute(tag, "w:val").unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                let level = level.or((name == "title").then_some(1));
                names.levels.extend(level.map(|level| (style.clone(), level)));
            }
            "outlineLvl" => {
                let level =
                    // 9 is body text (ECMA-376).
                    attribute(tag, "w:val").and_then(|level| level.parse::<u8>().ok()).filter(|level| *level < 9);
                names.levels.extend(level.map(|level| (style.clone(), level + 1)));
            }
            _ => {}
        });
        each_tag(links, &mut |local, tag| {
            if local == "Relationship"
                && let (Some(id), Some(target)) = (attribute(tag, "Id"), attribute(tag, "Target"))
            {
                names.links.insert(id, target);
            }
        });
        names
    }

    fn level(&self, style: &str) -> Option<u8> {
        self.levels
            .get(style)
            .copied()
            .or_else(|| style.strip_prefix("Heading")?.parse().ok())
            .filter(|level| *level > 0)
    }
}

/// Visits the tags of a part that begin something. What is broken ends it.
fn each_tag(xml: &str, take: &mut dyn FnMut(&str, &BytesStart<'_>)) {
    let mut reader = reader(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => take(tag.local_name().as_ref(), &tag),
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// A reader that takes XML as it comes.
pub(super) fn reader(xml: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    reader
}

/// The title that a file says it has.
pub(super) fn title(about: &str) -> String {
    let mut reader = reader(about);
    let (mut is_open, mut title) = (false, String::new());
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => is_open = tag.local_name().as_ref() == "title",
            Ok(Event::Text(text)) if is_open => title.push_str(&text.xml10_content()),
            Ok(Event::GeneralRef(name)) if is_open => title.extend(resolve_entity(&name)),
            Ok(Event::End(_)) if is_open => return title,
            Ok(Event::Eof) | Err(_) => return String::new(),
            Ok(_) => {}
        }
    }
}

/// Reads the body of a document.
pub(super) fn read(xml: &str, names: &Names, outline: Outline<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut reader = reader(xml);
    let mut body = Body {
        names,
        outline,
        depth: 0,
        table: None,
        cell: Paragraph::default(),
        open: Paragraph::default(),
        is_text: false,
    };
    loop {
        match reader.read_event().map_err(|error| Stop::rest(1, error))? {
            Event::Start(_) if body.depth >= PART_DEPTH_MAX => {
                return Err(Stop::rest(1, "too many elements inside of each other"));
            }
            Event::Start(tag) => body.start(&tag),
            Event::End(tag) => body.end(tag.local_name().as_ref(), sink)?,
            Event::Text(text) if body.is_text => body.open.text(&text.xml10_content()),
            Event::CData(text) if body.is_text => body.open.text(&text.xml10_content()),
            Event::GeneralRef(name) if body.is_text => {
                let c = resolve_entity(&name).unwrap_or(' ');
                body.open.text(c.encode_utf8(&mut [0; 4]));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    body.outline.finish(sink)
}

struct Body<'a> {
    names: &'a Names,
    outline: Outline<'a>,
    depth: usize,
    /// The outermost table that is open, and how many are in it.
    table: Option<(Table, usize)>,
    cell: Paragraph,
    open: Paragraph,
    is_text: bool,
}

/// A paragraph, as far as it has been read.
#[derive(Default)]
struct Paragraph {
    text: String,
    markdown: String,
    style: String,
    /// The level of the list that it is an item of.
    list: Option<usize>,
    is_bold: bool,
    /// Where the link leads that is open, and where it begins.
    link: Option<(String, usize)>,
}

impl Paragraph {
    fn text(&mut self, text: &str) {
        if self.text.len() + text.len() > SECTION_BLOCK_BYTES_MAX {
            return;
        }
        self.text.push_str(text);
        let bold = self.is_bold && !text.trim().is_empty();
        let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
        match bold {
            true => {
                let parts = [&text[..start], "**", &text[start..end], "**", &text[end..]];
                parts.iter().for_each(|part| self.markdown.push_str(part));
            }
            false => self.markdown.push_str(text),
        }
    }

    fn end_link(&mut self) {
        let Some((target, from)) = self.link.take() else { return };
        let Some(text) = self.markdown.get(from..).filter(|text| !text.trim().is_empty()) else { return };
        let linked = format!("[{text}]({target})");
        self.markdown.truncate(from);
        self.markdown.push_str(&linked);
    }
}

impl Body<'_> {
    fn start(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        let value = |key: &str| attribute(tag, key);
        match tag.local_name().as_ref() {
            "t" => self.is_text = true,
            "tab" | "br" | "cr" => self.open.text(" "),
            "pStyle" => self.open.style = value("w:val").unwrap_or_default(),
            "ilvl" => self.open.list = value("w:val").and_then(|level| level.parse().ok()),
            // The number 0 takes a paragraph out of the list of its style (ECMA-376).
            "numId" => {
                self.open.list = Some(self.open.list.unwrap_or(0)).filter(|_| value("w:val").as_deref() != Some("0"))
            }
            "r" => self.open.is_bold = false,
            "b" => self.open.is_bold = !matches!(value("w:val").as_deref(), Some("0" | "false")),
            "hyperlink" => {
                let target = value("r:id").and_then(|id| self.names.links.get(&id).cloned());
                self.open.link = target.map(|target| (target, self.open.markdown.len()));
            }
            "tbl" => match &mut self.table {
                Some((_, inside)) => *inside += 1,
                None => self.table = Some((Table::default(), 0)),
            },
            "tr" => {
                if let Some((table, 0)) = &mut self.table {
                    table.row();
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, local: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.depth = self.depth.saturating_sub(1);
        match local {
            "t" => self.is_text = false,
            "r" => self.open.is_bold = false,
            "hyperlink" => self.open.end_link(),
            "p" => return self.end_paragraph(sink),
            "tc" => {
                if let Some((table, 0)) = &mut self.table {
                    let Paragraph { text, markdown, .. } = std::mem::take(&mut self.cell);
                    table.cell(text.trim().to_owned(), markdown.trim());
                }
            }
            "tbl" => return self.end_table(sink),
            _ => {}
        }
        Ok(())
    }

    fn end_paragraph(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.open.end_link();
        let Paragraph { text, markdown, style, list, .. } = std::mem::take(&mut self.open);
        let (text, markdown) = (text.trim(), markdown.trim());
        if text.is_empty() {
            return Ok(());
        }
        if self.table.is_some() {
            self.cell.text(text);
            self.cell.text(" ");
            return Ok(());
        }
        if let Some(level) = self.names.level(&style) {
            return self.outline.heading(level, text, Anchor::Unknown, 1, sink);
        }
        let item = list.map(|level| format!("{}- {markdown}", "  ".repeat(level.min(9))));
        self.outline.block(text, item.as_deref().unwrap_or(markdown), 1, sink)
    }

    fn end_table(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        match self.table.take() {
            Some((table, 0)) => {
                let (text, markdown) = table.written();
                if text.is_empty() { Ok(()) } else { self.outline.block(&text, &markdown, 1, sink) }
            }
            Some((table, inside)) => {
                self.table = Some((table, inside - 1));
                Ok(())
            }
            None => Ok(()),
        }
    }
}
