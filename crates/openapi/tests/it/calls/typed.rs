//! Texts of a request as the values that a schema makes of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What queries, forms and header fields hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Text(String),
    List(Vec<Tree>),
    Named(BTreeMap<String, Tree>),
}

impl Tree {
    /// Puts a text under steps such as those in brackets; several under the same ones are a list.
    pub(super) fn put(&mut self, steps: &[String], text: String) {
        let Some((step, rest)) = steps.split_first() else {
            match self {
                Tree::List(items) => items.push(Tree::Text(text)),
                Tree::Named(named) if named.is_empty() => *self = Tree::Text(text),
                other => *other = Tree::List(vec![other.clone(), Tree::Text(text)]),
            }
            return;
        };
        if step.is_empty() {
            return self.put(rest, text);
        }
        if let Tree::Named(named) = self {
            named.entry(step.clone()).or_insert_with(|| Tree::Named(BTreeMap::new())).put(rest, text);
        }
    }

    /// The value that a schema which stands alone makes of it.
    pub(super) fn typed(&self, schema: &Value) -> Value {
        self.within(schema, schema, 0)
    }

    fn within(&self, schema: &Value, root: &Value, depth: usize) -> Value {
        if depth > 24 {
            return self.plain();
        }
        let alternatives = parts(schema, root);
        if let Some(ways) = alternatives {
            let made: Vec<Value> = ways.iter().map(|way| self.within(way, root, depth + 1)).collect();
            let fits = |value: &Value, way: &Value| {
                let mut alone = root.clone();
                alone["allOf"] = json!([way]);
                jsonschema::draft202012::options().build(&alone).is_ok_and(|validator| validator.is_valid(value))
            };
            let found = made.iter().zip(&ways).find(|(value, way)| fits(value, way));
            return found.map(|(value, _)| value.clone()).unwrap_or_else(|| made[0].clone());
        }
        let schema = flat(schema, root, 0);
        let is = |kind: &str| {
            schema["type"] == kind || schema["type"].as_array().is_some_and(|all| all.iter().any(|one| one == kind))
        };
        let is_list = is("array") || schema.get("items").is_some();
        let items = schema.get("items").cloned().unwrap_or(json!(true));
        match self {
            Tree::Text(text) if is_list && text.starts_with('[') => serde_json::from_str(text).unwrap_or(json!(text)),
            Tree::Text(_) if is_list => json!([self.within(&items, root, depth + 1)]),
            Tree::Text(text) => word(text, &is, schema.get("properties").is_some()),
            Tree::List(list) => list.iter().map(|item| item.within(&items, root, depth + 1)).collect(),
            Tree::Named(named) if is_list => {
                let mut list: Vec<(usize, &Tree)> =
                    named.iter().filter_map(|(at, item)| Some((at.parse().ok()?, item))).collect();
                list.sort_by_key(|(at, _)| *at);
                list.into_iter().map(|(_, item)| item.within(&items, root, depth + 1)).collect()
            }
            Tree::Named(named) => {
                let more = schema.get("additionalProperties").cloned().unwrap_or(json!(true));
                let of = |name: &String| schema["properties"].get(name).unwrap_or(&more).clone();
                let members =
                    named.iter().map(|(name, value)| (name.clone(), value.within(&of(name), root, depth + 1)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    fn plain(&self) -> Value {
        match self {
            Tree::Text(text) => json!(text),
            Tree::List(items) => items.iter().map(Tree::plain).collect(),
            Tree::Named(named) => {
                Value::Object(named.iter().map(|(name, tree)| (name.clone(), tree.plain())).collect())
            }
        }
    }
}

fn word(text: &str, is: &dyn Fn(&str) -> bool, has_properties: bool) -> Value {
    let parsed = serde_json::from_str::<Value>(text).ok();
    let fits = |value: &Value| match value {
        Value::Number(_) => is("integer") || is("number"),
        Value::Bool(_) => is("boolean"),
        Value::Object(_) => is("object") || has_properties,
        _ => false,
    };
    parsed.filter(fits).unwrap_or_else(|| json!(text))
}

/// The alternatives of a schema, itself or behind what it refers to.
fn parts(schema: &Value, root: &Value) -> Option<Vec<Value>> {
    let mut schema = schema.clone();
    for _ in 0..16 {
        for keyword in ["anyOf", "oneOf"] {
            let is_typed = schema.get("type").is_some() || schema.get("properties").is_some();
            if let Some(ways) = schema[keyword].as_array().filter(|ways| !ways.is_empty() && !is_typed) {
                return Some(ways.clone());
            }
        }
        schema = match (schema["$ref"].as_str(), schema["allOf"].as_array().map(Vec::as_slice)) {
            (Some(pointer), _) => root.pointer(&pointer[1..])?.clone(),
            (None, Some([only])) => only.clone(),
            _ => return None,
        };
    }
    None
}

/// A schema with its references followed and all that it is composed of joined.
fn flat(schema: &Value, root: &Value, depth: usize) -> Value {
    let mut whole = schema.clone();
    if depth > 16 || !schema.is_object() {
        return if schema.is_object() { whole } else { json!({}) };
    }
    let target = schema["$ref"].as_str().and_then(|pointer| root.pointer(&pointer[1..]));
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|list| schema[*list].as_array()).flatten();
    for part in target.into_iter().chain(lists) {
        let part = flat(part, root, depth + 1);
        for (keyword, value) in part.as_object().into_iter().flatten() {
            match (keyword.as_str(), whole.get_mut(keyword)) {
                ("properties", Some(Value::Object(own))) => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        own.entry(name.clone()).or_insert_with(|| schema.clone());
                    }
                }
                ("allOf" | "anyOf" | "oneOf" | "$ref", _) | (_, Some(_)) => {}
                (_, None) => whole[keyword] = value.clone(),
            }
        }
    }
    whole
}
