//! Where an item comes from: `grounding`, which every item has (NLWeb 4.1.1).
//!
//! `source_urls` are the pages and documents that it was read from, the nearest first; `fetched_at` is
//! when. What an item of a file or a push says of itself is kept.

use forecourt_core::Timestamp;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use url::Url;

use crate::item::first_text;

/// The member of an item that holds where it is from (NLWeb 4.1.1).
pub const GROUNDING: &str = "grounding";

/// The grounding of an item that was found in a document of this URL, if that has one. `None` when the
/// item brings its own.
pub fn grounding(item: &Value, document: Option<&str>, read_at: &str) -> Option<Value> {
    // The content is the operator's own, and may know more of its sources than the file that it lies in.
    if item.get(GROUNDING).is_some() {
        return None;
    }
    Some(of(own_link(item).into_iter().chain(document), read_at))
}

/// A moment as a grounding says it.
pub fn moment(at: Timestamp) -> String {
    format!("{at:.0}")
}

/// An item of a site with the grounding that we know, whatever it says of itself: its own link, if that is
/// believed, and the page or document that it was read from.
pub fn grounded_in(mut item: Value, own: Option<&str>, document: &Url, read_at: &str) -> Value {
    if let Value::Object(fields) = &mut item {
        // Replaced and not kept: a page could otherwise claim to be from another site.
        fields.insert(GROUNDING.to_owned(), of(own.into_iter().chain([document.as_str()]), read_at));
    }
    item
}

fn of<'a>(sources: impl Iterator<Item = &'a str>, read_at: &str) -> Value {
    let mut sources: Vec<&str> = sources.collect();
    sources.dedup();
    match sources.is_empty() {
        true => json!({"fetched_at": read_at}),
        false => json!({"source_urls": sources, "fetched_at": read_at}),
    }
}

/// An item as callers get it: with the grounding that it does not bring itself, if it has none.
#[derive(Clone, Copy)]
pub struct GroundedItem<'a> {
    /// The item as it was loaded.
    pub item: &'a Value,
    /// Its grounding, if the item does not bring one.
    pub grounding: Option<&'a Value>,
}

impl GroundedItem<'_> {
    /// Its JSON.
    pub fn text(self) -> String {
        // Writing JSON to memory does not fail.
        serde_json::to_string(&self).unwrap_or_default()
    }
}

impl Serialize for GroundedItem<'_> {
    /// Members stand in the order of their names, as they do in every item that is kept.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Value::Object(fields), Some(grounding)) = (self.item, self.grounding) else {
            return self.item.serialize(serializer);
        };
        let mut left = Some(grounding);
        let mut out = serializer.serialize_map(Some(fields.len() + 1))?;
        for (key, value) in fields {
            // In its place by name, so that the text is the same as that of an item that has a grounding of its own.
            if key.as_str() > GROUNDING
                && let Some(grounding) = left.take()
            {
                out.serialize_entry(GROUNDING, grounding)?;
            }
            out.serialize_entry(key, value)?;
        }
        if let Some(grounding) = left {
            out.serialize_entry(GROUNDING, grounding)?;
        }
        out.end()
    }
}

/// The hosts of the sites that an item is from: of its sources, else of its own link.
pub fn hosts(GroundedItem { item, grounding }: GroundedItem<'_>) -> Vec<String> {
    let grounding = grounding.or_else(|| item.get(GROUNDING));
    let sources = grounding.and_then(|grounding| grounding.get("source_urls")).and_then(Value::as_array);
    let sources: Vec<&str> = sources.into_iter().flatten().filter_map(Value::as_str).collect();
    let links = if sources.is_empty() { own_link(item).into_iter().collect() } else { sources };
    let mut hosts: Vec<String> = links.into_iter().filter_map(host).collect();
    hosts.dedup();
    hosts
}

/// The host of a link, without `www.`; in lower case and ASCII.
fn host(link: &str) -> Option<String> {
    let url = Url::parse(link).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}

/// Where an item says that it is to be found on the web.
pub fn own_link(item: &Value) -> Option<&str> {
    let links = ["url", "@id", "mainEntityOfPage"].iter().filter_map(|key| first_text(item, &[key]));
    links.into_iter().find(|link| link.starts_with("https://") || link.starts_with("http://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(item: Value, document: Option<&str>) -> Option<Value> {
        grounding(&item, document, &moment(Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn an_item_is_grounded_in_its_link_and_its_document() {
        let at = "1970-01-01T00:00:00Z";
        let (link, file) = ("https://e.org/a", "https://e.org/list.csv");
        let first = found(json!({"url": link}), Some(file));
        assert_eq!(first, Some(json!({"source_urls": [link, file], "fetched_at": at})));
        assert_eq!(found(json!({"@id": link}), Some(link)), Some(json!({"source_urls": [link], "fetched_at": at})));
        assert_eq!(found(json!({"name": "x", "url": "javascript:x"}), None), Some(json!({"fetched_at": at})));
        assert_eq!(found(json!({"url": link, "grounding": {"citations": []}}), Some(file)), None);
    }

    #[test]
    fn a_grounded_item_is_written_as_if_it_had_its_grounding() {
        for item in [json!({}), json!({"a": [1], "z": {"b": null}}), json!({"a": 1}), json!({"z": 1}), json!("x")] {
            let grounding = json!({"source_urls": ["https://e.org/"]});
            let written = GroundedItem { item: &item, grounding: Some(&grounding) }.text();
            let mut whole = item.clone();
            if let Value::Object(fields) = &mut whole {
                fields.insert(GROUNDING.to_owned(), grounding.clone());
            }
            assert_eq!(written, whole.to_string());
            assert_eq!(GroundedItem { item: &item, grounding: None }.text(), item.to_string());
        }
    }

    #[test]
    fn hosts_are_those_of_the_sources() {
        let hosts = |item: &Value| hosts(GroundedItem { item, grounding: None });
        assert_eq!(hosts(&json!({"url": "https://Shop.example:8443/x"})), ["shop.example"]);
        let sources = json!(["https://a.example/1", "https://a.example/2", "http://b.example/"]);
        let item = json!({"url": "https://c.example/", "grounding": {"source_urls": sources}});
        assert_eq!(hosts(&item), ["a.example", "b.example"]);
        assert!(hosts(&json!({"name": "x", "grounding": {"source_urls": [1, "urn:x"]}})).is_empty());
        assert_eq!(host("http://www.Bücher.example").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!((host("ftp://x/"), host("https://a b"), host("")), (None, None, None));
    }
}
