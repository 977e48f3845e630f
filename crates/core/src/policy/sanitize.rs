//! Keys that could reach into a reader's prototypes are taken out. PolicyPart 3.2, 3.6.

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
