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

use crate::limits::ATTRIBUTES_MAX;

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

/// The pieces of HTML in their order, as the tokenizer of a browser sees them: up to a tag with more than
/// [`ATTRIBUTES_MAX`] attributes, each of which is compared with all others.
fn pieces(html: &str) -> Vec<Piece> {
    let input = BufferQueue::default();
    input.push_back(before_endless_tag(html).into());
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    // Stops at scripts only, when asked to.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

fn before_endless_tag(html: &str) -> &str {
    let mut at = 0;
    while let Some(found) = html[at..].find('<') {
        let from = at + found;
        let (length, attributes) = tag(&html.as_bytes()[from..]);
        if attributes > ATTRIBUTES_MAX {
            return &html[..from];
        }
        at = from + length;
    }
    html
}

/// How long a tag is, and how many attributes it may have. It ends behind a byte of ASCII, or with the text.
fn tag(bytes: &[u8]) -> (usize, usize) {
    if !bytes.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
        return (1, 0);
    }
    let (mut within, mut is_apart, mut attributes) = (Within::Names, false, 0);
    for (at, byte) in bytes.iter().copied().enumerate().skip(2) {
        let is_space = byte.is_ascii_whitespace();
        (within, is_apart) = match (within, byte) {
            (Within::Quotes(open), _) if byte == open => (Within::Names, true),
            (Within::Quotes(open), _) => (Within::Quotes(open), false),
            (_, b'>') => return (at + 1, attributes),
            (Within::BeforeValue, b'"' | b'\'') => (Within::Quotes(byte), false),
            (Within::BeforeValue, _) if is_space => (Within::BeforeValue, false),
            (Within::BeforeValue | Within::Value, _) if !is_space => (Within::Value, false),
            (Within::Names, b'=') => (Within::BeforeValue, false),
            (_, _) if is_space || byte == b'/' => (Within::Names, true),
            (_, _) => {
                attributes += usize::from(is_apart);
                (Within::Names, false)
            }
        };
    }
    (bytes.len(), attributes)
}

/// Where in a tag a byte is.
#[derive(Clone, Copy)]
enum Within {
    Names,
    BeforeValue,
    /// A value without quotes, up to the next space.
    Value,
    /// A value in these quotes.
    Quotes(u8),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_of_endless_attributes_ends_what_is_read() {
        for between in [" x", " x=1", " x='1>'", "/x", " x=\"1\""] {
            let tag = |count: usize| format!("before<a{}>link", between.repeat(count));
            let (fits, endless) = (tag(ATTRIBUTES_MAX), tag(ATTRIBUTES_MAX + 1));
            assert_eq!(before_endless_tag(&fits), fits, "{between}");
            assert_eq!(before_endless_tag(&endless), "before", "{between}");
        }
        for text in ["a < b", "<", "<a", "é<a title='>é'>é</a>", "1<2 x y z"] {
            assert_eq!(before_endless_tag(text), text);
        }
        let hostile = ["<a ", "<a x=\"", "</", "<a =", "<a '<b \"", "<!--"];
        hostile.into_iter().for_each(|part| drop(to_text(&part.repeat(50_000))));
    }
}
