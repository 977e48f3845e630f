//! Dot paths into an item, such as `offers.price`.

use serde_json::{Map, Value};

/// Whether there is something under a dot path.
pub(super) fn has(item: &Map<String, Value>, path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match item.get(first) {
        Some(Value::Object(inner)) if !rest.is_empty() => has(inner, rest),
        found => found.is_some() || item.contains_key(path),
    }
}

/// Puts a text under a dot path such as `offers.price`. A property that comes twice is a list.
pub(super) fn put(item: &mut Map<String, Value>, path: &str, text: &str, levels: usize) {
    if let Some((first, rest)) =
        path.split_once('.').filter(|(first, rest)| levels > 1 && !first.is_empty() && !rest.is_empty())
        && let Value::Object(inner) = item.entry(first).or_insert_with(|| Value::Object(Map::new()))
    {
        return put(inner, rest, text, levels - 1);
    }
    match item.get_mut(path) {
        None => drop(item.insert(path.to_owned(), text.into())),
        Some(Value::Array(values)) => values.push(text.into()),
        Some(value) => *value = Value::Array(vec![value.take(), text.into()]),
    }
}
