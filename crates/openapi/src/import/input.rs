//! One input out of everything that a request has: path, query and body. Section 6.4.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Schema;
use serde_json::{Map, Value, json};

use super::body;
use super::dialect::{Dialect, Direction, LADDER, Levels, free, with_definitions};
use super::media;
use super::notes::{Notes, Part};
use super::operation::{Operation, Parameter};
use super::path::Route;
use super::words::{line, named, snake};
use crate::limits::{FIELDS_MAX, SENTENCE_CHARS_MAX};

/// The methods whose fields go into the query, not into a body.
const BY_QUERY: [&str; 5] = ["GET", "DELETE", "HEAD", "OPTIONS", "TRACE"];

/// What an endpoint takes and how it is sent on.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) schema: Value,
    /// Our name of a field to the service's, where they differ.
    pub(super) transform: BTreeMap<String, String>,
    /// Fields that go into the URL's query: the service's name to ours.
    pub(super) in_url: Vec<(String, String)>,
    /// The media type of the body, when it is not plain JSON.
    pub(super) media: Option<String>,
}

/// One field of the input.
struct Field {
    ours: String,
    schema: Value,
    is_required: bool,
    description: Option<String>,
}

/// Joins path, query and body. Names that collide get the place they come from before them.
///
/// # Errors
/// A body that no input can be, in a sentence.
pub(super) fn input(operation: &Operation<'_>, route: &Route, notes: &mut Notes) -> Result<Input, String> {
    let mut input = Input::default();
    let mut fields: Vec<Field> = Vec::new();
    let in_query = BY_QUERY.contains(&operation.http.as_str());
    for (theirs, ours) in &route.names {
        let declared = operation.parameters.iter().find(|p| p.place == "path" && p.name == theirs);
        let mut field = field(ours.clone(), declared, true);
        if !is_word(operation, &field.schema) {
            notes.review(
                Part::Input,
                format!("{theirs} has parts for the service: here it is one text, as it stands in the path"),
            );
            field.schema = json!({ "type": "string" });
        }
        fields.push(field);
    }
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == "query") {
        if !in_query && !is_word(operation, parameter.schema) {
            notes.loss(format!(
                "the query parameter {}: beside a body only plain values go into the URL",
                parameter.name
            ));
            continue;
        }
        styles(parameter, notes);
        let wanted = if in_query { parameter.name.to_owned() } else { named(parameter.name) };
        let ours = name(&fields, &wanted, "query");
        if !in_query {
            input.in_url.push((parameter.name.to_owned(), ours.clone()));
        } else if ours != parameter.name {
            input.transform.insert(ours.clone(), parameter.name.to_owned());
        }
        fields.push(field(ours, Some(parameter), parameter.is_required));
    }
    if operation.value.get("requestBody").is_some() {
        match in_query {
            true => notes.loss(format!("the body: {} is sent without one", operation.http)),
            false => add_body(operation, &mut fields, &mut input, notes)?,
        }
    }
    if fields.len() > FIELDS_MAX {
        return Err(format!("it takes more than {FIELDS_MAX} fields"));
    }
    input.schema = fitted(operation, &fields, notes)?;
    Ok(input)
}

fn add_body(
    operation: &Operation<'_>,
    fields: &mut Vec<Field>,
    input: &mut Input,
    notes: &mut Notes,
) -> Result<(), String> {
    let body = operation.document.resolve(&operation.value["requestBody"])?;
    let is_required = body["required"] == Value::Bool(true);
    let found = match media::json(body) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(()),
        // Who leaves `required` out of an upload means it.
        Err(media) if body["required"] != Value::Bool(false) => {
            return Err(format!("its body is {media}; only JSON can be sent"));
        }
        Err(media) => {
            notes.loss(format!("the body, which is {media}; only JSON can be sent"));
            return Ok(());
        }
    };
    input.media = (found.media != "application/json" && !found.media.contains('*')).then(|| found.media.to_owned());
    let declared = body::fields(operation.document, found.schema);
    declared.notes.iter().for_each(|note| notes.review(Part::Input, note));
    if declared.declared.is_empty() {
        let what = match operation.document.resolve(found.schema) {
            Err(fault) => format!("nothing that is known: {fault}"),
            Ok(_) if declared.is_object => "an object without named fields".to_owned(),
            Ok(_) => "no JSON object".to_owned(),
        };
        return match is_required {
            true => Err(format!("its body is {what}; no input can declare that")),
            false => {
                notes.loss(format!("the body, which is {what}"));
                Ok(())
            }
        };
    }
    for (theirs, (schema, needed)) in declared.declared {
        if !goes_in(operation, &schema) {
            continue;
        }
        let ours = name(fields, &theirs, "body");
        if ours != theirs {
            input.transform.insert(ours.clone(), theirs);
        }
        fields.push(Field { ours, schema, is_required: needed && is_required, description: None });
    }
    Ok(())
}

