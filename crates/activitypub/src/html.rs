//! HTML of others into words, and answers into the HTML that servers keep.
//!
//! | file | holds |
//! |---|---|
//! | `text.rs` | what was said in a note |
//! | `narrow.rs` | an answer within the elements that Mastodon keeps, cut to a length |

mod narrow;
mod text;

use std::cell::{Cell, RefCell};

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

pub(crate) use narrow::{escape, narrow};
pub(crate) use text::to_text;

use crate::limits::TAG_BYTES_MAX;

/// Bytes that are read between two looks at how long a tag is.
const BITE_BYTES: usize = 1024;

/// One piece of HTML.
#[derive(Debug)]
enum Piece {
    Start(Tag),
    /// The name of an element that ends.
    End(String),
    Text(String),
}

/// The pieces of HTML in their order, as the tokenizer of a browser sees them.
fn pieces(html: &str) -> Vec<Piece> {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    feed(&tokenizer, html);
    tokenizer.end();
    tokenizer.sink.pieces.into_inner()
}

/// The same of HTML of others, up to the first tag or comment of more than [`TAG_BYTES_MAX`]: the tokenizer compares
/// each attribute of a tag with all before it, so that a note that is one tag would keep it busy for seconds.
fn pieces_of_others(html: &str) -> Vec<Piece> {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let (mut rest, mut told, mut untold_bytes) = (html, 0, 0);
    while !rest.is_empty() && untold_bytes < TAG_BYTES_MAX {
        let (bite, behind) = rest.split_at(rest.floor_char_boundary(BITE_BYTES));
        feed(&tokenizer, bite);
        // While a tag is open nothing is told but faults.
        let now_told = tokenizer.sink.told.get();
        untold_bytes = if now_told == told { untold_bytes + bite.len() } else { 0 };
        (rest, told) = (behind, now_told);
    }
    tokenizer.end();
    tokenizer.sink.pieces.into_inner()
}

fn feed(tokenizer: &Tokenizer<Sink>, html: &str) {
    let input = BufferQueue::default();
    input.push_back(html.into());
    // Stops at scripts only, when asked to.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
}

#[derive(Default)]
struct Sink {
    pieces: RefCell<Vec<Piece>>,
    /// How many tokens there were, faults apart.
    told: Cell<usize>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if !matches!(token, Token::ParseError(_)) {
            self.told.set(self.told.get() + 1);
        }
        let mut pieces = self.pieces.borrow_mut();
        match token {
            Token::CharacterTokens(text) => pieces.push(Piece::Text(text.to_string())),
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => pieces.push(Piece::End(tag.name.to_string())),
            Token::TagToken(tag) => {
                let raw = match &*tag.name {
                    "script" => Some(RawKind::ScriptData),
                    "style" | "noscript" | "iframe" | "noembed" => Some(RawKind::Rawtext),
                    "title" | "textarea" => Some(RawKind::Rcdata),
                    _ => None,
                };
                pieces.push(Piece::Start(tag));
                if let Some(raw) = raw {
                    return TokenSinkResult::RawData(raw);
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// An attribute by its name.
fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}
