//! What an operation answers: the schema of the best success, and names for its failures.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Schema;
use forecourt_contract::endpoint::{AnswerKind, UPSTREAM_ERRORS};
use serde_json::{Value, json};

use super::body;
use super::dialect::{Dialect, Direction, LADDER, with_definitions};
use super::media::{self, Representation};
use super::notes::{Doubt, ImportNotes, LESS_CHECKED, Part};
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

/// Statuses that any service answers with, whether its document says so or not.
const UNDECLARED: [&str; 4] = ["400", "404", "409", "422"];

/// The best success.
#[derive(Debug)]
pub(super) struct Success {
    pub(super) schema: Value,
    /// What the document says of it.
    pub(super) description: String,
    /// Its media type, when it is not plain JSON.
    pub(super) media: Option<String>,
    /// What an answer is read as.
    pub(super) kind: AnswerKind,
    /// Whether it is a list, or an object that is little more than one.
    pub(super) is_list: bool,
}

/// Failures by name.
#[derive(Debug)]
pub(super) struct Failures {
    pub(super) names: Vec<String>,
    pub(super) map: BTreeMap<String, String>,
}

/// The success that an endpoint gives: that of 200 before 201, 202 and the others. Where several are of the same
/// kind, it may be any of them.
///
/// # Errors
/// It is declared by a reference that leads nowhere.
pub(super) fn success(operation: &Operation<'_>, notes: &mut ImportNotes) -> Result<Success, String> {
    let found = successes(operation);
    let Some((_, best)) = found.first() else { return Ok(without(operation, notes)) };
    let response = operation.document.resolve(best)?;
    let description = response["description"].as_str().unwrap_or_default().trim().to_owned();
    for key in ["headers", "links"].into_iter().filter(|key| response.get(*key).is_some()) {
        notes.loss(format!("the {key} of the answer"));
    }
    let all = found.iter().filter_map(|(status, response)| Some((*status, operation.document.resolve(response).ok()?)));
    // Whatever the document says of its body, 204 has none (RFC 9110 15.3.5).
    let body = |(status, response): (&str, _)| if is_empty(status) { None } else { media::best(response) };
    let given: Vec<Option<Representation<'_>>> = all.map(body).collect();
    let Some(best) = given.iter().flatten().next() else {
        // Nothing comes back, as with 204.
        let schema = json!({ "type": "object" });
        return Ok(Success { schema, description, media: None, kind: AnswerKind::Json, is_list: false });
    };
    let (media, kind) = (best.own_media(), best.answer());
    if kind != AnswerKind::Json {
        let schema = read_as(kind);
        return Ok(Success { schema, description, media, kind, is_list: false });
    }
    let is_other = |other: &&Option<Representation<'_>>| other.as_ref().is_some_and(|other| other.answer() != kind);
    if given.iter().any(|other| is_other(&other)) {
        notes.loss("answers of other statuses that are no JSON");
    }
    let resolved = operation.document.resolve(best.schema).unwrap_or(best.schema);
    let is_list = is_list(operation, resolved);
    let schemas = schemas(&given, best.schema);
    let schema = match schemas[..] {
        [_] => fitted(operation, resolved, notes),
        _ => fitted(operation, &any_of(operation, &schemas), notes),
    };
    Ok(Success { schema, description, media, kind, is_list })
}

/// Any of several answers. They are objects where each of them is one.
fn any_of(operation: &Operation<'_>, schemas: &[&Value]) -> Value {
    let mut any = json!({ "anyOf": schemas });
    if schemas.iter().all(|schema| is_object(operation, operation.document.resolve(schema).unwrap_or(schema))) {
        any["type"] = json!("object");
    }
    any
}

/// The schemas of the JSON among several answers, each once, the best first.
fn schemas<'a>(given: &'a [Option<Representation<'a>>], best: &'a Value) -> Vec<&'a Value> {
    static NOTHING: std::sync::LazyLock<Value> =
        std::sync::LazyLock::new(|| json!({ "type": "object", "maxProperties": 0 }));
    let mut all = vec![best];
    for other in given {
        let schema = match other {
            None => &*NOTHING,
            Some(found) if found.answer() == AnswerKind::Json => found.schema,
            Some(_) => continue,
        };
        if !all.contains(&schema) {
            all.push(schema);
        }
    }
    all
}

