//! The keywords of one schema. What is not named here says nothing about values and is left out.

use forecourt_contract::Schema;
use serde_json::{Map, Value, json};

use super::Dialect;
use crate::limits::EXAMPLE_BYTES_MAX;

const TEXTS: [&str; 5] = ["title", "description", "format", "contentEncoding", "contentMediaType"];
const NUMBERS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const COUNTS: [&str; 8] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"];
const FLAGS: [&str; 2] = ["uniqueItems", "deprecated"];
const ONE: [&str; 10] = [
    "not",
    "if",
    "then",
    "else",
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 2] = ["patternProperties", "dependentSchemas"];
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

impl Dialect<'_> {
    pub(super) fn keywords(&mut self, keywords: &Map<String, Value>, level: usize) -> Value {
        let mut ours = Map::new();
        for (keyword, value) in keywords {
            if let Some(value) = self.keyword(keyword, value, level) {
                ours.insert(self.spelled(keyword, keywords).to_owned(), value);
            }
        }
        self.types(keywords, &mut ours);
        self.properties(keywords, &mut ours, level);
        bounds(keywords, &mut ours);
        examples(keywords, &mut ours);
        nullable(keywords, ours)
    }

    /// `oneOf` as `anyOf`. Alternatives in documents overlap: a discriminator says which one is meant, or
    /// the service does. Held to the letter, values that fit several would be refused.
    fn spelled<'k>(&self, keyword: &'k str, all: &Map<String, Value>) -> &'k str {
        let may_overlap = !self.document.is_exported() && !all.contains_key("anyOf");
        if keyword == "oneOf" && may_overlap { "anyOf" } else { keyword }
    }

    /// A keyword that stays as it is but for the schemas in it.
    fn keyword(&mut self, keyword: &str, value: &Value, level: usize) -> Option<Value> {
        let is_count = || value.as_u64().is_some() || value.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0);
        match keyword {
            name if TEXTS.contains(&name) => value.is_string().then(|| value.clone()),
            name if NUMBERS.contains(&name) => value.is_number().then(|| value.clone()),
            "multipleOf" => value.as_f64().filter(|step| *step > 0.0).map(|_| value.clone()),
            name if COUNTS.contains(&name) => is_count().then(|| value.clone()),
            name if FLAGS.contains(&name) => value.is_boolean().then(|| value.clone()),
            "pattern" => self.pattern(value),
            "enum" => value.as_array().filter(|values| !values.is_empty()).map(|_| value.clone()),
            "const" => Some(value.clone()),
            "default" => is_short(value).then(|| value.clone()),
            name if ONE.contains(&name) => self.one(value, level),
            name if LISTS.contains(&name) => {
                let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?;
                Some(schemas.iter().map(|schema| self.turned(schema, level)).collect())
            }
            name if NAMED.contains(&name) => {
                let schemas = value.as_object()?.iter().filter(|(_, schema)| schema.is_object() || schema.is_boolean());
                let schemas: Vec<_> =
                    schemas.filter(|(key, _)| name != "patternProperties" || is_pattern(key)).collect();
                Some(schemas.into_iter().map(|(key, schema)| (key.clone(), self.turned(schema, level))).collect())
            }
            "dependentRequired" => {
                let is_right = |names: &Value| names.as_array().is_some_and(|names| names.iter().all(Value::is_string));
                value.as_object().filter(|lists| lists.values().all(is_right)).map(|_| value.clone())
            }
            _ => None,
        }
    }

    fn one(&mut self, value: &Value, level: usize) -> Option<Value> {
        (value.is_object() || value.is_boolean()).then(|| self.turned(value, level))
    }

    /// A pattern, unless it can't be matched in linear time, such as one that looks ahead.
    fn pattern(&mut self, value: &Value) -> Option<Value> {
        let pattern = value.as_str().filter(|_| self.levels.patterns)?;
        if !is_pattern(pattern) {
            self.notes.push(format!("the pattern {pattern} is not checked: it can't be matched in linear time"));
            return None;
        }
        Some(value.clone())
    }

    /// `type`: one of the seven or a list of them. `file` was a word of the predecessor.
    fn types(&mut self, keywords: &Map<String, Value>, ours: &mut Map<String, Value>) {
        let mut known = Vec::new();
        for name in keywords.get("type").into_iter().flat_map(listed).filter_map(Value::as_str) {
            match name {
                name if TYPES.contains(&name) => known.push(name),
                "file" => known.push("string"),
                _ => self.notes.push(format!("unknown type `{name}`: any value is taken there")),
            }
        }
        known.dedup();
        match known[..] {
            [] => None,
            [name] => ours.insert("type".to_owned(), json!(name)),
            _ => ours.insert("type".to_owned(), json!(known)),
        };
    }

    /// `properties` and `required`, without those that do not go this way.
    fn properties(&mut self, keywords: &Map<String, Value>, ours: &mut Map<String, Value>, level: usize) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let mut kept = Map::new();
        for (name, schema) in properties.into_iter().flatten() {
            if self.goes_this_way(schema) {
                kept.insert(name.clone(), self.turned(schema, level));
            }
        }
        let is_left_out = |name: &str| properties.is_some_and(|all| all.contains_key(name)) && !kept.contains_key(name);
        let required = keywords.get("required").and_then(Value::as_array);
        let mut names: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| !is_left_out(name));
        if !names.is_empty() {
            ours.insert("required".to_owned(), json!(names));
        }
        if properties.is_some() {
            ours.insert("properties".to_owned(), Value::Object(kept));
        }
    }
}

fn listed(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |values| values.iter().collect())
}

fn is_pattern(pattern: &str) -> bool {
    Schema::compile(json!({ "pattern": pattern })).is_ok()
}

fn is_short(value: &Value) -> bool {
    !value.is_null() && value.to_string().len() <= EXAMPLE_BYTES_MAX
}

/// In 3.0 an exclusive bound is a truth value about the bound.
fn bounds(keywords: &Map<String, Value>, ours: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if keywords.get(exclusive) == Some(&Value::Bool(true))
            && let Some(number) = ours.remove(bound)
        {
            ours.insert(exclusive.to_owned(), number);
        }
    }
}

fn examples(keywords: &Map<String, Value>, ours: &mut Map<String, Value>) {
    let several = keywords.get("examples").and_then(Value::as_array).into_iter().flatten();
    let examples: Vec<Value> =
        keywords.get("example").into_iter().chain(several).filter(|e| is_short(e)).cloned().collect();
    if let Some(first) = examples.first() {
        ours.insert("examples".to_owned(), json!([first]));
    }
}

/// In 3.0 a value may be null beside what else is said.
fn nullable(keywords: &Map<String, Value>, mut ours: Map<String, Value>) -> Value {
    if keywords.get("nullable") != Some(&Value::Bool(true)) {
        return Value::Object(ours);
    }
    if let Some(values) = ours.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let has_parts = ["allOf", "anyOf", "oneOf", "not", "const"].iter().any(|keyword| ours.contains_key(*keyword));
    match ours.get("type").cloned() {
        Some(Value::String(name)) if !has_parts => {
            ours.insert("type".to_owned(), json!([name, "null"]));
            Value::Object(ours)
        }
        None if !has_parts => Value::Object(ours),
        _ => json!({ "anyOf": [ours, { "type": "null" }] }),
    }
}
