//! The second layer: an allow-list over finished HTML.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

use crate::limits::SCANNED_BYTES_MAX;

/// Elements that markdown can become.
pub(super) const TAGS: [&str; 31] = [
    "a",
    "blockquote",
    "br",
    "code",
    "dd",
    "del",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "input",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(TAGS))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("ol", HashSet::from(["start"])),
            ("input", HashSet::from(["checked", "disabled"])),
        ]))
        .tag_attribute_values(HashMap::from([
            ("th", values("align", &["left", "center", "right"])),
            ("td", values("align", &["left", "center", "right"])),
            ("input", values("type", &["checkbox"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::PassThrough)
        .link_rel(Some("nofollow noopener noreferrer"));
    builder
});

fn values(name: &'static str, values: &[&'static str]) -> HashMap<&'static str, HashSet<&'static str>> {
    HashMap::from([(name, values.iter().copied().collect())])
}

/// The HTML with nothing in it that is not allowed.
pub(super) fn html(html: &str) -> String {
    ALLOWED.clean(html).to_string()
}

/// Whether cleaning `html` takes a bounded time. Each ampersand or no-break space makes the
/// library look through the rest of its text once more, so many of them in one long text cost as
/// much as their product.
pub(super) fn is_cheap(html: &str) -> bool {
    let cost = |text: &str| text.len() * text.bytes().filter(|byte| matches!(byte, b'&' | 0xc2)).count();
    html.split('<').map(cost).sum::<usize>() <= SCANNED_BYTES_MAX
}
