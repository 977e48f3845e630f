//! One input out of everything that a request has: path, query and body. Section 6.4.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Schema;
use forecourt_contract::endpoint::Style;
use serde_json::{Map, Value, json};

use super::body;
use super::dialect::{Dialect, Direction, LADDER, Levels, free, with_definitions};
use super::media;
use super::notes::{ImportNotes, Part};
use super::operation::{Operation, Parameter};
use super::path::Route;
use super::style;
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
    /// How our fields are written, where that is not the usual way.
    pub(super) styles: BTreeMap<String, Style>,
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
pub(super) fn input(operation: &Operation<'_>, route: &Route, notes: &mut ImportNotes) -> Result<Input, String> {
    let mut input = Input::default();
    let mut fields: Vec<Field> = Vec::new();
    let in_query = BY_QUERY.contains(&operation.http.as_str());
    for (theirs, ours) in &route.names {
        let declared = operation.parameters.iter().find(|p| p.place == "path" && p.name == theirs);
        let mut field = field(ours.clone(), declared, true);
        if !operation.document.resolve(&field.schema).is_ok_and(style::is_word) {
            notes.review(
                Part::Input,
                format!("{theirs} has parts for the service: here it is one text, as it stands in the path"),
            );
            field.schema = json!({ "type": "string" });
        }
        fields.push(field);
    }
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == "query") {
        let style = style::of_query(operation, parameter, in_query);
        let is_in_url = !in_query && style.is_none();
        let wanted = if is_in_url { named(parameter.name) } else { parameter.name.to_owned() };
        let ours = name(&fields, &wanted, "query");
        if is_in_url {
            input.in_url.push((parameter.name.to_owned(), ours.clone()));
        } else if ours != parameter.name {
            input.transform.insert(ours.clone(), parameter.name.to_owned());
        }
        input.styles.extend(style.map(|style| (ours.clone(), style)));
        fields.push(field(ours, Some(parameter), parameter.is_required));
    }
    for parameter in operation.parameters.iter().filter(|parameter| style::is_of_callers(parameter)) {
        let ours = name(&fields, &snake(parameter.name), "header");
        input.transform.insert(ours.clone(), parameter.name.to_owned());
        input.styles.insert(ours.clone(), Style::Header);
        notes.review(Part::Handler, format!("callers say what is in the header field {}, as {ours}", parameter.name));
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
    notes: &mut ImportNotes,
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

/// The schema of the fields, with as much of it as fits into the bounds of schemas.
fn fitted(operation: &Operation<'_>, fields: &[Field], notes: &mut ImportNotes) -> Result<Value, String> {
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
