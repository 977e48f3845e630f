//! The schemas of tools, each kept once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_contract::Schema;
use forecourt_core::LazyJson;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::content::object;
use crate::portable_schema::portable;

/// The dialect of schemas in MCP. Tools, 2025-11-25.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The annotation that names an argument in a header.
const NAMED_HEADER: &str = "x-mcp-header";

/// A schema as tools share it.
pub(crate) struct SharedSchema {
    source: LazyJson,
    role: Role,
    /// Made when a list shows it: a host may have thousands of endpoints, and short lists show few of them.
    listed: OnceLock<Arc<JsonObject>>,
    /// Whether some of its fields are to be named in headers.
    pub(crate) names_headers: bool,
    /// Compiled once something is held to it: most are never asked. `None` inside: it can't be compiled.
    compiled: OnceLock<Option<Schema>>,
}

impl SharedSchema {
    fn new(source: &LazyJson, role: Role) -> Self {
        let names_headers = match source.text() {
            // Only `\u` could spell the word otherwise. Most are not looked through further, and stay texts.
            Some(text) if !text.contains(NAMED_HEADER) && !text.contains("\\u") => false,
            _ => names_headers(&source.clone().into_value()),
        };
        let source = source.clone();
        Self { source, role, listed: OnceLock::new(), names_headers, compiled: OnceLock::new() }
    }

    /// As lists show it.
    pub(crate) fn listed(&self) -> &Arc<JsonObject> {
        self.listed.get_or_init(|| {
            let mut listed = schema(self.source.clone().into_value());
            if self.role == Role::Input {
                without_alternatives(&mut listed);
            }
            Arc::new(object(listed))
        })
    }

    /// Compiled for what is held to it; `None`: it can't be.
    pub(crate) fn compiled(&self) -> Option<&Schema> {
        self.compiled.get_or_init(|| Schema::output(self.source.clone().into_value(), false).ok()).as_ref()
    }
}

/// The schemas of all tools: those that are one value are kept once. Agents by the thousand have the same few.
#[derive(Default)]
pub(crate) struct Schemas(HashMap<(usize, Role), Arc<SharedSchema>>);

/// What a schema is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Input,
    Output,
}

impl Schemas {
    /// The schema of what a tool gives.
    pub(crate) fn share(&mut self, source: &LazyJson) -> Arc<SharedSchema> {
        self.shared(source, Role::Output)
    }

    /// The schema of what a tool takes.
    pub(crate) fn share_input(&mut self, source: &LazyJson) -> Arc<SharedSchema> {
        self.shared(source, Role::Input)
    }

    fn shared(&mut self, source: &LazyJson, role: Role) -> Arc<SharedSchema> {
        // The entry holds its value, so that no other one can come to have the same identity.
        let shared = self.0.entry((source.identity(), role));
        Arc::clone(shared.or_insert_with(|| Arc::new(SharedSchema::new(source, role))))
    }
}

/// Whether a schema has the annotation that names an argument in a header, wherever it stands.
pub(crate) fn names_headers(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key(NAMED_HEADER) || fields.values().any(names_headers),
        Value::Array(items) => items.iter().any(names_headers),
        _ => false,
    }
}

/// A schema without what some hosts stumble over: names of dialects that MCP does not begin with, lists of types, and
/// what accepts any value without saying so.
fn schema(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        if fields.get("$schema").is_some_and(|dialect| dialect != DIALECT) {
            fields.remove("$schema");
        }
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    portable(schema)
}

/// Takes alternatives from the top of an input: the interfaces of large models refuse every tool of a list in which one
/// has some there. They still hold, and who calls is told so.
fn without_alternatives(schema: &mut Value) {
    // What an operator wrote with `allOf` or `if` stays: the conformance suite of MCP holds that these are kept.
    const REFUSED: [&str; 2] = ["anyOf", "oneOf"];
    const TOLD: &str = "Not every combination of fields is taken: the answer to a call says which are.";
    let Some(fields) = schema.as_object_mut() else { return };
    let before = fields.len();
    fields.retain(|keyword, _| !REFUSED.contains(&keyword.as_str()));
    if fields.len() == before {
        return;
    }
    let said = fields.get("description").and_then(Value::as_str).filter(|said| !said.is_empty());
    let told = said.map_or_else(|| TOLD.to_owned(), |said| format!("{said} {TOLD}"));
    fields.insert("description".to_owned(), json!(told));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_no_alternatives_at_its_top() {
        let source = LazyJson::from(json!({
            "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
            "properties": { "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] }, "b": { "type": "string" } },
        }));
        let mut schemas = Schemas::default();
        let input = schemas.share_input(&source);
        assert!(!input.listed().contains_key("anyOf"));
        assert_eq!(input.listed()["properties"]["a"], source["properties"]["a"], "inside, they stay");
        assert!(input.listed()["description"].as_str().unwrap().contains("combination"));
        let compiled = input.compiled().unwrap();
        assert!(compiled.check(&json!({})).is_err() && compiled.check(&json!({ "b": "x" })).is_ok(), "they still hold");
        assert!(schemas.share(&source).listed().contains_key("anyOf"), "an answer is shown as it is");
        let plain = LazyJson::from(json!({ "type": "object", "properties": {} }));
        assert!(!schemas.share_input(&plain).listed().contains_key("description"));
    }
}
