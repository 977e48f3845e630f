//! Schemas in a document that holds many: what one said of itself (`#/…`) is said of its new place.

use std::collections::BTreeSet;

use forecourt_contract::Endpoint;
use serde_json::{Map, Value, json};

/// The schemas of a document, by name.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    pub(super) all: Map<String, Value>,
    names: BTreeSet<String>,
}

impl Schemas {
    /// A name for an endpoint that no other has.
    pub(super) fn name(&mut self, endpoint: &Endpoint) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let path: String = endpoint.path.as_str().chars().map(plain).collect();
        let words: Vec<&str> = path.split('_').filter(|word| !word.is_empty()).collect();
        let wanted = format!("{}_{}", endpoint.method.as_str().to_ascii_lowercase(), words.join("_"));
        let wanted = wanted.trim_end_matches('_').to_owned();
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let name = candidates.find(|name| !self.names.contains(name)).unwrap_or_default();
        self.names.insert(name.clone());
        name
    }

    /// Keeps a schema and gives a reference to it.
    pub(super) fn add(&mut self, name: &str, schema: Value) -> Value {
        self.all.insert(name.to_owned(), schema);
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }
}

/// A schema as it stands under `components/schemas`: references into itself lead there, and it names no
/// dialect and no address of its own.
pub(super) fn placed(schema: &Value, name: &str) -> Value {
    let mut schema = moved(schema, name);
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("$schema");
        keywords.remove("$id");
    }
    schema
}

fn moved(value: &Value, name: &str) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| moved(item, name)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), field(key, value, name))).collect(),
        other => other.clone(),
    }
}

fn field(key: &str, value: &Value, name: &str) -> Value {
    let inside = value.as_str().filter(|_| key == "$ref").and_then(|text| text.strip_prefix('#'));
    match inside {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
            json!(format!("#/components/schemas/{name}{pointer}"))
        }
        _ if matches!(key, "enum" | "const" | "default" | "examples") => value.clone(),
        _ => moved(value, name),
    }
}
