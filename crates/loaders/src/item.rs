//! What an item is: any JSON object with a name, read in schema.org's words.

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::Value;

use crate::limits::ID_BYTES_MAX;

/// The member in which a section of a document carries what an answer needs: how it is written, and what is
/// around it.
pub const SECTION: &str = "forecourt:section";
/// Members that are an item's name, the first that it has.
pub const NAME_KEYS: &[&str] = &["name", "headline", "title"];
/// Members that are its prose, the first that it has.
pub const TEXT_KEYS: &[&str] = &["description", "text", "abstract", "articleBody", "reviewBody", "summary"];

/// The file and the line of an item, from which it gets an id when it has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file, relative to its source.
    pub file: &'a str,
    /// The line on which it begins, from 1.
    pub line: u64,
}

impl Place<'_> {
    /// The place of an item that has its id already.
    pub const NOWHERE: Self = Self { file: "", line: 0 };
}

/// The parts of an item that everything else asks for; borrowed from its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<'a> {
    /// `@id`, else `url`, else an id that the file and its own `id` or position give it.
    pub id: String,
    /// Its name, which is never empty.
    pub name: &'a str,
    /// The language that it says it is in: a BCP 47 tag, as it is written.
    pub language: Option<&'a str>,
    /// The whole item.
    pub json: &'a Value,
}

impl<'a> Item<'a> {
    /// Reads an object. `None` when it has no name.
    pub fn read(json: &'a Value, place: Place<'_>) -> Option<Self> {
        let name = first_text(json, NAME_KEYS)?;
        let language = first_text(json, &["inLanguage"]);
        Some(Self { id: id(json, place), name, language, json })
    }

    /// The item's own prose, if it has any.
    pub fn prose(&self) -> Option<&'a str> {
        prose(self.json)
    }
}

/// The first prose of an item: its description, else its text.
pub fn prose(json: &Value) -> Option<&str> {
    first_text(json, TEXT_KEYS)
}

/// The name of an item, which is never empty. `None`: it has none, and is no item.
pub fn name(json: &Value) -> Option<&str> {
    first_text(json, NAME_KEYS)
}

/// The first non-empty text under one of the keys; the first of a list, the value of a value object.
pub fn first_text<'a>(json: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().filter_map(|key| text_of(json.get(key)?)).map(str::trim).find(|text| !text.is_empty())
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.first().and_then(Value::as_str),
        Value::Object(fields) => fields.get("@value").or_else(|| fields.get("name"))?.as_str(),
        _ => None,
    }
}

fn id(json: &Value, place: Place<'_>) -> String {
    global_id(json).unwrap_or_else(|| {
        bounded_id(match own_id(json) {
            // With the file in front: two files may both have an item 1.
            Some(id) => format!("{}#{id}", place.file),
            None => format!("{}#L{}", place.file, place.line),
        })
    })
}

/// The id that an item has wherever it lies: its `@id`, else its `url`.
pub fn global_id(json: &Value) -> Option<String> {
    first_text(json, &["@id", "url"]).map(|id| bounded_id(id.to_owned()))
}

/// An id as it is kept: itself, or its hash when it is longer than [`ID_BYTES_MAX`].
pub fn bounded_id(id: String) -> String {
    // The hash and not the beginning: long URLs differ at their ends.
    if id.len() <= ID_BYTES_MAX { id } else { format!("urn:sha-256:{:016x}", hash(&[id.as_bytes()])) }
}

/// An id that means something in its own file only.
fn own_id(json: &Value) -> Option<String> {
    ["id", "_id", "identifier", "sku"].iter().find_map(|key| match json.get(key)? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    })
}

/// `Recipe` of `Recipe`, `schema:Recipe` and `https://schema.org/Recipe`.
pub fn type_name(text: &str) -> &str {
    text.rsplit(['/', ':', '#']).next().unwrap_or(text)
}

/// 64 bits of SHA-256 over the parts, each with its length. Ties of a million items are not to be
/// expected, and nobody gains by forging one: the content is the operator's own.
pub fn hash(parts: &[&[u8]]) -> u64 {
    let mut context = Context::new(&SHA256);
    for part in parts {
        // With the length of each part, `ab` and `c` are another hash than `a` and `bc`.
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let digest = context.finish();
    digest.as_ref().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place<'_> = Place { file: "a.jsonl", line: 7 };

    fn id_of(json: Value) -> String {
        Item::read(&json, PLACE).unwrap().id
    }

    #[test]
    fn a_name_is_needed() {
        for json in [json!({}), json!({"name": "  "}), json!({"name": 1}), json!([]), json!(null)] {
            assert_eq!(Item::read(&json, PLACE), None);
        }
        for json in [json!({"headline": "x"}), json!({"name": ["x"]}), json!({"name": {"@value": "x"}})] {
            assert_eq!(Item::read(&json, PLACE).unwrap().name, "x");
        }
    }

    #[test]
    fn ids_come_from_the_item_or_its_place() {
        assert_eq!(id_of(json!({"name": "x", "@id": "urn:1", "url": "https://e.org/"})), "urn:1");
        assert_eq!(id_of(json!({"name": "x", "url": "https://e.org/"})), "https://e.org/");
        assert_eq!(id_of(json!({"name": "x", "_id": 5})), "a.jsonl#5");
        assert_eq!(id_of(json!({"name": "x"})), "a.jsonl#L7");
    }

    #[test]
    fn long_ids_are_hashed_past_the_bound() {
        let exact = "u".repeat(ID_BYTES_MAX);
        assert_eq!(id_of(json!({"name": "x", "@id": exact})), exact);
        assert!(id_of(json!({"name": "x", "@id": format!("{exact}u")})).starts_with("urn:sha-256:"));
    }
}
