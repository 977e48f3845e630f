//! How parameters and fields of forms are written. OpenAPI 3.1, sections 4.8.12.2 and 4.8.15.

use forecourt_contract::endpoint::Style;
use serde_json::Value;

use super::operation::{Operation, Parameter};
use super::words::words;
use crate::document::OpenApiDocument;
use crate::limits::SHAPE_DEPTH_MAX;

/// Words in the names of header fields and cookies that say who calls, or prove it. Those are the operator's.
const OF_CALLERS_IDENTITY: [&str; 44] = [
    "account",
    "actor",
    "agent",
    "apikey",
    "auth",
    "authentication",
    "authorization",
    "behalf",
    "bearer",
    "client",
    "cookie",
    "credential",
    "credentials",
    "csrf",
    "customer",
    "delegate",
    "email",
    "forwarded",
    "from",
    "host",
    "identity",
    "impersonate",
    "ip",
    "key",
    "login",
    "org",
    "organisation",
    "organization",
    "owner",
    "password",
    "principal",
    "project",
    "role",
    "roles",
    "scope",
    "secret",
    "session",
    "sid",
    "signature",
    "sub",
    "subject",
    "tenant",
    "token",
    "user",
];

/// Header fields that OpenAPI itself says are no parameters, and those of the connection.
const KEPT: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-real-ip",
    "user-agent",
];

/// What the values of a schema may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) is_list: bool,
    pub(super) is_object: bool,
}

impl Shape {
    /// What a schema says, itself or by what it is composed of.
    pub(super) fn of(document: &OpenApiDocument, schema: &Value) -> Shape {
        Shape::within(document, schema, SHAPE_DEPTH_MAX)
    }

    fn within(document: &OpenApiDocument, schema: &Value, depth: usize) -> Shape {
        let schema = document.resolve(schema).unwrap_or(schema);
        let mut shape = Shape {
            is_list: is_of(schema, "array") || schema.get("items").is_some(),
            is_object: is_of(schema, "object") || schema.get("properties").is_some(),
        };
        let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|list| schema[*list].as_array()).flatten();
        for part in parts.filter(|_| depth > 0) {
            let part = Shape::within(document, part, depth - 1);
            shape.is_list |= part.is_list;
            shape.is_object |= part.is_object;
        }
        shape
    }

    /// Whether the values are single words.
    pub(super) fn is_word(self) -> bool {
        !self.is_list && !self.is_object
    }
}

/// The style of a query parameter, if it is not the usual one of its endpoint. `in_query`: the query is
/// where all fields go.
pub(super) fn of_query(operation: &Operation<'_>, parameter: &Parameter<'_>, in_query: bool) -> Option<Style> {
    if parameter.value.get("content").is_some() {
        return parameter.is_json().then_some(Style::Json);
    }
    let shape = Shape::of(operation.document, parameter.schema);
    match written(parameter.value, shape) {
        None if shape.is_word() && !is_anything(parameter.schema) => None,
        None if shape.is_object => Some(Style::Fields),
        None => (!in_query).then_some(Style::Repeat),
        style => style,
    }
}

/// The style of a field of a form, if it is not the usual one. `encoding` is what the document says of it.
pub(super) fn of_form(document: &OpenApiDocument, schema: &Value, encoding: &Value) -> Option<Style> {
    let shape = Shape::of(document, schema);
    let is_styled = ["style", "explode", "allowReserved"].iter().any(|key| encoding.get(*key).is_some());
    match is_styled {
        true => written(encoding, shape).or_else(|| shape.is_object.then_some(Style::Fields)),
        false => {
            let media = encoding["contentType"].as_str().unwrap_or_default();
            (media.contains("json") && !shape.is_word()).then_some(Style::Json)
        }
    }
}

/// What `style`, `explode` and `allowReserved` come to. `None`: a list repeats the name, an object its members'.
fn written(said: &Value, shape: Shape) -> Option<Style> {
    let explodes = said["explode"].as_bool();
    if said["style"] == "deepObject" {
        return Some(Style::Deep);
    }
    if shape.is_word() {
        return (said["allowReserved"] == Value::Bool(true)).then_some(Style::Reserved);
    }
    match said["style"].as_str().unwrap_or("form") {
        // OpenAPI defines these two for lists that do not explode; exploded, they are the usual form.
        "spaceDelimited" if explodes != Some(true) => Some(Style::Space),
        "pipeDelimited" if explodes != Some(true) => Some(Style::Pipe),
        _ if explodes == Some(false) => Some(Style::Comma),
        _ => None,
    }
}

/// The style of a parameter of the path, if it is not one word of it.
pub(super) fn of_path(operation: &Operation<'_>, parameter: &Parameter<'_>) -> Option<Style> {
    if parameter.value.get("content").is_some() {
        return None;
    }
    let shape = Shape::of(operation.document, parameter.schema);
    let explodes = parameter.value["explode"] == Value::Bool(true);
    match (parameter.value["style"].as_str().unwrap_or("simple"), explodes) {
        ("label", false) => Some(Style::Label),
        ("label", true) => Some(Style::LabelEach),
        ("matrix", false) => Some(Style::Matrix),
        ("matrix", true) => Some(Style::MatrixEach),
        _ if shape.is_word() => None,
        (_, true) if shape.is_object => Some(Style::SimplePairs),
        _ => Some(Style::Simple),
    }
}

/// The style of a header field or a cookie that callers fill.
pub(super) fn of_field(operation: &Operation<'_>, parameter: &Parameter<'_>) -> Style {
    let shape = Shape::of(operation.document, parameter.schema);
    match parameter.place {
        "cookie" => Style::Cookie,
        _ if parameter.is_json() => Style::HeaderJson,
        _ if shape.is_object && parameter.value["explode"] == Value::Bool(true) => Style::HeaderPairs,
        _ => Style::Header,
    }
}

/// Whether a parameter is a header field or a cookie that callers fill: it says nothing of who they are, and more
/// than one value is possible.
pub(super) fn is_of_callers(parameter: &Parameter<'_>) -> bool {
    let name = parameter.name.to_ascii_lowercase();
    let is_kept = parameter.place == "header" && (KEPT.contains(&name.as_str()) || name.starts_with("x-forwarded-"));
    let told = words(parameter.name);
    // The word `key` speaks of credentials elsewhere; this one names the call.
    let is_about_call = name == "idempotency-key" || name == "x-idempotency-key";
    let tells_who = !is_about_call && told.iter().any(|word| OF_CALLERS_IDENTITY.contains(&word.as_str()));
    matches!(parameter.place, "header" | "cookie") && !is_kept && !tells_who && only_value(parameter).is_none()
}

/// The value of a required parameter that can have no other, or that is usual.
pub(super) fn only_value(parameter: &Parameter<'_>) -> Option<String> {
    let schema = parameter.schema;
    let single = schema["enum"].as_array().filter(|values| values.len() == 1).map(|values| &values[0]);
    let value = schema.get("const").or(single).or_else(|| schema.get("default")).filter(|_| parameter.is_required)?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a schema says nothing of what its values are.
pub(super) fn is_anything(schema: &Value) -> bool {
    let says = ["type", "$ref", "enum", "const", "allOf", "anyOf", "oneOf", "properties", "items", "pattern", "format"];
    schema == &Value::Bool(true) || (schema.is_object() && says.iter().all(|keyword| schema.get(*keyword).is_none()))
}

/// Whether a type is among those of a schema.
fn is_of(schema: &Value, kind: &str) -> bool {
    let types = &schema["type"];
    types == kind || types.as_array().is_some_and(|kinds| kinds.iter().any(|other| other == kind))
}
