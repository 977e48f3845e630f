//! The keywords of one schema. What is not named here says nothing about values and is left out.

use forecourt_contract::Schema;
use serde_json::{Map, Value, json};

use super::{Dialect, Direction, Spot, alternatives, in_place};
use crate::import::notes::Doubt;
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

/// Keywords whose schemas are those of the same value, and not of something inside it.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keywords that say something to readers alone.
const SAID: [&str; 2] = ["title", "description"];
/// How deep the outermost fields of an input or an output are.
const FIELDS_DEPTH: usize = 1;

impl Dialect<'_> {
    pub(super) fn keywords(&mut self, keywords: &Map<String, Value>, spot: &Spot) -> Value {
        let spot = &self.known(keywords, spot);
        let mut ours = Map::new();
        let is_told = self.levels.texts || (spot.depth <= FIELDS_DEPTH && spot.references == 0);
        for (keyword, value) in keywords.iter().filter(|(keyword, _)| is_told || !SAID.contains(&keyword.as_str())) {
            if let Some(value) = self.keyword(keyword, value, spot) {
                ours.insert(self.spelled(keyword, keywords).to_owned(), value);
            }
        }
        self.types(keywords, &mut ours);
        self.properties(keywords, &mut ours, spot);
        bounds(keywords, &mut ours);
        texts(&mut ours);
        if is_told {
            examples(keywords, &mut ours);
        }
        self.nullable(keywords, ours)
    }

    /// The place with what all schemas of its value say together.
    fn known(&self, keywords: &Map<String, Value>, spot: &Spot) -> Spot {
        let mut spot = spot.clone();
        spot.is_declared |= keywords.contains_key("properties");
        if IN_PLACE.iter().any(|keyword| keywords.contains_key(*keyword)) {
            let whole = Value::Object(keywords.clone());
            spot.hidden.extend(in_place::flagged(self.document, &whole, self.flag()));
        }
        spot
    }

    /// The type of a schema, and whether it may be null.
    pub(super) fn type_alone(&mut self, keywords: &Map<String, Value>) -> Value {
        let mut ours = Map::new();
        self.types(keywords, &mut ours);
        self.nullable(keywords, ours)
    }

    /// `oneOf` as `anyOf`. Alternatives in documents overlap: a discriminator says which one is meant, or
    /// the service does. Held to the letter, values that fit several would be refused. Where no plain value
    /// fits two of them, callers are held to one.
    fn spelled<'k>(&self, keyword: &'k str, all: &Map<String, Value>) -> &'k str {
        if keyword != "oneOf" || self.document.is_exported() || all.contains_key("anyOf") {
            return keyword;
        }
        let ways = all[keyword].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_meant = self.direction == Direction::In && alternatives::are_apart(self.document, ways);
        if is_meant { keyword } else { "anyOf" }
    }

    /// A keyword that stays as it is but for the schemas in it.
    fn keyword(&mut self, keyword: &str, value: &Value, spot: &Spot) -> Option<Value> {
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
            "additionalProperties" | "unevaluatedProperties" if self.lets_more_through(value, spot) => None,
            name if ONE.contains(&name) => self.one(value, &at(name, spot)),
            name if LISTS.contains(&name) => {
                let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?;
                Some(schemas.iter().map(|schema| self.turned(schema, &at(name, spot))).collect())
            }
            name if NAMED.contains(&name) => {
                let schemas = value.as_object()?.iter().filter(|(_, schema)| schema.is_object() || schema.is_boolean());
                let schemas: Vec<_> =
                    schemas.filter(|(key, _)| name != "patternProperties" || is_pattern(key)).collect();
                let spot = at(name, spot);
                Some(schemas.into_iter().map(|(key, schema)| (key.clone(), self.turned(schema, &spot))).collect())
            }
            "dependentRequired" => {
                let is_right = |names: &Value| names.as_array().is_some_and(|names| names.iter().all(Value::is_string));
                value.as_object().filter(|lists| lists.values().all(is_right)).map(|_| value.clone())
            }
            _ => None,
        }
    }

    /// Whether a schema that takes no more than it declares takes more all the same: what services give grows.
    /// Section 13.3.
    fn lets_more_through(&self, value: &Value, spot: &Spot) -> bool {
        let is_given = self.direction == Direction::Out && !spot.is_condition && !self.document.is_exported();
        is_given && *value == Value::Bool(false)
    }

    fn one(&mut self, value: &Value, spot: &Spot) -> Option<Value> {
        (value.is_object() || value.is_boolean()).then(|| self.turned(value, spot))
    }

    /// A pattern, unless it can't be matched in linear time, such as one that looks ahead.
    fn pattern(&mut self, value: &Value) -> Option<Value> {
        let pattern = value.as_str().filter(|_| self.levels.patterns)?;
        if !is_pattern(pattern) {
            self.notes.push(Doubt::about("a pattern that can't be matched in linear time is not checked", pattern));
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
                _ => self.notes.push(Doubt::about("an unknown type takes any value", name)),
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
    fn properties(&mut self, keywords: &Map<String, Value>, ours: &mut Map<String, Value>, spot: &Spot) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let goes = |name: &str, schema: &Value| {
            !spot.hidden.contains(name) && !in_place::is_flagged(self.document, schema, self.flag())
        };
        let going: Vec<_> = properties.into_iter().flatten().filter(|(name, schema)| goes(name, schema)).collect();
        let inside = spot.inside();
        let mut kept = Map::new();
        for (name, schema) in going {
            kept.insert(name.clone(), self.turned(schema, &inside));
        }
        let names = self.required(keywords, &kept, spot);
        // What is required and declared nowhere could not be given, since nothing else is taken. Section 13.3.
        let has_more = ["additionalProperties", "patternProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        if self.direction == Direction::In && spot.is_declared && !spot.is_condition && !has_more {
            for name in &names {
                kept.entry(*name).or_insert(Value::Bool(true));
            }
        }
        if !names.is_empty() {
            ours.insert("required".to_owned(), json!(names));
        }
        if properties.is_some() || !kept.is_empty() {
            ours.insert("properties".to_owned(), Value::Object(kept));
        }
    }

    /// What is required of what goes this way.
    fn required<'k>(&self, keywords: &'k Map<String, Value>, kept: &Map<String, Value>, spot: &Spot) -> Vec<&'k str> {
        let required = keywords.get("required").and_then(Value::as_array);
        let mut names: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let properties = keywords.get("properties").and_then(Value::as_object);
        let is_left_out = |name: &str| properties.is_some_and(|all| all.contains_key(name)) && !kept.contains_key(name);
        names.retain(|name| !is_left_out(name) && !spot.hidden.contains(*name));
        let has_ways = ["anyOf", "oneOf"].iter().any(|keyword| keywords.contains_key(*keyword));
        if has_ways && !names.is_empty() {
            let whole = Value::Object(keywords.clone());
            let hidden = in_place::flagged_in_any(self.document, &whole, self.flag());
            names.retain(|name| kept.contains_key(*name) || !hidden.contains(*name));
        }
        names
    }

    /// In 3.0 a value may be null beside what else is said. To the letter that is so only where there is a type
    /// and no list of values without a null; callers are held to it, services are not.
    fn nullable(&self, keywords: &Map<String, Value>, mut ours: Map<String, Value>) -> Value {
        let is_held = self.direction == Direction::In;
        if keywords.get("nullable") != Some(&Value::Bool(true)) || (is_held && !keywords.contains_key("type")) {
            return Value::Object(ours);
        }
        if let Some(values) = ours.get_mut("enum").and_then(Value::as_array_mut)
            && !values.contains(&Value::Null)
        {
            if is_held {
                return Value::Object(ours);
            }
            values.push(Value::Null);
        }
        // A `null` in `type` alone would still be refused by what stands beside it.
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
}

/// The place of a schema under a keyword.
fn at(keyword: &str, spot: &Spot) -> Spot {
    let mut spot = if IN_PLACE.contains(&keyword) { spot.clone() } else { spot.inside() };
    spot.is_condition |= matches!(keyword, "not" | "if");
    spot
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

/// The values of a text are texts: a document in YAML that says `type: string, enum: [1, 2]` means "1" and "2", and to
/// the letter nothing at all. So is a text that may be null, and the one value that stands beside either.
fn texts(ours: &mut Map<String, Value>) {
    let types: Vec<&str> = ours.get("type").into_iter().flat_map(listed).filter_map(Value::as_str).collect();
    if !types.contains(&"string") || types.iter().any(|name| !["string", "null"].contains(name)) {
        return;
    }
    let as_text = |value: &mut Value| {
        if value.is_number() || value.is_boolean() {
            *value = json!(value.to_string());
        }
    };
    ours.get_mut("enum").and_then(Value::as_array_mut).into_iter().flatten().for_each(as_text);
    for keyword in ["const", "default"] {
        ours.get_mut(keyword).into_iter().for_each(as_text);
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
