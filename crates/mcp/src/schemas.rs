//! The schemas of tools, each kept once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_contract::Schema;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::content::object;
use crate::portable_schema::portable;

/// The dialect of schemas in MCP. Tools, 2025-11-25.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema as tools share it.
pub(crate) struct SharedSchema {
    source: Arc<Value>,
    /// As lists show it.
    pub(crate) listed: Arc<JsonObject>,
    /// Whether some of its fields are to be named in headers.
    pub(crate) names_headers: bool,
    /// Compiled once something is held to it: most are never asked. `None` inside: it can't be compiled.
    compiled: OnceLock<Option<Schema>>,
}

impl SharedSchema {
    /// Compiled for what is held to it; `None`: it can't be.
    pub(crate) fn compiled(&self) -> Option<&Schema> {
        self.compiled.get_or_init(|| Schema::output((*self.source).clone(), false).ok()).as_ref()
    }
}

/// The schemas of all tools: those that are one value are kept once. Agents by the thousand have the same few.
#[derive(Default)]
pub(crate) struct Schemas(HashMap<*const Value, Arc<SharedSchema>>);

impl Schemas {
    pub(crate) fn share(&mut self, source: &Arc<Value>) -> Arc<SharedSchema> {
        // The entry holds its value, so that no other one can come to have the same address.
        let shared = self.0.entry(Arc::as_ptr(source)).or_insert_with(|| {
            let listed = Arc::new(object(schema((**source).clone())));
            let names_headers = names_headers(source);
            Arc::new(SharedSchema { source: Arc::clone(source), listed, names_headers, compiled: OnceLock::new() })
        });
        Arc::clone(shared)
    }
}

/// Whether a schema has the annotation that names an argument in a header, wherever it stands.
pub(crate) fn names_headers(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key("x-mcp-header") || fields.values().any(names_headers),
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
