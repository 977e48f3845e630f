//! One input out of everything that a request has: path, query and body. Section 6.4.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Schema;
use forecourt_contract::endpoint::Style;
use forecourt_contract::schema::SchemaError;
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Direction, LADDER, Levels, with_definitions};
use super::fields::{Field, field, name, plain};
use super::notes::{Doubt, ImportNotes, LESS_CHECKED, Part};
use super::operation::{Operation, Parameter};
use super::path::Route;
use super::request::{self, BodyBinding, DeclaredBody};
use super::style::{self, Shape};
use super::words::{named, snake};
use crate::limits::FIELDS_MAX;

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
    /// What the body is, when it is not what its method usually has.
    pub(super) body: Option<BodyBinding>,
}

/// Joins path, query and body. Names that collide get the place they come from before them.
///
/// # Errors
/// A body that no input can be, in a sentence.
pub(super) fn input(operation: &Operation<'_>, route: &Route, notes: &mut ImportNotes) -> Result<Input, String> {
    let mut input = Input::default();
    let mut fields: Vec<Field> = Vec::new();
    let declared = DeclaredBody::read(operation)?;
    // Without fields in a body, the binding puts all that goes nowhere else into the query by itself.
    let in_query = !declared.as_ref().is_some_and(DeclaredBody::takes_the_rest);
    for (theirs, ours) in &route.names {
        let parameter = operation.parameters.iter().find(|p| p.place == "path" && p.name == theirs);
        add_of_path(operation, (theirs, ours), parameter, &mut fields, &mut input);
    }
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == "query") {
        let style = style::of_query(operation, parameter, in_query);
        let is_in_url = !in_query && style.is_none();
        let wanted = if is_in_url { named(&plain(parameter.name)) } else { plain(parameter.name) };
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
        let ours = name(&fields, &snake(parameter.name), parameter.place);
        input.transform.insert(ours.clone(), parameter.name.to_owned());
        input.styles.insert(ours.clone(), style::of_field(operation, parameter));
        let what = if parameter.place == "cookie" { "cookie" } else { "header field" };
        notes.review(
            Part::Handler,
            Doubt::about(
                "callers say what is in header fields and cookies",
                format!("the {what} {} as {ours}", parameter.name),
            ),
        );
        let mut field = field(ours, Some(parameter), parameter.is_required);
        if parameter.place == "header" {
            in_ascii(&mut field.schema);
        }
        fields.push(field);
    }
    let bound = match declared {
        Some(declared) => declared.bind(operation, &mut fields, notes),
        None => request::without(operation),
    };
    if fields.len() > FIELDS_MAX {
        return Err(format!("it takes more than {FIELDS_MAX} fields"));
    }
    input.transform.extend(bound.transform);
    input.body = bound.binding;
    input.schema = fitted(operation, &fields, &bound.rules, notes)?;
    Ok(input)
}

/// Adds a field of the path, which is one text of it whatever its service reads there.
fn add_of_path(
    operation: &Operation<'_>,
    (theirs, ours): (&str, &str),
    parameter: Option<&Parameter<'_>>,
    fields: &mut Vec<Field>,
    input: &mut Input,
) {
    let mut field = field(ours.to_owned(), parameter, true);
    let shape = Shape::of(operation.document, &field.schema);
    let style = parameter.and_then(|parameter| style::of_path(operation, parameter));
    if let Some(style) = style {
        input.styles.insert(ours.to_owned(), style);
        if ours != theirs {
            input.transform.insert(ours.to_owned(), theirs.to_owned());
        }
    }
    if !shape.is_word() {
        field.schema = parted(operation, &field.schema);
    } else if style::is_anything(&field.schema) {
        // A segment is a text, also where the document says nothing of it (section 5.3).
        field.schema = json!({ "type": "string" });
    } else if let Ok(found) = operation.document.resolve(&field.schema) {
        field.schema = found.clone();
    }
    if let Value::Object(keywords) = &mut field.schema
        && keywords.get("type").is_some_and(|kind| kind == "string")
        && !["enum", "const", "pattern"].iter().any(|keyword| keywords.contains_key(*keyword))
    {
        // A segment that is empty is none.
        keywords.entry("minLength").or_insert(json!(1));
    }
    fields.push(field);
}

