//! What an item is: any JSON object with a name, read in schema.org's words.

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::Value;

use crate::analysis::LanguageAnalyzer;
use crate::grounding::GROUNDING;
use crate::limits::ID_BYTES_MAX;

const NAME_KEYS: &[&str] = &["name", "headline", "title"];
const TEXT_KEYS: &[&str] = &["description", "text", "abstract", "articleBody", "summary"];

/// Where an item comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The file, relative to its source.
    pub(crate) file: &'a str,
    /// The line on which it begins, from 1.
    pub(crate) line: u64,
}

/// The parts of an item that everything else asks for; borrowed from its JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item<'a> {
    /// `@id`, else `url`, else an id that the file and its own `id` or position give it.
    pub(crate) id: String,
    pub(crate) name: &'a str,
    pub(crate) tongue: Option<LanguageAnalyzer>,
    json: &'a Value,
}

impl<'a> Item<'a> {
    /// Reads an object. `None` when it has no name.
    pub(crate) fn read(json: &'a Value, place: Place<'_>) -> Option<Self> {
        let name = first_text(json, NAME_KEYS)?;
        let language = first_text(json, &["inLanguage"]);
        Some(Self { id: id(json, place), name, tongue: language.map(LanguageAnalyzer::of), json })
    }

    /// The item's own prose, if it has any.
    pub(crate) fn prose(&self) -> Option<&'a str> {
        prose(self.json)
    }

    /// What is embedded: the name, then the prose, then the other texts, at most `bytes_max`.
    pub(crate) fn embeddable(&self, out: &mut String, bytes_max: usize) {
        out.push_str(self.name);
        out.push('\n');
        let Value::Object(fields) = self.json else { return };
        if let Some(prose) = self.prose() {
            out.push_str(prose);
            out.push('\n');
        }
        for (key, value) in fields {
            let said = NAME_KEYS.contains(&key.as_str()) || TEXT_KEYS.contains(&key.as_str());
            if !said && out.len() < bytes_max {
                searchable(key, value, out);
            }
        }
    }

    /// Everything in the item that a person could search for: its name, its prose and its other
    /// texts, apart from links and measures.
    pub(crate) fn searchable(&self, out: &mut String) {
        let Value::Object(fields) = self.json else { return };
        for (key, value) in fields {
            match value {
                Value::String(text) if TEXT_KEYS.contains(&key.as_str()) => {
                    out.push_str(without_start(text, self.name));
                    out.push('\n');
                }
                _ => searchable(key, value, out),
            }
        }
    }
}

/// A text without the name that it begins with: the name would count twice.
fn without_start<'t>(text: &'t str, name: &str) -> &'t str {
    match text.split_at_checked(name.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(name) && !rest.starts_with(char::is_alphanumeric) => rest,
        _ => text,
    }
}

/// The first prose of an item: its description, else its text.
pub(crate) fn prose(json: &Value) -> Option<&str> {
    first_text(json, TEXT_KEYS)
}

/// The name of an item.
pub(crate) fn name(json: &Value) -> Option<&str> {
    first_text(json, NAME_KEYS)
}

/// The first non-empty text under one of the keys; the first of a list, the value of a value object.
pub(crate) fn first_text<'a>(json: &'a Value, keys: &[&str]) -> Option<&'a str> {
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
            Some(id) => format!("{}#{id}", place.file),
            None => format!("{}#L{}", place.file, place.line),
        })
    })
}

/// The id that an item has wherever it lies: its `@id`, else its `url`.
pub(crate) fn global_id(json: &Value) -> Option<String> {
    first_text(json, &["@id", "url"]).map(|id| bounded_id(id.to_owned()))
}

/// An id as it is kept: itself, or its hash when it is longer than [`ID_BYTES_MAX`].
pub(crate) fn bounded_id(id: String) -> String {
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

fn searchable(key: &str, value: &Value, out: &mut String) {
    match value {
        // Where an item comes from is not what it is about.
        _ if key == GROUNDING => {}
        Value::String(text) if is_words(key, text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| searchable(key, item, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| searchable(key, value, out)),
        _ => {}
    }
}

/// Not a keyword of JSON-LD, a link, or a measure.
fn is_words(key: &str, text: &str) -> bool {
    const LINKS: &[&str] =
        &["url", "license", "image", "sameAs", "thumbnailUrl", "contentUrl", "inLanguage", "_id", "id"];
    let is_keyword = key.starts_with('@') && key != "@value";
    let is_link = LINKS.contains(&key) || text.starts_with("http://") || text.starts_with("https://");
    let is_duration = text.starts_with("PT") && crate::measure::minutes(text).is_some();
    !is_keyword && !is_link && !is_duration
}

/// 64 bits of SHA-256 over the parts, each with its length. Ties of a million items are not to be
/// expected, and nobody gains by forging one: the content is the operator's own.
pub(crate) fn hash(parts: &[&[u8]]) -> u64 {
    let mut context = Context::new(&SHA256);
    for part in parts {
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

    #[test]
    fn searchable_text_leaves_out_what_nobody_types() {
        let json = json!({"@type": "Recipe", "name": "Soup", "url": "https://e.org/", "totalTime": "PT5M",
            "recipeIngredient": ["salt", "peas"], "author": {"@type": "Person", "name": "Ann"}});
        let mut out = String::new();
        Item::read(&json, PLACE).unwrap().searchable(&mut out);
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["Ann", "Soup", "peas", "salt"]);
    }
}