/// Whether a caller may set it.
fn goes_in(operation: &Operation<'_>, schema: &Value) -> bool {
    let is_set = |schema: &Value| schema.get("readOnly") == Some(&Value::Bool(true));
    !is_set(schema) && !operation.document.resolve(schema).is_ok_and(is_set)
}

/// A name that no other field has.
fn name(fields: &[Field], wanted: &str, place: &str) -> String {
    let is_free = |name: &str| fields.iter().all(|field| field.ours != name);
    match is_free(wanted) {
        true => wanted.to_owned(),
        false => free(&format!("{place}_{}", snake(wanted)), is_free),
    }
}

fn field(ours: String, parameter: Option<&Parameter<'_>>, is_required: bool) -> Field {
    let schema = parameter.map_or_else(|| json!({ "type": "string" }), |parameter| parameter.schema.clone());
    let description = parameter.and_then(|parameter| parameter.value["description"].as_str());
    Field { ours, schema, is_required, description: description.map(|text| line(text, SENTENCE_CHARS_MAX)) }
}

/// Whether its values are single words.
fn is_word(operation: &Operation<'_>, schema: &Value) -> bool {
    let schema = operation.document.resolve(schema).unwrap_or(schema);
    let is_large = |kind: &Value| kind == "array" || kind == "object";
    !is_large(&schema["type"]) && !schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_large))
}

/// Notes ways of writing a parameter that are not the usual one.
fn styles(parameter: &Parameter<'_>, notes: &mut Notes) {
    let style = parameter.value["style"].as_str().unwrap_or("form");
    let is_joined = parameter.value["explode"] == Value::Bool(false);
    let is_list = parameter.schema["type"] == "array";
    let is_object = parameter.schema["type"] == "object";
    if style != "form" || (is_joined && is_list) || is_object {
        let name = parameter.name;
        notes.loss(format!("how the query parameter {name} is written (style {style}): lists repeat the name"));
    }
    if parameter.value.get("content").is_some() {
        notes.loss(format!("the query parameter {} is JSON for the service, and sent as plain text", parameter.name));
    }
}

/// The schema of the fields, with as much of it as fits into the bounds of schemas.
fn fitted(operation: &Operation<'_>, fields: &[Field], notes: &mut Notes) -> Result<Value, String> {
    let mut refused = String::new();
    for levels in LADDER {
        let (schema, found) = schema(operation, fields, levels);
        match Schema::input(schema.clone()) {
            Ok(_) => {
                found.iter().for_each(|note| notes.review(Part::Input, note));
                if !refused.is_empty() {
                    notes.review(Part::Input, format!("less is checked than the document says: {refused}"));
                }
                return Ok(schema);
            }
            Err(fault) => refused = fault.to_string(),
        }
    }
    Err(format!("what it takes can't be declared: {refused}"))
}

fn schema(operation: &Operation<'_>, fields: &[Field], levels: Levels) -> (Value, BTreeSet<String>) {
    let mut dialect = Dialect::new(operation.document, Direction::In, levels);
    let mut properties = Map::new();
    for field in fields {
        let mut schema = dialect.schema(&field.schema);
        if let (Some(description), Value::Bool(true)) = (&field.description, &schema) {
            schema = json!({ "description": description });
        }
        if let (Some(description), Value::Object(keywords)) = (&field.description, &mut schema) {
            keywords.insert("description".to_owned(), json!(description));
        }
        properties.insert(field.ours.clone(), schema);
    }
    let required: BTreeSet<&str> = fields.iter().filter(|field| field.is_required).map(|f| f.ours.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let schema = with_definitions(schema, dialect.definitions());
    (schema, dialect.notes.into_iter().collect())
}
