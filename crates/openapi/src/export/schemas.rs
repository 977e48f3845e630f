//! Schemas in a document that holds many: what one said of itself (`#/…`) is said of its new place.

use std::collections::BTreeSet;

use forecourt_contract::schema::Formats;
use forecourt_contract::{Endpoint, Schema};
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

/// A schema without defaults that it would refuse itself: validators of documents do not let them through. Whether
/// there was one.
pub(super) fn with_fitting_defaults(schema: &Value) -> (Value, bool) {
    let mut dropped = false;
    let fitting = fitted(schema, schema, &mut dropped);
    (fitting, dropped)
}

fn fitted(schema: &Value, root: &Value, dropped: &mut bool) -> Value {
    match schema {
        Value::Array(schemas) => schemas.iter().map(|schema| fitted(schema, root, dropped)).collect(),
        Value::Object(keywords) => {
            let mut kept = Map::new();
            for (key, value) in keywords {
                let inner = match value {
                    _ if key == "default" && !fits(keywords, value, root) => {
                        *dropped = true;
                        continue;
                    }
                    Value::Object(all) if NAMED.contains(&key.as_str()) => {
                        all.iter().map(|(name, schema)| (name.clone(), fitted(schema, root, dropped))).collect()
                    }
                    value if SCHEMAS.contains(&key.as_str()) => fitted(value, root, dropped),
                    value => value.clone(),
                };
                kept.insert(key.clone(), inner);
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

/// Whether a default is one of the values that its schema takes. One that can't be told is none.
fn fits(keywords: &Map<String, Value>, default: &Value, root: &Value) -> bool {
    let mut alone = keywords.clone();
    alone.remove("default");
    for key in ["$defs", "definitions"].into_iter().filter(|key| root.get(*key).is_some()) {
        alone.entry(key).or_insert_with(|| root[key].clone());
    }
    let schema = Schema::compile(Value::Object(alone)).map(|schema| schema.with_formats(Formats::Check));
    schema.is_ok_and(|schema| schema.check(default).is_ok())
}

/// A schema as it stands under `components/schemas`: references into itself lead there, and it names no
/// dialect and no address of its own.
pub(super) fn placed(schema: &Value, name: &str) -> Value {
    let mut schema = moved(schema, name);
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("$schema");
        // With an `$id`, references would be resolved against it and lead out of the document.
        keywords.remove("$id");
    }
    schema
}

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value holds schemas by name, so that the names are no keywords, whatever they are.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// A schema with its references moved. Only where schemas stand is looked for them: a property may be
/// called `$ref`, and an example may hold one.
fn moved(schema: &Value, name: &str) -> Value {
    match schema {
        Value::Array(schemas) => schemas.iter().map(|schema| moved(schema, name)).collect(),
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(key, value)| !is_lookalike(key, value));
            kept.map(|(key, value)| (key.clone(), keyword(key, value, name))).collect()
        }
        other => other.clone(),
    }
}

/// Whether a schema holds a value that tools would follow like a reference: it is left out.
pub(super) fn has_lookalike(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_lookalike),
        Value::Object(keywords) => keywords.iter().any(|(key, value)| match value {
            Value::Object(named) if NAMED.contains(&key.as_str()) => named.values().any(has_lookalike),
            _ => is_lookalike(key, value) || (SCHEMAS.contains(&key.as_str()) && has_lookalike(value)),
        }),
        _ => false,
    }
}

/// Whether the value of a keyword that holds data has a `$ref` in it. Most tools follow them everywhere.
fn is_lookalike(key: &str, value: &Value) -> bool {
    fn refers(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(refers),
            Value::Object(fields) => fields.get("$ref").is_some_and(Value::is_string) || fields.values().any(refers),
            _ => false,
        }
    }
    matches!(key, "const" | "default" | "enum" | "example" | "examples") && refers(value)
}

fn keyword(key: &str, value: &Value, name: &str) -> Value {
    match (key, value) {
        ("$ref" | "$dynamicRef", Value::String(reference)) => match reference.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                json!(format!("#/components/schemas/{name}{pointer}"))
            }
            _ => value.clone(),
        },
        (key, Value::Object(schemas)) if NAMED.contains(&key) => {
            schemas.iter().map(|(property, schema)| (property.clone(), moved(schema, name))).collect()
        }
        (key, schema) if SCHEMAS.contains(&key) => moved(schema, name),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_fit_their_schemas() {
        let schema = json!({ "type": "object", "$defs": { "day": { "type": "string", "format": "date" } }, "properties": {
            "a": { "type": "integer", "default": "one" }, "b": { "type": "integer", "default": 1 },
            "c": { "type": "string", "default": null }, "d": { "$ref": "#/$defs/day", "default": "2027-02-30" },
            "e": { "type": "array", "items": { "enum": ["x"], "default": "y" }, "default": [] },
            "default": { "type": "string", "default": "z" },
        } });
        let (fitting, dropped) = with_fitting_defaults(&schema);
        let all = &fitting["properties"];
        assert!(dropped && ["a", "c", "d"].iter().all(|name| all[*name].get("default").is_none()), "{fitting}");
        assert_eq!((&all["b"]["default"], &all["e"]["default"]), (&json!(1), &json!([])));
        assert!(all["e"]["items"].get("default").is_none());
        assert_eq!(all["default"]["default"], "z");
        assert!(!with_fitting_defaults(&json!({ "type": "integer", "default": 2 })).1);
    }

    #[test]
    fn references_move_where_schemas_stand_and_nowhere_else() {
        let here = json!({"$ref": "#/$defs/A"});
        let there = json!({"$ref": "#/components/schemas/s/$defs/A"});
        for property in ["default", "enum", "const", "examples", "$ref", "type", "properties", "$defs", "items"] {
            let schema = json!({"type": "object", "properties": { property: here }});
            assert_eq!(placed(&schema, "s")["properties"][property], there, "{property}");
        }
        assert_eq!(placed(&json!({"x-note": here}), "s"), json!({"x-note": here}));
        for keyword in ["default", "const", "example", "examples", "enum"] {
            let schema = json!({ keyword: [{"a": here}] });
            assert!(has_lookalike(&schema));
            assert_eq!(placed(&schema, "s"), json!({}), "{keyword}: tools would follow it");
        }
        for keyword in ["items", "not", "if", "additionalProperties", "contains"] {
            assert_eq!(placed(&json!({ keyword: here }), "s")[keyword], there, "{keyword}");
        }
        for keyword in ["allOf", "oneOf", "prefixItems"] {
            assert_eq!(placed(&json!({ keyword: [here] }), "s")[keyword][0], there, "{keyword}");
        }
    }
}