/// What is given where the document names no success: where a redirect leads, else anything.
fn without(operation: &Operation<'_>, notes: &mut ImportNotes) -> Success {
    let leads =
        responses(operation).find(|(status, _)| matches!(status.as_str(), "301" | "302" | "303" | "307" | "308"));
    let (schema, kind, description) = match leads {
        Some((_, response)) => {
            let response = operation.document.resolve(response).unwrap_or(response);
            let description = response["description"].as_str().unwrap_or_default().trim();
            (read_as(AnswerKind::Location), AnswerKind::Location, description.to_owned())
        }
        None => {
            notes.review(Part::Output, Doubt::new("the document says nothing of a success"));
            (json!({}), AnswerKind::Json, String::new())
        }
    };
    Success { schema, description, media: None, kind, is_list: false }
}

/// The schema of an answer that is no JSON.
fn read_as(kind: AnswerKind) -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let media = text("The media type.");
    match kind {
        AnswerKind::Text => json!({ "type": "object",
            "properties": { "text": text("The answer as it is."), "media_type": media } }),
        AnswerKind::Bytes => json!({ "type": "object",
            "properties": { "data": { "type": "string", "contentEncoding": "base64",
                "description": "The answer in base64." }, "media_type": media } }),
        AnswerKind::Location => json!({ "type": "object", "required": ["location"],
            "properties": { "location": text("Where it is.") } }),
        AnswerKind::Json => json!({}),
    }
}

fn responses<'a>(operation: &Operation<'a>) -> impl Iterator<Item = (&'a String, &'a Value)> {
    operation.value["responses"].as_object().into_iter().flatten()
}

/// The successes, the best first.
fn successes<'a>(operation: &Operation<'a>) -> Vec<(&'a str, &'a Value)> {
    let rank = |status: &str| match status {
        "200" => Some(0),
        "201" => Some(1),
        "202" => Some(2),
        // 204 last: it has no body, and a caller is better served by any success that has one.
        other if other.len() == 3 && other.starts_with('2') => Some(if is_empty(other) { 5 } else { 3 }),
        _ => None,
    };
    let ranked =
        responses(operation).filter_map(|(status, response)| Some((rank(status)?, (status.as_str(), response))));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let leads = responses(operation).any(|(status, _)| status.starts_with('3'));
    // What is said of everything else is said of failures where there is another success.
    let usual = operation.value["responses"].get("default").filter(|_| ranked.is_empty() && !leads);
    ranked.into_iter().map(|(_, found)| found).chain(usual.map(|response| ("default", response))).collect()
}

/// Whether an answer of a status never has a body.
fn is_empty(status: &str) -> bool {
    matches!(status, "204" | "205")
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
    // `$defs` must stay at the root, where the references in the schema look for them.
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
    // The bounds of schemas are the contract's own; rather a schema that checks less than no endpoint at all.
    for levels in LADDER {
        let mut dialect = Dialect::new(operation.document, Direction::Out, levels);
        let mut turned = dialect.schema(schema);
        if let Value::Object(keywords) = &mut turned
            && is_object(operation, schema)
        {
            keywords.entry("type").or_insert_with(|| json!("object"));
        }
        let definitions = match dialect.definitions() {
            Ok(definitions) => definitions,
            Err(fault) => {
                refused = fault.to_string();
                continue;
            }
        };
        let whole = with_definitions(turned, definitions);
        match Schema::output(whole.clone(), false) {
            Ok(_) => {
                dialect.notes.into_iter().for_each(|doubt| notes.review(Part::Output, doubt));
                if !refused.is_empty() {
                    notes.review(Part::Output, Doubt::about(LESS_CHECKED, refused));
                }
                return whole;
            }
            Err(fault) => refused = fault.to_string(),
        }
    }
    notes.review(Part::Output, Doubt::about("any answer is let through", refused));
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
    if is_elsewhere && !operation.document.is_exported() {
        // Frameworks declare their own 422 alone; a conflict that says so is no failure of the service.
        let usual = UNDECLARED.iter().filter(|status| **status != "409" || !operation.reads_only());
        for status in usual.filter(|status| !failures.map.contains_key(**status)).copied().collect::<Vec<_>>() {
            failures.map.insert(status.to_owned(), named(status));
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
