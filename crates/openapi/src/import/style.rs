//! How parameters are written. OpenAPI 3.1, section 4.8.12.2.

use super::operation::{Operation, Parameter};
use forecourt_contract::endpoint::Style;
use serde_json::Value;

/// Header fields that are about one call, so that its caller may fill them. All others are the operator's.
const OF_CALLS: [&str; 7] = [
    "accept-language",
    "idempotency-key",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "prefer",
];

/// The style of a query parameter, if it is not the usual one of its endpoint. `in_query`: the query is
/// where all fields go.
pub(super) fn of_query(operation: &Operation<'_>, parameter: &Parameter<'_>, in_query: bool) -> Option<Style> {
    let schema = operation.document.resolve(parameter.schema).unwrap_or(parameter.schema);
    if parameter.value.get("content").is_some() {
        return Some(Style::Json);
    }
    if is_word(schema) {
        return None;
    }
    let explodes = parameter.value["explode"].as_bool();
    let is_object = is_of(schema, "object") || schema.get("properties").is_some();
    match parameter.value["style"].as_str().unwrap_or("form") {
        "deepObject" => Some(Style::Deep),
        "spaceDelimited" if explodes != Some(true) => Some(Style::Space),
        "pipeDelimited" if explodes != Some(true) => Some(Style::Pipe),
        _ if explodes == Some(false) => Some(Style::Comma),
        _ if is_object => Some(Style::Fields),
        _ => (!in_query).then_some(Style::Repeat),
    }
}

/// Whether a parameter is a header field that callers fill.
pub(super) fn is_of_callers(parameter: &Parameter<'_>) -> bool {
    parameter.place == "header" && OF_CALLS.contains(&parameter.name.to_ascii_lowercase().as_str())
}

/// Whether the values of a schema are single words.
pub(super) fn is_word(schema: &Value) -> bool {
    !is_of(schema, "array") && !is_of(schema, "object")
}

/// Whether a type is among those of a schema.
fn is_of(schema: &Value, kind: &str) -> bool {
    let types = &schema["type"];
    types == kind || types.as_array().is_some_and(|kinds| kinds.iter().any(|other| other == kind))
}
