//! Schemas of a document in one dialect, with what they refer to: 3.0 becomes Draft 2020-12, readings and writings
//! are told apart. Written for the tests alone, so that a fault of the importer is none here.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The document of a service.
pub(super) struct Document {
    pub(super) root: Value,
    read_only: BTreeSet<String>,
    write_only: BTreeSet<String>,
}

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    Sent,
    Answered,
}

impl Document {
    pub(super) fn new(root: &Value) -> Document {
        let names = |flag: &str| {
            let mut found = BTreeSet::new();
            flagged(root, root, flag, &mut found);
            found
        };
        Document { root: root.clone(), read_only: names("readOnly"), write_only: names("writeOnly") }
    }

    /// What a reference leads to.
    pub(super) fn resolve<'a>(&'a self, mut value: &'a Value) -> &'a Value {
        while let Some(pointer) = pointer(value) {
            value = self.root.pointer(&pointer).unwrap();
        }
        value
    }

    /// A schema that stands alone: everything that it refers to is beside it, under names of this reader's own.
    pub(super) fn schema(&self, schema: &Value, way: Way) -> Value {
        let mut names = Names::default();
        let mut whole = json!({ "allOf": [self.modern(schema, way, &mut names)] });
        let mut definitions = Map::new();
        while let Some(pointer) = names.0.get(definitions.len()).cloned() {
            let target = self.root.pointer(&pointer).unwrap();
            let name = definitions.len().to_string();
            definitions.insert(name, self.modern(target, way, &mut names));
        }
        whole["$defs"] = Value::Object(definitions);
        whole
    }

    /// Whether what a schema requires does not go this way. What another part of it declares is known by name alone.
    fn hides(&self, keywords: &Map<String, Value>, name: &str, way: Way) -> bool {
        let (flag, all) = match way {
            Way::Sent => ("readOnly", &self.read_only),
            Way::Answered => ("writeOnly", &self.write_only),
        };
        match keywords.get("properties").and_then(|properties| properties.get(name)) {
            Some(own) => is_set(own, &self.root, flag),
            None => all.contains(name),
        }
    }

    /// Whether an object without members keeps a schema.
    fn takes_nothing(&self, schema: &Value, depth: usize) -> bool {
        let schema = self.resolve(schema);
        let listed = |keyword: &str| schema[keyword].as_array().map(Vec::as_slice).unwrap_or_default();
        let takes = |way: &Value| depth < 8 && self.takes_nothing(way, depth + 1);
        (schema["type"] == "object" || schema.get("type").is_none())
            && ["required", "minProperties", "not", "enum"].iter().all(|word| schema.get(*word).is_none())
            && listed("allOf").iter().all(takes)
            && ["anyOf", "oneOf"].iter().all(|keyword| listed(keyword).is_empty() || listed(keyword).iter().any(takes))
    }

    fn modern(&self, schema: &Value, way: Way, names: &mut Names) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let mut ours = Map::new();
        for (keyword, value) in keywords {
            let value = match (keyword.as_str(), value) {
                ("$ref", Value::String(_)) => json!(format!("#/$defs/{}", names.of(pointer(schema).unwrap()))),
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                    named.iter().map(|(name, schema)| (name.clone(), self.modern(schema, way, names))).collect()
                }
                // Of ways that require nothing every value keeps all, so that none would keep just one.
                ("oneOf", Value::Array(ways)) if ways.iter().all(|one| self.takes_nothing(one, 0)) => {
                    let ways = ways.iter().map(|one| self.modern(one, way, names)).collect();
                    ours.insert("anyOf".to_owned(), ways);
                    continue;
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                    list.iter().map(|schema| self.modern(schema, way, names)).collect()
                }
                ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", schema) => {
                    self.modern(schema, way, names)
                }
                ("required", Value::Array(required)) => {
                    required.iter().filter(|name| !self.hides(keywords, name.as_str().unwrap(), way)).cloned().collect()
                }
                ("enum", Value::Array(values)) if keywords.get("type") == Some(&json!("string")) => {
                    let is_text = |value: &Value| value.is_string() || value.is_null();
                    let text = |value: &Value| if is_text(value) { value.clone() } else { json!(value.to_string()) };
                    values.iter().map(text).collect()
                }
                // Expressions of other languages, by which nothing can be held to them.
                ("pattern", pattern) if !is_readable(pattern) => continue,
                // No word of JSON Schema, or one of examples.
                ("nullable" | "example" | "examples" | "discriminator" | "xml" | "default" | "format", _) => continue,
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => continue,
                (_, value) => value.clone(),
            };
            ours.insert(keyword.clone(), value);
        }
        for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if keywords.get(exclusive) == Some(&json!(true)) {
                let number = ours.remove(bound).unwrap();
                ours.insert(exclusive.to_owned(), number);
            }
        }
        match keywords.get("nullable") == Some(&json!(true)) {
            true => json!({ "anyOf": [ours, { "type": "null" }] }),
            false => Value::Object(ours),
        }
    }
}

fn is_readable(pattern: &Value) -> bool {
    jsonschema::draft202012::options().build(&json!({ "pattern": pattern })).is_ok()
}

/// What schemas refer to, by the order in which it was met, which is its name.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn of(&mut self, pointer: String) -> usize {
        self.0.iter().position(|known| *known == pointer).unwrap_or_else(|| {
            self.0.push(pointer);
            self.0.len() - 1
        })
    }
}

fn is_set(schema: &Value, root: &Value, flag: &str) -> bool {
    let target = pointer(schema).and_then(|pointer| root.pointer(&pointer));
    schema[flag] == true || target.is_some_and(|target| target[flag] == true)
}

/// The names of properties with a flag, wherever they are.
fn flagged(value: &Value, root: &Value, flag: &str, found: &mut BTreeSet<String>) {
    let properties = value["properties"].as_object().into_iter().flatten();
    found.extend(properties.filter(|(_, schema)| is_set(schema, root, flag)).map(|(name, _)| name.clone()));
    match value {
        Value::Object(members) => members.values().for_each(|member| flagged(member, root, flag, found)),
        Value::Array(items) => items.iter().for_each(|item| flagged(item, root, flag, found)),
        _ => {}
    }
}

/// Where a reference leads within the document. References are URLs, so that braces of a path come as `%7B`.
fn pointer(value: &Value) -> Option<String> {
    let encoded = value.get("$ref")?.as_str()?.strip_prefix('#')?;
    Some(percent_encoding::percent_decode_str(encoded).decode_utf8().ok()?.into_owned())
}
