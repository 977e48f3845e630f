//! Books: pages of XHTML in the order of their spine.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::word::{reader, title};
use super::{PackedFile, missing};
use crate::formats::feed::attribute;
use crate::formats::outline::{Anchor, Outline};
use crate::formats::page::{self, Piece};
use crate::formats::{At, Input, Sink, Stop};

/// Reads a book.
pub(super) fn read(packed: &mut PackedFile, input: &Input<'_>, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
    const CONTAINER: &str = "META-INF/container.xml";
    let container = packed.part(CONTAINER)?.ok_or_else(|| missing(CONTAINER))?;
    let root = tags(&container, "rootfile", &["full-path"]).into_iter().find_map(|mut found| found.pop().flatten());
    let root = root.ok_or_else(|| missing("rootfile"))?;
    let package = packed.part(&root)?.ok_or_else(|| missing(&root))?;
    let folder = root.rfind('/').map_or("", |end| &root[..=end]);
    let mut outline = Outline::new(input, at.bytes);
    outline.titled(&title(&package));
    let pages: HashMap<String, String> = tags(&package, "item", &["id", "href"])
        .into_iter()
        .filter_map(|found| match <[_; 2]>::try_from(found) {
            Ok([Some(id), Some(href)]) => Some((id, href)),
            _ => None,
        })
        .collect();
    for id in tags(&package, "itemref", &["idref"]).into_iter().filter_map(|mut found| found.pop().flatten()) {
        let Some(href) = pages.get(&id) else { continue };
        let href = percent_decoded(href);
        // A page that the spine names and the zip lacks costs itself, not the book.
        let Some(html) = packed.part(&format!("{folder}{href}"))? else { continue };
        for piece in page::sections(&html, &|_| None) {
            match piece {
                Piece::Heading { level, text, .. } => outline.heading(level, &text, Anchor::Unknown, 1, sink)?,
                Piece::Block { text, markdown, .. } => outline.block(&text, &markdown, 1, sink)?,
            }
        }
    }
    outline.finish(sink)
}

/// The attributes of all tags of a name.
fn tags(xml: &str, name: &str, keys: &[&str]) -> Vec<Vec<Option<String>>> {
    let mut reader = reader(xml);
    let mut out = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == name => {
                out.push(keys.iter().map(|key| attribute(&tag, key)).collect());
            }
            Ok(Event::Eof) | Err(_) => return out,
            Ok(_) => {}
        }
    }
}

/// A name as a zip has it: links between parts are URLs.
fn percent_decoded(href: &str) -> String {
    let bytes = href.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
