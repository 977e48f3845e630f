//! One operation as the document has it, with everything that belongs to it found and joined.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ANYTHING;
use super::tools::READS;
use crate::document::{OpenApiDocument, operations};

/// One operation.
pub(super) struct Operation<'a> {
    pub(super) document: &'a OpenApiDocument,
    /// The path, as the document has it.
    pub(super) path: &'a str,
    /// `GET` and so on.
    pub(super) http: String,
    pub(super) item: &'a Value,
    pub(super) value: &'a Value,
    /// The parameters, those of the path item included.
    pub(super) parameters: Vec<Parameter<'a>>,
    /// Its `operationId`, unless another operation has the same: one of them was copied.
    pub(super) id: &'a str,
    /// What it changes, where the operator says so.
    pub(super) ruled_impact: Option<&'static str>,
    /// Whether its words are those of an operation that does something else: one of them was copied.
    has_copied_words: bool,
}

/// One parameter.
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    /// `path`, `query`, `header` or `cookie`.
    pub(super) place: &'a str,
    pub(super) is_required: bool,
    pub(super) schema: &'a Value,
    pub(super) value: &'a Value,
}

impl<'a> Operation<'a> {
    /// Every operation of a document, in the order of its paths.
    pub(super) fn all(document: &'a OpenApiDocument) -> Vec<Operation<'a>> {
        let mut all: Vec<Operation<'a>> =
            document.items().flat_map(|(path, item)| Operation::of(document, path, item)).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        all.iter().for_each(|operation| *counts.entry(operation.id).or_default() += 1);
        all.iter_mut().filter(|operation| counts[operation.id] > 1).for_each(|operation| operation.id = "");
        let copied = copied(&all);
        all.iter_mut().for_each(|operation| operation.has_copied_words = copied.contains(&operation.said()));
        all
    }

    fn of(document: &'a OpenApiDocument, path: &'a str, item: &'a Value) -> Vec<Operation<'a>> {
        operations(item)
            .map(|(method, value)| Operation {
                document,
                path,
                http: method.to_ascii_uppercase(),
                item,
                value,
                parameters: parameters(document, item, value),
                id: value["operationId"].as_str().unwrap_or_default().trim(),
                ruled_impact: None,
                has_copied_words: false,
            })
            .collect()
    }

    /// Its summary and its description.
    fn said(&self) -> (&'a str, &'a str) {
        (self.value["summary"].as_str().unwrap_or_default(), self.value["description"].as_str().unwrap_or_default())
    }

    /// A text of the operation; empty when it has none, or when its words were copied.
    pub(super) fn text(&self, key: &str) -> &'a str {
        if self.has_copied_words && matches!(key, "summary" | "description") {
            return "";
        }
        self.value[key].as_str().unwrap_or_default().trim()
    }

    /// Whether it changes nothing.
    pub(super) fn reads_only(&self) -> bool {
        // QUERY is a GET with a body (OpenAPI 3.2).
        matches!(self.http.as_str(), "GET" | "QUERY") || self.value[READS] == Value::Bool(true)
    }

    /// Every path of its document.
    pub(super) fn all_paths(&self) -> impl Iterator<Item = &'a str> {
        self.document.root()["paths"].as_object().into_iter().flatten().map(|(path, _)| path.as_str())
    }

    /// Its tags.
    pub(super) fn tags(&self) -> Vec<&'a str> {
        self.value["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// The words that operations share of which one reads or deletes and another does something else.
fn copied<'a>(all: &[Operation<'a>]) -> BTreeSet<(&'a str, &'a str)> {
    let kind = |http: &str| match http {
        "GET" | "HEAD" | "QUERY" => 0,
        "DELETE" => 1,
        _ => 2,
    };
    let mut kinds: BTreeMap<(&str, &str), BTreeSet<u8>> = BTreeMap::new();
    for operation in all.iter().filter(|operation| operation.said() != ("", "")) {
        kinds.entry(operation.said()).or_default().insert(kind(&operation.http));
    }
    kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(said, _)| said).collect()
}

/// Those of the path item and those of the operation, which go before.
fn parameters<'a>(document: &'a OpenApiDocument, item: &'a Value, operation: &'a Value) -> Vec<Parameter<'a>> {
    let mut found: Vec<Parameter<'a>> = Vec::new();
    // The operation's first: of one name and place it replaces the path item's (OpenAPI 3.1, 4.8.10).
    for value in [operation, item].into_iter().filter_map(|owner| owner["parameters"].as_array()).flatten() {
        let Some(parameter) = document.resolve(value).ok().and_then(Parameter::read) else { continue };
        if !found.iter().any(|other| other.name == parameter.name && other.place == parameter.place) {
            found.push(parameter);
        }
    }
    found
}

impl<'a> Parameter<'a> {
    /// Whether its values are written as JSON.
    pub(super) fn is_json(&self) -> bool {
        let media = self.value["content"].as_object().and_then(|content| content.keys().next());
        media.is_some_and(|media| media.to_ascii_lowercase().contains("json"))
    }

    fn read(value: &'a Value) -> Option<Parameter<'a>> {
        // What has no name can't be sent; documents that people click together have such.
        let name = value["name"].as_str().filter(|name| !name.trim().is_empty())?;
        let place = value["in"].as_str()?;
        let content = value["content"].as_object().and_then(|content| content.values().next()?.get("schema"));
        let schema = value.get("schema").or(content).unwrap_or(&ANYTHING);
        // A segment can't be left out, whatever the document says.
        let is_required = place == "path" || value["required"] == Value::Bool(true);
        Some(Parameter { name, place, is_required, schema, value })
    }
}
