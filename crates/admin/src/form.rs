//! A form out of a JSON schema, and what was written into it as JSON again.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api_error::ApiError;

/// What stands before the names of these fields in a form.
pub(crate) const PREFIX: &str = "f.";
/// Fields of a form; what else there is goes into one of JSON.
const FIELDS_MAX: usize = 40;

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The argument.
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
    pub(crate) is_required: bool,
    /// What it is about.
    pub(crate) about: String,
}

/// What may be written into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    Number,
    Whole,
    YesNo,
    /// One of these.
    Choice(Vec<String>),
    /// Anything, as JSON.
    Json,
}

/// The fields for the properties of an object, the required ones first.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(name, property): (&String, &Value)| Field {
        name: name.clone(),
        kind: kind(property),
        is_required: required.contains(&name.as_str()),
        about: property.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    let mut fields: Vec<Field> = properties.iter().map(field).take(FIELDS_MAX).collect();
    // Stable: within each half the order of the schema stays.
    fields.sort_by_key(|field| !field.is_required);
    fields
}

fn kind(property: &Value) -> FieldKind {
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let words: Option<Vec<String>> = choices.iter().map(|one| one.as_str().map(str::to_owned)).collect();
        if let Some(words) = words {
            return FieldKind::Choice(words);
        }
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string") => FieldKind::Text,
        Some("integer") => FieldKind::Whole,
        Some("number") => FieldKind::Number,
        Some("boolean") => FieldKind::YesNo,
        _ => FieldKind::Json,
    }
}

/// What was written into the fields, by their names. What is empty and need not be there is left out.
pub(crate) fn read(fields: &[Field], written: &BTreeMap<String, String>) -> Result<Map<String, Value>, ApiError> {
    let mut arguments = Map::new();
    for field in fields {
        let text = written.get(&format!("{PREFIX}{}", field.name)).map_or("", |text| text.trim());
        if text.is_empty() {
            continue;
        }
        let wrong = |right: &str| ApiError::invalid(format!("`{}` is {right}", field.name));
        let value = match &field.kind {
            FieldKind::Text => Value::from(text),
            FieldKind::Choice(choices) if choices.iter().any(|choice| choice == text) => Value::from(text),
            FieldKind::Choice(choices) => return Err(wrong(&format!("one of {}", choices.join(", ")))),
            FieldKind::Whole => text.parse::<i64>().map(Value::from).map_err(|_| wrong("a whole number"))?,
            FieldKind::Number => text.parse::<f64>().map(Value::from).map_err(|_| wrong("a number"))?,
            FieldKind::YesNo => Value::from(matches!(text, "true" | "on" | "yes")),
            FieldKind::Json => serde_json::from_str(text).map_err(|_| wrong("JSON, such as [\"a\", 1]"))?,
        };
        arguments.insert(field.name.clone(), value);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_becomes_a_form_and_what_is_written_becomes_arguments() {
        let schema = json!({"type": "object", "required": ["room"], "properties": {
            "guests": {"type": "integer", "description": "How many"}, "room": {"type": "string"},
            "quiet": {"type": "boolean"}, "view": {"enum": ["sea", "yard"]}, "price": {"type": "number"},
            "tags": {"type": "array"},
        }});
        let form = fields(&schema);
        assert_eq!((form[0].name.as_str(), form[0].is_required), ("room", true));
        let written = |pairs: &[(&str, &str)]| {
            let named = pairs.iter().map(|(name, text)| (format!("f.{name}"), (*text).to_owned())).collect();
            read(&form, &named)
        };
        let all =
            [("room", "7"), ("guests", "2"), ("quiet", "true"), ("view", "sea"), ("price", "9.5"), ("tags", "[1]")];
        let read = written(&all).unwrap();
        assert_eq!(
            Value::Object(read),
            json!({"room": "7", "guests": 2, "quiet": true, "view": "sea", "price": 9.5, "tags": [1]})
        );
        assert!(written(&[("room", ""), ("guests", " ")]).unwrap().is_empty());
        for (name, wrong) in [("guests", "2.5"), ("price", "x"), ("view", "hill"), ("tags", "[")] {
            assert!(written(&[(name, wrong)]).unwrap_err().message.contains(name), "{name}");
        }
    }
}
