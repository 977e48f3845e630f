//! The content of a page as headings and blocks of markdown, as the tokenizer of a browser sees it. No tree is
//! built, so that a page may be nested as deep as it likes.

mod inline;
mod reader;
mod table;

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use self::reader::Reader;
pub(crate) use self::table::Table;

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
    tokenized(html, Walk(RefCell::new(Reader::new(link, Main::of(html))))).0.into_inner().finish()
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
        // No tree is built, so nobody else tells the tokenizer in which elements `<` begins no tag.
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
