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
        while let Some(pointer) = value.get("$ref").and_then(Value::as_str) {
            let pointer = pointer.strip_prefix('#').unwrap();
            let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8().unwrap();
            value = self.root.pointer(&decoded).unwrap();
        }
        value
    }

    /// A schema that stands alone: everything that it refers to is beside it.
    pub(super) fn schema(&self, schema: &Value, way: Way) -> Value {
        let mut whole = json!({ "allOf": [self.modern(schema, way)] });
        let (mut open, mut done) = (references(schema), BTreeSet::new());
        while let Some(pointer) = open.pop() {
            if done.insert(pointer.clone()) {
                let target = self.root.pointer(&pointer).unwrap();
                open.extend(references(target));
                put(&mut whole, &pointer, self.modern(target, way));
            }
        }
        whole
    }

    fn modern(&self, schema: &Value, way: Way) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let mut ours = Map::new();
        for (keyword, value) in keywords {
            let value = match (keyword.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                    named.iter().map(|(name, schema)| (name.clone(), self.modern(schema, way))).collect()
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                    list.iter().map(|schema| self.modern(schema, way)).collect()
                }
                ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", schema) => {
                    self.modern(schema, way)
                }
                ("required", Value::Array(names)) => {
                    let hidden = if way == Way::Sent { &self.read_only } else { &self.write_only };
                    names.iter().filter(|name| !hidden.contains(name.as_str().unwrap())).cloned().collect()
                }
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

/// The names of properties with a flag, wherever they are.
fn flagged(value: &Value, root: &Value, flag: &str, found: &mut BTreeSet<String>) {
    let is_set = |schema: &Value| {
        let target = schema["$ref"].as_str().and_then(|pointer| root.pointer(pointer.strip_prefix('#')?));
        schema[flag] == true || target.is_some_and(|target| target[flag] == true)
    };
    let properties = value["properties"].as_object().into_iter().flatten();
    found.extend(properties.filter(|(_, schema)| is_set(schema)).map(|(name, _)| name.clone()));
    match value {
        Value::Object(members) => members.values().for_each(|member| flagged(member, root, flag, found)),
        Value::Array(items) => items.iter().for_each(|item| flagged(item, root, flag, found)),
        _ => {}
    }
}

fn references(value: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    match value {
        Value::Object(members) => {
            found.extend(value["$ref"].as_str().and_then(|pointer| pointer.strip_prefix('#')).map(str::to_owned));
            members.values().for_each(|member| found.extend(references(member)));
        }
        Value::Array(items) => items.iter().for_each(|item| found.extend(references(item))),
        _ => {}
    }
    found
}

/// Puts a value where a pointer leads.
fn put(whole: &mut Value, pointer: &str, value: Value) {
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let mut place = whole;
    for step in steps {
        place = match place {
            Value::Object(members) => members.entry(step).or_insert_with(|| json!({})),
            // Part of a list that is there already, with all that is in it.
            Value::Array(items) => match step.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                Some(item) => item,
                None => return,
            },
            _ => return,
        };
    }
    *place = value;
}
