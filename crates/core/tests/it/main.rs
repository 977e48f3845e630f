//! The rules of the core, checked against public vectors and by properties, a module per chapter.

mod address;
mod cursor;
mod gate;
mod json_canonical;
mod json_strict;
mod mention;
mod message;
mod origin;
mod parts;
mod policy_challenges;
mod policy_parts;
mod reply_collect;
mod reply_guard;
mod tasks;
mod tokens;
mod yaml;

use serde_json::Value;

/// The cases of a vector file; none, with a line that says so, when the set is missing.
fn cases(path: &str) -> Vec<Value> {
    let Some(bytes) = forecourt_testkit::vectors(path) else {
        return Vec::new();
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(cases)) => cases,
        other => panic!("{path} is not a list: {other:?}"),
    }
}

/// A text field of a case, for cases that must have it.
fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("{field} of {case}"))
}
