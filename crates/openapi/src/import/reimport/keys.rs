//! A file as its keys and what each holds, so that one can tell who changed what.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

/// The key under which the whole file is recorded.
pub(super) const WHOLE: &str = "";

/// Tables within tables that are told apart: `endpoint.input_schema.properties.name`.
const TOML_DEPTH: usize = 4;

/// Objects within objects of a schema beside an endpoint: `properties.name`.
const JSON_DEPTH: usize = 2;

/// Bytes of a hash that are kept: enough to tell values apart, of which nobody gains by a collision.
const HASH_BYTES: usize = 8;

/// What each key of a file holds, as hashes, and the whole of it.
pub(super) fn hashes(name: &str, text: &str) -> BTreeMap<String, String> {
    let mut all = match name.ends_with(".json") {
        true => serde_json::from_str(text).map(|value| of_json(&value)).unwrap_or_default(),
        false => text.parse::<DocumentMut>().map(|document| of_toml(&document)).unwrap_or_default(),
    };
    all.insert(WHOLE.to_owned(), hash(text));
    all
}

/// Whether a file is as it was recorded.
pub(super) fn is_untouched(text: &str, recorded: &BTreeMap<String, String>) -> bool {
    recorded.get(WHOLE).is_some_and(|whole| *whole == hash(text))
}

/// What each key of a TOML file holds.
pub(super) fn of_toml(document: &DocumentMut) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    walk_toml("", document.as_item(), 0, &mut all);
    all
}

fn walk_toml(path: &str, item: &Item, depth: usize, all: &mut BTreeMap<String, String>) {
    match item.as_table_like().filter(|table| depth < TOML_DEPTH && !table.is_empty()) {
        Some(table) => {
            for (key, inner) in table.iter() {
                walk_toml(&joined(path, key), inner, depth + 1, all);
            }
        }
        None => drop(all.insert(path.to_owned(), hash(&plain(item).to_string()))),
    }
}

/// What each member of a JSON file holds.
pub(super) fn of_json(value: &Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    walk_json("", value, 0, &mut all);
    all
}

fn walk_json(path: &str, value: &Value, depth: usize, all: &mut BTreeMap<String, String>) {
    match value.as_object().filter(|object| depth < JSON_DEPTH && !object.is_empty()) {
        Some(object) => object.iter().for_each(|(key, inner)| walk_json(&joined(path, key), inner, depth + 1, all)),
        None => drop(all.insert(path.to_owned(), hash(&value.to_string()))),
    }
}

/// A key below another. Points in keys stand twice, so that no two paths are one.
pub(super) fn joined(path: &str, key: &str) -> String {
    let key = key.replace('.', "..");
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// The keys of a path, outermost first.
pub(super) fn parts(path: &str) -> Vec<String> {
    path.replace("..", "\u{0}").split('.').map(|part| part.replace('\u{0}', ".")).collect()
}

/// What an item holds, however it is written: comments, order and kind of table are no matter.
fn plain(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table
            .iter()
            .map(|(key, inner)| (key.to_owned(), plain(inner)))
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| plain(&Item::Table(table.clone()))).collect(),
        Item::Value(value) => of_value(value),
        _ => Value::Null,
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(*number.value()),
        Toml::Boolean(truth) => Value::from(*truth.value()),
        Toml::Datetime(time) => Value::from(time.value().to_string()),
        Toml::Array(items) => items.iter().map(of_value).collect(),
        Toml::InlineTable(table) => {
            let pairs = table.iter().map(|(key, inner)| (key.to_owned(), of_value(inner)));
            pairs.collect::<serde_json::Map<_, _>>().into()
        }
    }
}

/// The beginning of a hash, in hexadecimal.
fn hash(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_what_it_holds_and_not_how_it_is_written() {
        let of = |text: &str| of_toml(&text.parse().unwrap());
        assert_eq!(of("[a]\nb = { c = 1 }"), of("# x\n[a.b]\nc = 1 # y\n"));
        assert_ne!(of("[a]\nb = 1"), of("[a]\nb = \"1\""));
        assert_eq!(of("a.\"b.c\" = 1").keys().collect::<Vec<_>>(), ["a.b..c"]);
        assert_eq!(parts("a.b..c"), ["a", "b.c"]);
    }

    #[test]
    fn a_file_that_is_none_is_known_as_a_whole() {
        let recorded = hashes("a.toml", "= =");
        assert_eq!(recorded.keys().collect::<Vec<_>>(), [WHOLE]);
        assert!(is_untouched("= =", &recorded) && !is_untouched("", &recorded));
    }
}
