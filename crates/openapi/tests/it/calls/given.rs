//! Values out of schemas of Draft 2020-12: with everything that may be given, else with less, until one is valid.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Which texts are given where a schema leaves that open.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Texts {
    /// With spaces and signs that have to be escaped.
    Any,
    /// Letters and digits: what documents want that say so in a pattern that a host can't read.
    Plain,
}

/// How much is given.
#[derive(Clone, Copy)]
struct Choice {
    texts: Texts,
    /// Which of several alternatives.
    way: usize,
    /// Levels at which what may be left out is given.
    optional_depth: usize,
}

/// A value that is valid, as `is_valid` says, with as much in it as can be. `None`: none was found.
pub(super) fn valid_inputs(schema: &Value, texts: Texts, is_valid: &dyn Fn(&Value) -> bool) -> Option<Value> {
    let choices = [4, 2, 1, 0].into_iter().flat_map(|depth| (0..4).map(move |way| (way, depth)));
    let mut values = choices.filter_map(|(way, optional_depth)| {
        let choice = Choice { texts, way, optional_depth };
        Maker { root: schema, choice, count: 0 }.value(schema, 0)
    });
    values.find(|value| is_valid(value))
}

struct Maker<'a> {
    root: &'a Value,
    choice: Choice,
    count: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        if depth > 12 || *schema == json!(false) {
            return None;
        }
        let schema = self.merged(schema, 0)?;
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.get(self.choice.way % values.len()).or(values.first()).cloned();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").or(kinds.first())?.as_str()?.to_owned(),
            Value::String(kind) => kind.clone(),
            _ if schema.get("properties").is_some() || schema.get("required").is_some() => "object".to_owned(),
            _ if schema.get("items").is_some() => "array".to_owned(),
            _ => "string".to_owned(),
        };
        self.of_kind(&kind, &schema, depth)
    }

    fn of_kind(&mut self, kind: &str, schema: &Value, depth: usize) -> Option<Value> {
        match kind {
            "null" => Some(Value::Null),
            "boolean" => Some(json!(true)),
            "integer" | "number" => Some(self.number(schema, kind == "integer")),
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
                let most = schema["maxItems"].as_u64().unwrap_or(2).min(least.max(2));
                let first = schema["prefixItems"].as_array().cloned().unwrap_or_default();
                let items = schema.get("items").cloned().unwrap_or(json!(true));
                let made = (0..most).filter_map(|at| {
                    let item = first.get(usize::try_from(at).ok()?).unwrap_or(&items).clone();
                    self.value(&item, depth + 1)
                });
                Some(made.collect::<Vec<_>>().into())
            }
            "object" => self.object(schema, depth),
            _ => self.text(schema),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut members = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            if is_required || depth < self.choice.optional_depth {
                match self.value(property, depth + 1) {
                    Some(value) => drop(members.insert(name.clone(), value)),
                    None if is_required => return None,
                    None => {}
                }
            }
        }
        for name in required.iter().filter(|name| schema["properties"].get(**name).is_none()) {
            let value = self.value(schema.get("additionalProperties").unwrap_or(&json!(true)), depth + 1)?;
            members.insert((*name).to_owned(), value);
        }
        if members.is_empty() && schema.get("properties").is_none() && schema["maxProperties"] != 0 {
            let more = schema.get("additionalProperties").filter(|more| **more != json!(false)).cloned();
            if let Some(value) = self.value(&more.unwrap_or(json!({"type": "string"})), depth + 1) {
                members.insert("key".to_owned(), value);
            }
        }
        Some(Value::Object(members))
    }

    fn number(&mut self, schema: &Value, is_whole: bool) -> Value {
        self.count += 1;
        let bound = |key: &str, more: f64| schema[key].as_f64().map(|bound| bound + more);
        let least = bound("minimum", 0.0).or(bound("exclusiveMinimum", 1.0));
        let most = bound("maximum", 0.0).or(bound("exclusiveMaximum", -1.0)).unwrap_or(f64::MAX);
        let step = schema["multipleOf"].as_f64().unwrap_or(1.0);
        let plain = (least.unwrap_or(0.0) + self.count as f64).min(most).max(least.unwrap_or(f64::MIN));
        let value = (plain / step).round() * step;
        if is_whole { json!(value as i64) } else { json!(value) }
    }

    fn text(&mut self, schema: &Value) -> Option<Value> {
        self.count += 1;
        if schema["contentEncoding"] == "base64" {
            return Some(json!(["aGVsbG8gd29ybGQ=", "Zmlyc3QgZmlsZQ=="][self.count % 2]));
        }
        let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(1)).ok()?;
        let most = usize::try_from(schema["maxLength"].as_u64().unwrap_or(4_000)).ok()?;
        if let Some(pattern) = schema["pattern"].as_str() {
            return matching(pattern, least, most).map(Value::from);
        }
        let text = match schema["format"].as_str().unwrap_or_default() {
            "date-time" => format!("2027-03-{:02}T09:00:00Z", self.count % 28 + 1),
            "date" => format!("2027-03-{:02}", self.count % 28 + 1),
            "uri" | "url" => format!("https://example.com/{}?a=b&c=%20", self.count),
            "email" => format!("a{}@example.com", self.count),
            "uuid" => format!("{:08}-0000-4000-8000-000000000000", self.count),
            _ if self.choice.texts == Texts::Plain => format!("word{}", self.count),
            _ => format!("word {} & more/{}", self.count, "\u{e9}"),
        };
        let padded = format!("{text}{}", "x".repeat(least.saturating_sub(text.chars().count())));
        Some(padded.chars().take(most).collect::<String>().into())
    }

    /// A schema with everything that it is composed of.
    fn merged(&self, schema: &Value, hops: usize) -> Option<Value> {
        let mut whole = schema.clone();
        if hops > 40 || !whole.is_object() {
            return (hops <= 40).then_some(json!({}));
        }
        if let Some(pointer) = schema["$ref"].as_str() {
            let target = self.root.pointer(pointer.strip_prefix('#')?)?;
            join(&mut whole, &self.merged(target, hops + 1)?);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            join(&mut whole, &self.merged(part, hops + 1)?);
        }
        for keyword in ["anyOf", "oneOf"] {
            let ways = schema[keyword].as_array().map(Vec::as_slice).unwrap_or_default();
            if !ways.is_empty() {
                let ways: Vec<&Value> = ways.iter().filter(|way| way["type"] != "null").collect();
                let way = ways.get(self.choice.way % ways.len().max(1))?;
                join(&mut whole, &self.merged(way, hops + 1)?);
            }
        }
        Some(whole)
    }
}

