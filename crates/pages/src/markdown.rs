//! Markdown of agents as HTML that is safe in a page. Mentionable REST 4.1, security sheet 3.
//!
//! Two layers that do not trust each other: the parser writes raw HTML as text and keeps only
//! links that [`clean::href`] lets pass; then an allow-list removes whatever should not be there.

mod blocks;
mod plain;
mod sanitize;
mod words;

use std::cell::Cell;
use std::fmt;

use comrak::nodes::{AstNode, NodeLink, NodeValue};
use comrak::{Arena, Options};

use crate::limits::{HTML_BYTES_MAX, MARKDOWN_BYTES_MAX, NESTING_MAX, NODES_MAX, PARSE_STEPS_256_MAX};
use crate::{clean, escape};

pub use blocks::{Marks, to_blocks};
pub use plain::to_plain;
pub use words::{literal, names_another_host};

/// CommonMark with tables, strikethrough, task lists and autolinks, as HTML for inside an element.
///
/// Never fails: text that is too long or too rich to parse is shown as it was written, in a `pre`.
/// The result is at most 4 MiB; it has no ids, classes, styles, images or foreign schemes.
pub fn to_html(markdown: &str) -> String {
    let text = clean::text(markdown);
    match rendered(&text) {
        // Once more, since `&#x202e;` is an override too by now.
        Some(html) => clean::text(&sanitize::html(&html)).into_owned(),
        None => verbatim(&text),
    }
}

/// As [`to_html`], for under the one heading of a page: its own headings are a level lower.
pub(crate) fn to_html_below(markdown: &str) -> String {
    let html = to_html(markdown);
    // What is text is escaped by now, so that these are headings and nothing else; none has attributes.
    (1..6).rev().fold(html, |html, level| {
        let lower = level + 1;
        html.replace(&format!("<h{level}>"), &format!("<h{lower}>"))
            .replace(&format!("</h{level}>"), &format!("</h{lower}>"))
    })
}

/// The first layer. `None` when a bound is reached.
fn rendered(markdown: &str) -> Option<String> {
    if markdown.len() > MARKDOWN_BYTES_MAX {
        return None;
    }
    let arena = Arena::new();
    let options = options();
    let steps = Cell::new(0);
    let too_long = || {
        steps.set(steps.get() + 1);
        steps.get() > PARSE_STEPS_256_MAX
    };
    let root = comrak::try_parse_document(&arena, markdown, &options, &too_long).ok()?;
    tame(root, &arena)?;
    let mut html = CappedString(String::new());
    comrak::format_html(root, &options, &mut html).ok()?;
    sanitize::is_cheap(&html.0).then_some(html.0)
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.autolink = true;
    options.render.escape = true;
    options
}

/// Turns images into links, links of other schemes into their words, and cuts what is nested too
/// deep. `None` when there are too many nodes.
fn tame<'a>(root: &'a AstNode<'a>, arena: &'a Arena<'a>) -> Option<()> {
    let mut open: Vec<(&AstNode, usize)> = vec![(root, 0)];
    let mut nodes = 0;
    while let Some((node, depth)) = open.pop() {
        nodes += 1;
        if nodes > NODES_MAX {
            return None;
        }
        // A text of ten thousand `>` would nest as deep, and readers of HTML recurse.
        if depth >= NESTING_MAX && can_lose_children(node) {
            node.children().collect::<Vec<_>>().into_iter().for_each(|child| child.detach());
        }
        open.extend(node.children().map(|child| (child, depth + 1)));
        name_image(node, arena);
        tame_link(node);
    }
    Some(())
}

/// Tables and their rows keep their children, since their shape must stay whole; they hold inline
/// content only, which is cut one or two levels further down.
fn can_lose_children<'a>(node: &'a AstNode<'a>) -> bool {
    !matches!(node.data().value, NodeValue::Table(_) | NodeValue::TableRow(_) | NodeValue::List(_))
}

/// Gives an image without a description its address, so that the link has something to click on.
fn name_image<'a>(node: &'a AstNode<'a>, arena: &'a Arena<'a>) {
    let name = match &node.data().value {
        NodeValue::Image(link) if node.first_child().is_none() => clean::line(&link.url),
        _ => return,
    };
    node.append(arena.alloc(NodeValue::Text(name.into()).into()));
}

fn tame_link<'a>(node: &'a AstNode<'a>) {
    let link = match &node.data().value {
        NodeValue::Link(link) | NodeValue::Image(link) => link.clone(),
        _ => return,
    };
    // A link in a link is not HTML: a browser closes the outer one, and the sanitizer would see another tree than it
    // does.
    let nested = node.ancestors().skip(1).any(|above| matches!(above.data().value, NodeValue::Link(_)));
    match clean::href(&link.url) {
        Some(url) if !nested => node.data_mut().value = NodeValue::Link(Box::new(NodeLink { url, ..*link })),
        _ => unwrap(node),
    }
}

/// Puts a node's children in its place.
fn unwrap<'a>(node: &'a AstNode<'a>) {
    for child in node.children().collect::<Vec<_>>() {
        node.insert_before(child);
    }
    node.detach();
}

/// The text itself, escaped, as much as fits.
fn verbatim(text: &str) -> String {
    const END: &str = "\n…</pre>";
    let mut html = "<pre>".to_owned();
    match escape::push(&mut html, text, HTML_BYTES_MAX - END.len()) {
        true => html.push_str("</pre>"),
        false => html.push_str(END),
    }
    html
}

/// A string that refuses to grow beyond [`HTML_BYTES_MAX`].
struct CappedString(String);

impl fmt::Write for CappedString {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > HTML_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
