//! What an operation answers: the schema of the best success, and names for its failures.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Schema;
use forecourt_contract::endpoint::UPSTREAM_ERRORS;
use serde_json::{Value, json};

use super::body;
use super::dialect::{Dialect, Direction, LADDER, with_definitions};
use super::media;
use super::notes::{ImportNotes, Part};
use super::operation::Operation;

/// What names a status has here.
const NAMES: [(&str, &str); 19] = [
    ("400", "bad_request"),
    ("401", "upstream_authentication_failed"),
    ("402", "payment_required"),
    ("403", "forbidden"),
    ("404", "not_found"),
    ("405", "upstream_error"),
    ("406", "upstream_error"),
    ("408", "upstream_timeout"),
    ("409", "conflict"),
    ("410", "gone"),
    ("412", "precondition_failed"),
    ("413", "too_large"),
    ("415", "upstream_error"),
    ("422", "invalid"),
    ("423", "locked"),
    ("428", "precondition_required"),
    ("429", "too_many_requests"),
    ("503", "unavailable"),
    ("504", "upstream_timeout"),
];

/// The best success.
#[derive(Debug)]
pub(super) struct Success {
    pub(super) schema: Value,
    /// What the document says of it.
    pub(super) description: String,
    /// Its media type, when it is not plain JSON.
    pub(super) media: Option<String>,
    /// Whether it is a list, or an object that is little more than one.
    pub(super) is_list: bool,
}

/// Failures by name.
#[derive(Debug)]
pub(super) struct Failures {
    pub(super) names: Vec<String>,
    pub(super) map: BTreeMap<String, String>,
}

/// The success that an endpoint gives: 200 before 201, 202 and the others.
///
/// # Errors
/// None of them is JSON, in a sentence.
pub(super) fn success(operation: &Operation<'_>, notes: &mut ImportNotes) -> Result<Success, String> {
    let Some((status, response)) = best(operation) else {
        notes.review(Part::Output, "the document says nothing of a success");
        return Ok(Success { schema: json!({}), description: String::new(), media: None, is_list: false });
    };
    let response = operation.document.resolve(response)?;
    let description = response["description"].as_str().unwrap_or_default().trim().to_owned();
    for key in ["headers", "links"].into_iter().filter(|key| response.get(*key).is_some()) {
        notes.loss(format!("the {key} of the answer"));
    }
    let found = match media::json(response) {
        Ok(Some(found)) => found,
        // Nothing comes back, as with 204.
        Ok(None) => {
            return Ok(Success { schema: json!({ "type": "object" }), description, media: None, is_list: false });
        }
        Err(media) => return Err(format!("its answer ({status}) is {media}; only JSON can be given")),
    };
    let resolved = operation.document.resolve(found.schema).unwrap_or(found.schema);
    let is_list = is_list(operation, resolved);
    let schema = fitted(operation, resolved, notes);
    let media = (found.media != "application/json" && !found.media.contains('*')).then(|| found.media.to_owned());
    Ok(Success { schema, description, media, is_list })
}

fn responses<'a>(operation: &Operation<'a>) -> impl Iterator<Item = (&'a String, &'a Value)> {
    operation.value["responses"].as_object().into_iter().flatten()
}

fn best<'a>(operation: &Operation<'a>) -> Option<(&'a String, &'a Value)> {
    let rank = |status: &str| match status {
        "200" => Some(0),
        "201" => Some(1),
        "202" => Some(2),
        other if other.len() == 3 && other.starts_with('2') => Some(if other == "204" { 5 } else { 3 }),
        "default" => Some(6),
        _ => None,
    };
    let ranked = responses(operation).filter_map(|(status, response)| Some((rank(status)?, status, response)));
    ranked.min_by_key(|(rank, _, _)| *rank).map(|(_, status, response)| (status, response))
}

