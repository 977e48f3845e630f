//! The texts of an item that count: those that a person could search for, and those whose meaning is embedded.

use std::collections::HashSet;

use forecourt_loaders::grounding::GROUNDING;
use forecourt_loaders::item::{Item, NAME_KEYS, SECTION, TEXT_KEYS};
use forecourt_understanding::measure;
use serde_json::Value;

use crate::facts::{HAS_VARIANT, variants_of};

/// What is embedded: the name, then the prose, then the other texts until there are `bytes_max`. Models read the
/// beginning of a text alone, so what says most comes first.
pub(crate) fn embeddable(item: &Item<'_>, out: &mut String, bytes_max: usize) {
    out.push_str(item.name);
    out.push('\n');
    let Value::Object(fields) = item.json else { return };
    if let Some(prose) = item.prose() {
        out.push_str(prose);
        out.push('\n');
    }
    for (key, value) in fields {
        let said = NAME_KEYS.contains(&key.as_str()) || TEXT_KEYS.contains(&key.as_str());
        match key.as_str() {
            _ if said || out.len() >= bytes_max => {}
            HAS_VARIANT => add_variants(item.json, out),
            _ => add_words(key, value, out),
        }
    }
}

/// Everything in the item that a person could search for: its name, its prose and its other
/// texts, apart from links and measures.
pub(crate) fn searchable(item: &Item<'_>, out: &mut String) {
    let Value::Object(fields) = item.json else { return };
    for (key, value) in fields {
        match value {
            Value::String(text) if TEXT_KEYS.contains(&key.as_str()) => {
                out.push_str(without_start(text, item.name));
                out.push('\n');
            }
            _ if key == HAS_VARIANT => add_variants(item.json, out),
            _ => add_words(key, value, out),
        }
    }
}

/// The texts of variants, each once: a word that all of them have says no more than one that one of them has.
fn add_variants(item: &Value, out: &mut String) {
    let mut texts = String::new();
    variants_of(item).iter().for_each(|variant| add_words(HAS_VARIANT, variant, &mut texts));
    let mut told = HashSet::new();
    for line in texts.lines().filter(|line| told.insert(*line)) {
        out.push_str(line);
        out.push('\n');
    }
}

/// A text without the name that it begins with: the name would count twice.
fn without_start<'t>(text: &'t str, name: &str) -> &'t str {
    match text.split_at_checked(name.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(name) && !rest.starts_with(char::is_alphanumeric) => rest,
        _ => text,
    }
}

fn add_words(key: &str, value: &Value, out: &mut String) {
    match value {
        // Grounding says where an item is from and not what it is about; what `SECTION` holds repeats its text.
        _ if key == GROUNDING || key == SECTION => {}
        Value::String(text) if is_words(key, text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(key, item, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| add_words(key, value, out)),
        _ => {}
    }
}

/// Not a keyword of JSON-LD, a link, or a measure.
fn is_words(key: &str, text: &str) -> bool {
    const LINKS: &[&str] =
        &["url", "license", "image", "sameAs", "thumbnailUrl", "contentUrl", "inLanguage", "_id", "id"];
    let is_keyword = key.starts_with('@') && key != "@value";
    let is_link = LINKS.contains(&key) || text.starts_with("http://") || text.starts_with("https://");
    let is_duration = text.starts_with("PT") && measure::minutes(text).is_some();
    !is_keyword && !is_link && !is_duration
}

#[cfg(test)]
mod tests {
    use forecourt_loaders::item::Place;
    use serde_json::json;

    use super::*;

    #[test]
    fn searchable_text_leaves_out_what_nobody_types() {
        let json = json!({"@type": "Recipe", "name": "Soup", "url": "https://e.org/", "totalTime": "PT5M",
            "recipeIngredient": ["salt", "peas"], "author": {"@type": "Person", "name": "Ann"},
            "grounding": {"source_urls": ["a page"], "fetched_at": "today"}});
        let mut out = String::new();
        searchable(&Item::read(&json, Place::NOWHERE).unwrap(), &mut out);
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["Ann", "Soup", "peas", "salt"]);
    }
}
