//! A page read tag by tag into headings and blocks.

mod blocks;

use html5ever::tokenizer::Tag;

use super::inline::Inline;
use super::table::Table;
use super::{Main, Piece};
use crate::formats::page::markup::attribute;
use crate::limits::{PAGE_DEPTH_MAX, SECTION_BLOCK_BYTES_MAX};

/// Elements whose text is not what a page is about.
const ASIDE: &[&str] = &[
    "script", "style", "noscript", "template", "nav", "footer", "aside", "form", "svg", "iframe", "select", "head",
    "title",
];
/// Elements that end the paragraph before them.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "section",
    "article",
    "main",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "blockquote",
    "table",
    "hr",
    "br",
    "figure",
    "figcaption",
    "details",
    "summary",
    "address",
    "header",
    "tbody",
    "thead",
    "body",
];

/// A page, as far as it has been read.
pub(super) struct Reader<'a> {
    link: &'a dyn Fn(&str) -> Option<String>,
    main: Main,
    main_depth: usize,
    /// Elements open whose text does not count, innermost last.
    aside: Vec<String>,
    /// Lists that are open: the number of the next item, when they are numbered.
    lists: Vec<Option<usize>>,
    quotes: usize,
    /// The level of the heading that is open.
    heading: Option<u8>,
    /// The language of the code that is open, and the code.
    pre: Option<(String, String)>,
    table: Option<Table>,
    inline: Inline,
    /// What the block that is open begins with: the mark of a list's item.
    item: Option<String>,
    /// Of the heading that is open, and of the section around the next one.
    id: Option<String>,
    section: Option<String>,
    pub(super) line: u64,
    pieces: Vec<Piece>,
}

impl<'a> Reader<'a> {
    /// The beginning of a page. `link` makes a link whole.
    pub(super) fn new(link: &'a dyn Fn(&str) -> Option<String>, main: Main) -> Self {
        Self {
            link,
            main,
            main_depth: 0,
            aside: Vec::new(),
            lists: Vec::new(),
            quotes: 0,
            heading: None,
            pre: None,
            table: None,
            inline: Inline::default(),
            item: None,
            id: None,
            section: None,
            line: 1,
            pieces: Vec::new(),
        }
    }

    /// The pieces, at the end of the page.
    pub(super) fn finish(mut self) -> Vec<Piece> {
        self.end_table();
        self.flush();
        self.pieces
    }

    fn is_read(&self) -> bool {
        self.aside.is_empty() && (self.main == Main::Everything || self.main_depth > 0)
    }

