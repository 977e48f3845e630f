//! The content of a page as headings and blocks of markdown, as the tokenizer of a browser sees it. No tree is
//! built, so that a page may be nested as deep as it likes.

mod inline;
mod table;

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use self::inline::Inline;
pub(crate) use self::table::Table;
use super::markup::attribute;
use crate::limits::{PAGE_BLOCKS_MAX, PAGE_DEPTH_MAX, SECTION_BLOCK_BYTES_MAX};

/// Elements whose text is not what a page is about.
const ASIDE: &[&str] = &[
    "script", "style", "noscript", "template", "nav", "footer", "aside", "form", "svg", "iframe", "select", "head",
    "title",
];
/// Elements that end what is being said.
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

/// A piece of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// A heading, and what it is linked by, if that is known.
    Heading { level: u8, text: String, id: Option<String>, line: u64 },
    /// A block: its words, and the same in markdown.
    Block { text: String, markdown: String, line: u64 },
}

/// The pieces of a page. `link` makes a link whole. Of a page that says which part is its main one, that part.
pub(crate) fn read(html: &str, link: &dyn Fn(&str) -> Option<String>) -> Vec<Piece> {
    let main = Main::of(html);
    let reader = Reader {
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
    };
    let mut reader = tokenized(html, Walk(RefCell::new(reader))).0.into_inner();
    reader.end_table();
    reader.flush();
    reader.pieces
}

/// Which part of a page is its main one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Main {
    /// In `main`.
    Element(&'static str),
    /// All of it.
    Everything,
}

impl Main {
    fn of(html: &str) -> Self {
        let seen = tokenized(html, Counts(RefCell::default())).0.into_inner();
        match seen {
            (1.., _) => Self::Element("main"),
            (0, 1) => Self::Element("article"),
            _ => Self::Everything,
        }
    }
}

/// How many `main` and `article` elements there are.
struct Counts(RefCell<(usize, usize)>);

impl TokenSink for Counts {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind == TagKind::StartTag {
            match &*tag.name {
                "main" => self.0.borrow_mut().0 += 1,
                "article" => self.0.borrow_mut().1 += 1,
                name => return raw(name),
            }
        }
        TokenSinkResult::Continue
    }
}

fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "noscript" | "iframe" | "noembed" => TokenSinkResult::RawData(RawKind::Rawtext),
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        _ => TokenSinkResult::Continue,
    }
}

fn tokenized<S: TokenSink>(html: &str, sink: S) -> S {
    let input = BufferQueue::default();
    input.push_back(super::without_endless_tags(html).as_ref().into());
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink
}

struct Walk<'a>(RefCell<Reader<'a>>);

impl TokenSink for Walk<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut reader = self.0.borrow_mut();
        reader.line = line;
        match token {
            Token::CharacterTokens(text) => reader.characters(&text),
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => reader.end(&tag.name),
            Token::TagToken(tag) => {
                reader.start(&tag);
                return raw(&tag.name);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// A page, as far as it has been read.
struct Reader<'a> {
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
    line: u64,
    pieces: Vec<Piece>,
}

impl Reader<'_> {
    fn is_read(&self) -> bool {
        self.aside.is_empty() && (self.main == Main::Everything || self.main_depth > 0)
    }

    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if self.main == Main::Element(name_of(name)) {
            self.main_depth += 1;
        }
        if is_aside(tag, self.main) && !tag.self_closing {
            self.flush();
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

    fn end(&mut self, name: &str) {
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

    fn characters(&mut self, text: &str) {
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

    fn end_heading(&mut self) {
        let Some(level) = self.heading.take() else { return };
        let (text, _) = self.inline.take();
        let id = self.id.take().filter(|id| !id.trim().is_empty());
        if !text.is_empty() {
            self.push(Piece::Heading { level, text, id, line: self.line });
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.pre.take() else { return };
        let code = code.trim_matches('\n').trim_end();
        if !code.is_empty() {
            let markdown = self.placed(&crate::formats::rst::fenced(&language, code));
            self.push(Piece::Block { text: code.to_owned(), markdown, line: self.line });
        }
    }

    fn end_table(&mut self) {
        let Some(mut table) = self.table.take() else { return };
        let inline = self.inline.take();
        table.end(inline);
        let (text, markdown) = table.written();
        if !text.is_empty() {
            self.push(Piece::Block { text, markdown, line: self.line });
        }
    }

    /// The block that is open ends here.
    fn flush(&mut self) {
        if let Some((language, code)) = self.pre.take() {
            self.pre = Some((language, code));
            return self.end_code();
        }
        let (text, markdown) = self.inline.take();
        if text.is_empty() {
            return;
        }
        let is_item = self.item.is_some() || !self.lists.is_empty();
        let markdown = self.placed(&markdown);
        // Items of a list follow each other line by line.
        if let Some(Piece::Block { text: before, markdown: written, .. }) = self.pieces.last_mut()
            && is_item
            && is_list(written)
            && written.len() + markdown.len() <= SECTION_BLOCK_BYTES_MAX
        {
            before.push('\n');
            before.push_str(&text);
            written.push('\n');
            written.push_str(&markdown);
            return;
        }
        self.push(Piece::Block { text, markdown, line: self.line });
    }

    /// A block behind the marks of the quotes and lists that it is in.
    fn placed(&mut self, markdown: &str) -> String {
        let quote = "> ".repeat(self.quotes);
        let (first, rest) = match self.item.take() {
            Some(mark) => {
                let indent = " ".repeat(mark.len());
                (mark, indent)
            }
            None => {
                let indent = "  ".repeat(self.lists.len());
                (indent.clone(), indent)
            }
        };
        let lines = markdown.lines().enumerate();
        let lines = lines.map(|(at, line)| format!("{quote}{}{line}", if at == 0 { &first } else { &rest }));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn push(&mut self, piece: Piece) {
        if self.pieces.len() < PAGE_BLOCKS_MAX {
            self.pieces.push(piece);
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

fn is_list(markdown: &str) -> bool {
    let line = markdown.trim_start();
    line.starts_with("- ")
        || line.starts_with(": ")
        || line.split_once(". ").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The language of code, as highlighters are told.
fn language(tag: &Tag) -> String {
    let classes = attribute(tag, "class").unwrap_or_default().split_ascii_whitespace();
    let named = classes.filter_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")));
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-'));
    named.clone().find(plain).unwrap_or_default().to_owned()
}
