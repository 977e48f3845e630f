//! HTML of others into words, and answers into the HTML that servers keep.
//!
//! | file | holds |
//! |---|---|
//! | `text.rs` | what was said in a note |
//! | `narrow.rs` | an answer within the elements that Mastodon keeps, cut to a length |

mod narrow;
mod text;

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

pub(crate) use narrow::{escape, narrow};
pub(crate) use text::to_text;

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
    let input = BufferQueue::default();
    input.push_back(html.into());
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    // Stops at scripts only, when asked to.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

#[derive(Default)]
struct Sink(RefCell<Vec<Piece>>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut pieces = self.0.borrow_mut();
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