    pub(super) fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if self.main == Main::Element(name_of(name)) {
            self.main_depth += 1;
        }
        if is_aside(tag, self.main) && !tag.self_closing {
            self.flush();
            // A page may open as many as it likes; what is deeper is within the innermost that is counted.
            if self.aside.len() < PAGE_DEPTH_MAX {
                self.aside.push(name.to_owned());
            }
        }
        if !self.is_read() {
            return;
        }
        let level = level_of(name);
        if BLOCKS.contains(&name) || name == "pre" || level.is_some() {
            self.flush_unless_inside(name);
        }
        match name {
            "section" | "article" => self.section = attribute(tag, "id").map(str::to_owned),
            "ul" | "ol" if self.lists.len() < PAGE_DEPTH_MAX => {
                self.lists.push((name == "ol").then_some(1));
            }
            "li" => self.begin_item(),
            "dd" => self.item = Some(": ".to_owned()),
            "blockquote" => self.quotes = (self.quotes + 1).min(PAGE_DEPTH_MAX),
            "pre" => self.pre = Some((language(tag), String::new())),
            "code" if self.pre.is_some() => {
                if let Some((known, _)) = self.pre.as_mut().filter(|(known, _)| known.is_empty()) {
                    *known = language(tag);
                }
            }
            "table" => self.table = Some(Table::default()),
            "tr" | "td" | "th" => self.cell(name),
            "br" => self.line_break(),
            _ if level.is_some() => {
                self.heading = level;
                self.id = attribute(tag, "id").map(str::to_owned).or_else(|| self.section.take());
            }
            _ => self.inline_start(tag),
        }
    }

    fn inline_start(&mut self, tag: &Tag) {
        let id = attribute(tag, "id").or_else(|| attribute(tag, "name"));
        if self.heading.is_some() && self.id.is_none() {
            self.id = id.map(str::to_owned);
        }
        if self.pre.is_some() {
            return;
        }
        let link = self.link;
        let whole = |target: &str| link(target).unwrap_or_else(|| target.trim().to_owned());
        self.inline.start(tag, &whole, self.heading.is_some());
    }

    pub(super) fn end(&mut self, name: &str) {
        if let Some(at) = self.aside.iter().rposition(|open| open == name) {
            self.aside.truncate(at);
            return;
        }
        let was_read = self.is_read();
        if self.main == Main::Element(name_of(name)) {
            self.main_depth = self.main_depth.saturating_sub(1);
        }
        if !was_read {
            return;
        }
        match name {
            "pre" => self.end_code(),
            "table" => self.end_table(),
            "td" | "th" | "tr" if self.table.is_some() => self.cell_end(),
            "ul" | "ol" => {
                self.flush();
                self.lists.pop();
            }
            "blockquote" => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            _ if level_of(name).is_some() => self.end_heading(),
            _ if BLOCKS.contains(&name) => self.flush_unless_inside(name),
            _ if self.pre.is_none() => self.inline.end(name),
            _ => {}
        }
    }

    pub(super) fn characters(&mut self, text: &str) {
        if !self.is_read() {
            return;
        }
        match &mut self.pre {
            Some((_, code)) if code.len() + text.len() <= SECTION_BLOCK_BYTES_MAX => code.push_str(text),
            Some(_) => {}
            None => self.inline.text(text),
        }
    }

    fn begin_item(&mut self) {
        let depth = self.lists.len().max(1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => "- ".to_owned(),
        };
        self.item = Some(format!("{}{mark}", "  ".repeat(depth.min(PAGE_DEPTH_MAX) - 1)));
    }

    fn line_break(&mut self) {
        match &mut self.pre {
            Some((_, code)) => code.push('\n'),
            None => self.inline.line_break(),
        }
    }

    fn cell(&mut self, name: &str) {
        let inline = self.inline.take();
        if let Some(table) = &mut self.table {
            table.begin(name, inline);
        }
    }

    fn cell_end(&mut self) {
        let inline = self.inline.take();
        if let Some(table) = &mut self.table {
            table.end(inline);
        }
    }

    /// Blocks within cells and headings are a part of them.
    fn flush_unless_inside(&mut self, name: &str) {
        let is_own = name == "table" || level_of(name).is_some();
        if self.table.is_some() || (self.heading.is_some() && !is_own) {
            return self.inline.text(" ");
        }
        match self.heading {
            Some(_) => self.end_heading(),
            None => self.flush(),
        }
    }
}

fn name_of(name: &str) -> &'static str {
    match name {
        "main" => "main",
        "article" => "article",
        _ => "",
    }
}

fn level_of(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse::<u8>().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// The head of a page is none of its text, but the head of an article is.
fn is_aside(tag: &Tag, main: Main) -> bool {
    let name = &*tag.name;
    let is_hidden = attribute(tag, "hidden").is_some() && !matches!(name, "input" | "br" | "img");
    ASIDE.contains(&name) || (name == "header" && main == Main::Everything) || (is_hidden && BLOCKS.contains(&name))
}

/// The language of code, as highlighters are told.
fn language(tag: &Tag) -> String {
    let classes = attribute(tag, "class").unwrap_or_default().split_ascii_whitespace();
    let named = classes.filter_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")));
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-'));
    named.clone().find(plain).unwrap_or_default().to_owned()
}