/// A list, or an object one of whose few fields is one.
fn is_list(operation: &Operation<'_>, schema: &Value) -> bool {
    const WORDS: [&str; 6] = ["items", "data", "results", "values", "entries", "records"];
    let says_so = |schema: &Value| schema["type"] == "array" || schema.get("items").is_some();
    // Declared twice, it is joined with `allOf`.
    let is_array =
        |schema: &Value| says_so(schema) || schema["allOf"].as_array().is_some_and(|all| all.iter().any(says_so));
    let fields = body::fields(operation.document, schema).declared;
    let lists = fields.iter().filter(|(_, (field, _))| operation.document.resolve(field).is_ok_and(is_array));
    let lists: Vec<&str> = lists.map(|(name, _)| name.as_str()).collect();
    is_array(schema) || lists.iter().any(|name| WORDS.contains(name)) || (lists.len() == 1 && fields.len() <= 4)
}

/// The schema of an answer that a function gives, which is always an object: anything else is its `result`.
pub(super) fn in_object(mut schema: Value) -> Value {
    if schema["type"] == "object" {
        return schema;
    }
    let definitions = schema.as_object_mut().and_then(|keywords| keywords.remove("$defs"));
    let whole = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] });
    with_definitions(whole, definitions.as_ref().and_then(Value::as_object).cloned().unwrap_or_default())
}

/// Whether a schema that does not say so itself takes objects alone, by what it is composed of.
fn is_object(operation: &Operation<'_>, schema: &Value) -> bool {
    let has_ways = ["oneOf", "anyOf"].iter().any(|keyword| schema.get(*keyword).is_some());
    let is_open = schema["nullable"] == Value::Bool(true);
    !has_ways && !is_open && body::fields(operation.document, schema).is_object
}

/// The schema of an answer, with as much of it as fits into the bounds of schemas.
fn fitted(operation: &Operation<'_>, schema: &Value, notes: &mut ImportNotes) -> Value {
    let mut refused = String::new();
    for levels in LADDER {
        let mut dialect = Dialect::new(operation.document, Direction::Out, levels);
        let mut turned = dialect.schema(schema);
        if let Value::Object(keywords) = &mut turned
            && is_object(operation, schema)
        {
            keywords.entry("type").or_insert_with(|| json!("object"));
        }
        let whole = with_definitions(turned, dialect.definitions());
        match Schema::output(whole.clone(), false) {
            Ok(_) => {
                let found: BTreeSet<String> = dialect.notes.into_iter().collect();
                found.iter().for_each(|note| notes.review(Part::Output, note));
                if !refused.is_empty() {
                    notes.review(Part::Output, format!("less is checked than the document says: {refused}"));
                }
                return whole;
            }
            Err(fault) => refused = fault.to_string(),
        }
    }
    notes.review(Part::Output, format!("any answer is let through: {refused}"));
    json!({})
}

/// Names for the failures of an operation, and those of every service that `is_elsewhere`.
pub(super) fn failures(operation: &Operation<'_>, is_elsewhere: bool, notes: &mut ImportNotes) -> Failures {
    let mut failures = Failures { names: Vec::new(), map: BTreeMap::new() };
    for (status, _) in responses(operation) {
        match status.as_bytes() {
            [b'4' | b'5', second, third] if second.is_ascii_digit() && third.is_ascii_digit() => {
                failures.map.insert(status.clone(), named(status));
            }
            [b'4' | b'5', b'X' | b'x', b'X' | b'x'] => {
                notes.loss(format!("one name for all {status}: they are `upstream_error`"));
            }
            _ => {}
        }
    }
    let stated = operation.value["x-agtp-errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: BTreeSet<String> = failures.map.values().cloned().chain(stated.map(str::to_owned)).collect();
    let own = names.into_iter().filter(|name| !UPSTREAM_ERRORS.contains(&name.as_str()));
    let upstream = UPSTREAM_ERRORS.into_iter().filter(|_| is_elsewhere).map(str::to_owned);
    failures.names = own.chain(upstream).collect();
    failures
}

fn named(status: &str) -> String {
    let known = NAMES.iter().find(|(number, _)| *number == status).map(|(_, name)| (*name).to_owned());
    known.unwrap_or_else(|| match status.starts_with('5') {
        true => "upstream_error".to_owned(),
        false => format!("refused_{status}"),
    })
}
