//! This module turns lists of parameters, the short way to write a schema, into JSON Schema Draft 2020-12.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{DefinitionProblem, InputSettings};

/// One parameter of an input, or one field of an output.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParameterSettings {
    /// Its name. Required.
    pub name: String,
    /// Its JSON type. Required unless `schema` says more.
    #[serde(rename = "type")]
    pub kind: Option<ParameterType>,
    /// What it is, for agents. Required.
    pub description: String,
    /// A format of JSON Schema, such as `uuid` or `date`; checked.
    pub format: Option<String>,
    /// The values that it may have.
    #[serde(rename = "enum")]
    pub one_of: Option<Vec<Value>>,
    /// More keywords of JSON Schema.
    pub schema: Option<Value>,
}

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Fields by name.
    Object,
    /// Items in order.
    Array,
}

/// The schema of an input: closed, as all inputs are. Section 13.3.
pub(super) fn input_schema(input: &InputSettings) -> Result<Value, Vec<DefinitionProblem>> {
    let (required, optional) = (entries(&input.required, "input_schema")?, entries(&input.optional, "input_schema")?);
    let names: Vec<&String> = required.iter().map(|(name, _)| name).collect();
    if let Some(twice) = names.iter().find(|name| optional.iter().any(|(other, _)| other == **name)) {
        return Err(vec![bad("input_schema", twice, "is required and optional at once")]);
    }
    let names = json!(names);
    Ok(object(required.into_iter().chain(optional), names, false))
}

/// The schema of an output: every field is there, and there may be more. Section 13.3.
pub(super) fn output_schema(output: &[ParameterSettings]) -> Result<Value, Vec<DefinitionProblem>> {
    let entries = entries(output, "output_schema")?;
    let names = json!(entries.iter().map(|(name, _)| name).collect::<Vec<_>>());
    Ok(object(entries, names, true))
}

fn object(properties: impl IntoIterator<Item = (String, Value)>, required: Value, is_open: bool) -> Value {
    let properties: Map<String, Value> = properties.into_iter().collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": is_open,
    })
}

fn entries(list: &[ParameterSettings], key: &'static str) -> Result<Vec<(String, Value)>, Vec<DefinitionProblem>> {
    let faults: Vec<DefinitionProblem> = list.iter().filter_map(|entry| wrong(entry, key)).collect();
    let twice = (1..list.len()).find(|&at| list[..at].iter().any(|before| before.name == list[at].name));
    let twice = twice.map(|at| bad(key, &list[at].name, "is declared twice"));
    let faults: Vec<DefinitionProblem> = faults.into_iter().chain(twice).collect();
    if faults.is_empty() {
        Ok(list.iter().map(|entry| (entry.name.clone(), property(entry))).collect())
    } else {
        Err(faults)
    }
}

fn wrong(entry: &ParameterSettings, key: &'static str) -> Option<DefinitionProblem> {
    if entry.name.is_empty() {
        return Some(bad(key, "?", "needs a `name`"));
    }
    if entry.kind.is_none() && entry.schema.is_none() {
        return Some(bad(key, &entry.name, "needs a `type`"));
    }
    if entry.schema.as_ref().is_some_and(|schema| !schema.is_object()) {
        return Some(bad(key, &entry.name, "has a `schema` that is not a table"));
    }
    entry.description.trim().is_empty().then(|| bad(key, &entry.name, "needs a `description`"))
}

fn bad(key: &'static str, name: &str, problem: &str) -> DefinitionProblem {
    let tag = if key == "input_schema" { "param-bad-shape" } else { "output-bad-shape" };
    DefinitionProblem::new(key, format!("{tag}:{name}"), format!("the parameter `{name}` {problem}"))
}

fn property(entry: &ParameterSettings) -> Value {
    let pieces = [
        ("type", entry.kind.map(|kind| json!(kind))),
        ("description", Some(json!(entry.description))),
        ("format", entry.format.as_ref().map(|format| json!(format))),
        ("enum", entry.one_of.as_ref().map(|values| json!(values))),
    ];
    let mut property: Map<String, Value> =
        pieces.into_iter().filter_map(|(keyword, value)| Some((keyword.to_owned(), value?))).collect();
    // Last, so that `schema` may say more than `type` and the other short keys, and wins over them.
    property.extend(entry.schema.iter().filter_map(Value::as_object).flatten().map(|(k, v)| (k.clone(), v.clone())));
    Value::Object(property)
}