/// Adds what another schema of the same value says.
fn join(whole: &mut Value, more: &Value) {
    for (keyword, value) in more.as_object().into_iter().flatten() {
        match (keyword.as_str(), whole.get_mut(keyword)) {
            ("properties", Some(Value::Object(own))) => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    match own.get_mut(name) {
                        Some(before) if schema != before && *schema != json!(false) => {
                            *before = json!({ "allOf": [before.take(), schema] });
                        }
                        Some(before) if *schema == json!(false) => *before = json!(false),
                        Some(_) => {}
                        None => drop(own.insert(name.clone(), schema.clone())),
                    }
                }
            }
            ("required", Some(Value::Array(own))) => own.extend(value.as_array().into_iter().flatten().cloned()),
            ("$ref" | "allOf" | "anyOf" | "oneOf", _) => {}
            (_, Some(_)) => {}
            (_, None) => whole[keyword] = value.clone(),
        }
    }
}

/// A text that fits a pattern and lengths.
fn matching(pattern: &str, least: usize, most: usize) -> Option<String> {
    let plain = pattern.trim_start_matches('^').trim_end_matches('$');
    let strategy = proptest::string::string_regex(plain).ok()?;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let made = (0..200).filter_map(|_| Some(strategy.new_tree(&mut runner).ok()?.current()));
    made.into_iter().find(|text| (least..=most).contains(&text.chars().count()))
}
