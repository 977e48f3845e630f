//! This module removes the keys that pollute prototypes in a JavaScript reader. PolicyPart 3.2, 3.6.

use serde_json::{Map, Value};

const POISON: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Removes the three keys at every depth. JSON read through [`crate::json`] has at most
/// [`crate::limits::JSON_DEPTH_MAX`] levels, which bounds the recursion.
pub fn sanitize(value: &mut Value) {
    match value {
        Value::Object(fields) => sanitize_map(fields),
        Value::Array(items) => items.iter_mut().for_each(sanitize),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// [`sanitize`] for an object.
pub fn sanitize_map(fields: &mut Map<String, Value>) {
    fields.retain(|key, _| !POISON.contains(&key.as_str()));
    fields.values_mut().for_each(sanitize);
}

/// Whether a key of `data` has a namespace before its first dot and a name after it, such as
/// `oauth.error`. Others are reserved. PolicyPart 3.2.
pub(super) fn is_prefixed(key: &str) -> bool {
    key.split_once('.').is_some_and(|(prefix, name)| !prefix.is_empty() && !name.is_empty())
}