/// Says of a text that it goes into a header field: printable ASCII, without blanks at its ends. RFC 9110 5.5.
fn in_ascii(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    let is_told = ["enum", "const", "pattern", "format"].iter().any(|keyword| keywords.contains_key(*keyword));
    if keywords.get("type").is_some_and(|kind| kind == "string") && !is_told {
        keywords.insert("pattern".to_owned(), json!("^[!-~]([ -~]*[!-~])?$"));
    }
}

/// The schema of a text with parts between commas.
fn parted(operation: &Operation<'_>, schema: &Value) -> Value {
    let found = operation.document.resolve(schema).unwrap_or(schema);
    let item = operation.document.resolve(&found["items"]).unwrap_or(&found["items"]);
    let word = match (item["type"].as_str(), item["enum"].as_array()) {
        // Eighteen digits fit into 64 bits; more would be another number to most services.
        (Some("integer"), None) => Some("(0|-?[1-9][0-9]{0,17})".to_owned()),
        (Some("string"), Some(values)) => {
            let is_plain = |text: &&str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
            let words: Option<Vec<&str>> = values.iter().map(|value| value.as_str().filter(is_plain)).collect();
            words.map(|words| format!("({})", words.join("|")))
        }
        _ => None,
    };
    let mut text = json!({ "type": "string" });
    if let Some(word) = word.filter(|_| found["type"] == "array") {
        text["pattern"] = json!(format!("^{word}(,{word})*$"));
    }
    text
}

/// The schema of the fields, with as much of it as fits into the bounds of schemas.
fn fitted(
    operation: &Operation<'_>,
    fields: &[Field],
    rules: &Map<String, Value>,
    notes: &mut ImportNotes,
) -> Result<Value, String> {
    let mut refused = String::new();
    for levels in LADDER {
        let (schema, found) = match schema(operation, fields, rules, levels) {
            Ok(found) => found,
            Err(fault) => {
                refused = fault.to_string();
                continue;
            }
        };
        match Schema::input(schema.clone()) {
            Ok(_) => {
                found.into_iter().for_each(|doubt| notes.review(Part::Input, doubt));
                if !refused.is_empty() {
                    notes.review(Part::Input, Doubt::about(LESS_CHECKED, refused));
                }
                return Ok(schema);
            }
            Err(fault) => refused = fault.to_string(),
        }
    }
    Err(format!("what it takes can't be declared: {refused}"))
}

fn schema(
    operation: &Operation<'_>,
    fields: &[Field],
    rules: &Map<String, Value>,
    levels: Levels,
) -> Result<(Value, Vec<Doubt>), SchemaError> {
    let mut dialect = Dialect::new(operation.document, Direction::In, levels);
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.ours.clone(), told(dialect.field(&field.schema), field));
    }
    let required: BTreeSet<&str> = fields.iter().filter(|field| field.is_required).map(|f| f.ours.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if levels.rules
        && !rules.is_empty()
        && let (Value::Object(all), Value::Object(more)) = (&mut schema, dialect.schema(&Value::Object(rules.clone())))
    {
        for (keyword, value) in more {
            all.entry(keyword).or_insert(value);
        }
    }
    let schema = with_definitions(schema, dialect.definitions()?);
    Ok((schema, dialect.notes))
}

/// The schema of a field with what the document says of its parameter.
fn told(schema: Value, field: &Field) -> Value {
    match (schema, &field.description) {
        (Value::Bool(true), Some(description)) => json!({ "description": description }),
        (Value::Object(mut keywords), Some(description)) => {
            keywords.insert("description".to_owned(), json!(description));
            Value::Object(keywords)
        }
        (schema, _) => schema,
    }
}
