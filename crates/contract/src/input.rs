//! This module joins the query, the path and the body of a call into one input. Sections 5.3 and 5.5. It checks no
//! schema.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::limits::QUERY_BYTES_MAX;
use crate::schema::{Schema, Violation};

/// The pairs of a query string, decoded, in order. A key without `=` has an empty value; pairs
/// without a key are dropped. `+` is a plus sign. RFC 3986 2.1.
///
/// # Errors
/// The query is too long, or has a percent sign that encodes nothing, or is no text when decoded.
pub fn pairs(query: &str) -> Result<Vec<(String, String)>, Violation> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(Violation::new("", format!("the query has more than {QUERY_BYTES_MAX} bytes")));
    }
    let split = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    split.filter(|(key, _)| !key.is_empty()).map(|(key, value)| Ok((decoded(key)?, decoded(value)?))).collect()
}

/// Joins what a call says. Of a repeated key of the query the last value counts, and the body's value
/// before any; a value of the path must not be contradicted. Texts of query and path become numbers
/// or truth values where `schema` declares them and they read as such.
///
/// # Errors
/// A query that can't be decoded, or a value that contradicts the path.
pub fn merge(
    schema: Option<&Schema>,
    query: Option<&str>,
    path: &[(String, String)],
    body: Map<String, Value>,
) -> Result<Map<String, Value>, Violation> {
    let typed =
        |name: &str, text: &str| schema.map_or_else(|| text.into(), |schema| coerced(text, &schema.types_of(name)));
    let mut input = Map::new();
    for (name, text) in pairs(query.unwrap_or_default())? {
        input.insert(name.clone(), typed(&name, &text));
    }
    input.extend(body);
    for (name, text) in path {
        let value = typed(name, text);
        match input.insert(name.clone(), value.clone()) {
            // A body may repeat the path's value, as the number that is declared or as the text of the path. Anything
            // else would leave open which of the two was authorised.
            Some(other) if other != value && other != *text => {
                return Err(Violation::of_field(name, "this is not what the path says"));
            }
            _ => {}
        }
    }
    Ok(input)
}

/// A text as one of the types that are declared for it, else as it is.
fn coerced(text: &str, types: &[&str]) -> Value {
    let declared = |name: &str| types.contains(&name);
    // First: where a text is allowed, `"007"` stays a text and does not become 7.
    if declared("string") {
        return text.into();
    }
    let numeric = declared("integer") || declared("number");
    // JSON may stand between blanks, which belong to the text here.
    match serde_json::from_str::<Value>(text).ok().filter(|_| !text.contains(char::is_whitespace)) {
        Some(value @ Value::Number(_)) if numeric => value,
        Some(value @ Value::Bool(_)) if declared("boolean") => value,
        _ => text.into(),
    }
}

fn decoded(text: &str) -> Result<String, Violation> {
    let mut signs = text.match_indices('%');
    let is_code =
        |at: usize| text.as_bytes().get(at + 1..at + 3).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
    let bad = || Violation::new("", "the query has a percent sign that encodes no text");
    // The decoder leaves such a sign as it is, so that `%zz` and `%25zz` would be one value.
    if !signs.all(|(at, _)| is_code(at)) {
        return Err(bad());
    }
    percent_decode_str(text).decode_utf8().map(std::borrow::Cow::into_owned).map_err(|_| bad())
}
