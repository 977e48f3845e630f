//! What all readers of a page ask of its tags and texts.

use html5ever::tokenizer::Tag;

use crate::limits::PAGE_TEXT_BYTES_MAX;

/// An attribute by its name.
pub(super) fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

/// Adds text with its white space as single spaces, at most [`PAGE_TEXT_BYTES_MAX`] in all.
pub(super) fn push_collapsed(out: &mut String, text: &str) {
    for c in text.chars() {
        if out.len() >= PAGE_TEXT_BYTES_MAX {
            return;
        }
        match c.is_whitespace() {
            false => out.push(c),
            true if out.is_empty() || out.ends_with(' ') => {}
            true => out.push(' '),
        }
    }
}
