//! What of a server is offered here: chosen and named as its file says, and else as the server has it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_contract::{Schema, Violation};
use rmcp::model::{MetaObject, Prompt, Tool};
use serde_json::{Map, Value, json};

use super::catalog::Catalog;
use super::settings::OfferRules;
use crate::content::note;
use crate::schemas::names_headers;

/// What is offered of one server, made anew when its lists change.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(super) catalog: Arc<Catalog>,
    pub(crate) tools: Vec<Arc<ServerTool>>,
    pub(crate) prompts: Vec<ServerPrompt>,
    /// By their names at the host's endpoint, and at the server's own.
    at_host: HashMap<String, usize>,
    at_own: HashMap<String, usize>,
}

/// A tool of a server.
pub(crate) struct ServerTool {
    /// As the server has it, but for what its file changes.
    pub(crate) tool: Tool,
    /// The server's own name for it.
    pub(crate) own_name: String,
    /// What it is called at the host's endpoint.
    pub(crate) host_name: String,
    /// What it is called at the server's own endpoint.
    pub(crate) name: String,
    /// Whether it is always listed.
    pub(crate) is_pinned: bool,
    /// Whether some of its arguments are to be repeated in header fields.
    pub(crate) names_headers: bool,
    /// Compiled when it is first called. `None` inside: it can't be held to anything here.
    input: OnceLock<Option<Schema>>,
}

/// A prompt of a server.
pub(crate) struct ServerPrompt {
    pub(crate) prompt: Prompt,
    pub(crate) host_name: String,
}

/// Which endpoint something is shown at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownAt {
    /// The host's, where servers stand side by side.
    Host,
    /// The server's own.
    Server,
}

impl Shelf {
    pub(super) fn new(catalog: Arc<Catalog>, rules: &OfferRules) -> Self {
        let mut shelf = Self::default();
        for tool in catalog.tools.iter().filter(|tool| rules.offers(&tool.name)) {
            let tool = ServerTool::new(tool.clone(), rules);
            let at = shelf.tools.len();
            // Of two with one name the first counts.
            if shelf.at_own.contains_key(&tool.name) || shelf.at_host.contains_key(&tool.host_name) {
                continue;
            }
            shelf.at_own.insert(tool.name.clone(), at);
            shelf.at_host.insert(tool.host_name.clone(), at);
            shelf.tools.push(Arc::new(tool));
        }
        let prompts = catalog.prompts.iter().filter(|prompt| rules.offers(&prompt.name));
        shelf.prompts = prompts
            .map(|prompt| ServerPrompt { prompt: prompt.clone(), host_name: rules.prefixed(&prompt.name) })
            .collect();
        shelf.catalog = catalog;
        shelf
    }

    /// The tool of a name at an endpoint.
    pub(crate) fn tool(&self, at: ShownAt, name: &str) -> Option<&Arc<ServerTool>> {
        let places = match at {
            ShownAt::Host => &self.at_host,
            ShownAt::Server => &self.at_own,
        };
        self.tools.get(*places.get(name)?)
    }

    /// Whether some of its tools have arguments that requests repeat in header fields.
    pub(crate) fn names_headers(&self) -> bool {
        self.tools.iter().any(|tool| tool.names_headers)
    }

    /// The tool that the server calls so.
    pub(crate) fn by_own_name(&self, name: &str) -> Option<&Arc<ServerTool>> {
        self.tools.iter().find(|tool| tool.own_name == name)
    }
}

impl ServerTool {
    fn new(mut tool: Tool, rules: &OfferRules) -> Self {
        let own_name = tool.name.clone().into_owned();
        let change = rules.changes.get(&own_name).cloned().unwrap_or_default();
        let name = change.name.clone().unwrap_or_else(|| own_name.clone());
        let host_name = change.name.unwrap_or_else(|| rules.prefixed(&own_name));
        if let Some(title) = change.title {
            tool.title = Some(title);
        }
        if let Some(description) = change.description {
            tool.description = Some(description.into());
        }
        let is_pinned = rules.pinned.iter().any(|glob| glob.matches(&own_name));
        let names_headers = tool.input_schema.values().any(names_headers);
        Self { tool, own_name, host_name, name, is_pinned, names_headers, input: OnceLock::new() }
    }

    /// The tool as lists show it; `is_away`: whether its server does not answer.
    pub(crate) fn listed(&self, at: ShownAt, is_away: bool) -> Tool {
        let mut tool = self.tool.clone();
        tool.name = self.name_at(at).to_owned().into();
        if is_away {
            let mut meta = tool.meta.take().map(|meta| meta.0).unwrap_or_default();
            note(&mut meta, "server", json!({"answers": false}));
            tool.meta = Some(MetaObject(meta));
        }
        tool
    }

    /// What it is called at an endpoint.
    pub(crate) fn name_at(&self, at: ShownAt) -> &str {
        match at {
            ShownAt::Host => &self.host_name,
            ShownAt::Server => &self.name,
        }
    }

    /// Whether its results have a form of their own.
    pub(crate) fn promises_output(&self) -> bool {
        self.tool.output_schema.is_some()
    }

    /// Holds arguments against the tool's schema, as far as that can be understood here: what it can't tell, the
    /// server does.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Violation> {
        let compiled = self.input.get_or_init(|| compiled(&self.tool.input_schema));
        compiled.as_ref().map_or(Ok(()), |schema| schema.check(arguments))
    }
}

/// A schema of whatever dialect, read as one of 2020-12: what older ones have in common with it is nearly all that
/// servers use. `None` for what can't be read so.
fn compiled(schema: &Map<String, Value>) -> Option<Schema> {
    let mut schema = schema.clone();
    schema.remove("$schema");
    Schema::compile(Value::Object(schema)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::settings::ToolChange;

    fn catalog(names: &[&str]) -> Arc<Catalog> {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
            "$schema": "http://json-schema.org/draft-07/schema#"});
        let tool = |name: &&str| {
            json!({"name": name, "inputSchema": schema, "_meta": {"a": 1},
            "annotations": {"readOnlyHint": true}, "icons": [{"src": "https://far.example/i.png"}]})
        };
        let tools: Vec<Value> = names.iter().map(tool).collect();
        let prompts = json!([{"name": "greet"}]);
        Arc::new(serde_json::from_value(json!({"tools": tools, "prompts": prompts})).expect("lists"))
    }

    fn rules(changes: &[(&str, ToolChange)]) -> OfferRules {
        let changes = changes.iter().map(|(name, change)| ((*name).to_owned(), change.clone())).collect();
        OfferRules { prefix: "far".into(), only: Vec::new(), except: Vec::new(), pinned: Vec::new(), changes }
    }

    #[test]
    fn tools_have_a_prefix_at_the_host_and_none_at_the_server() {
        let shelf = Shelf::new(catalog(&["get", "set"]), &rules(&[]));
        assert!(shelf.tool(ShownAt::Host, "far_get").is_some() && shelf.tool(ShownAt::Server, "get").is_some());
        assert!(shelf.tool(ShownAt::Host, "get").is_none());
        assert_eq!(shelf.prompts[0].host_name, "far_greet");
    }

    #[test]
    fn a_tool_is_shown_as_its_server_has_it() {
        let catalog = catalog(&["get"]);
        let shelf = Shelf::new(catalog.clone(), &rules(&[]));
        assert_eq!(shelf.tools[0].listed(ShownAt::Server, false), catalog.tools[0]);
        let away = shelf.tools[0].listed(ShownAt::Host, true);
        let meta = serde_json::to_value(&away.meta).expect("JSON");
        assert_eq!(meta, json!({"a": 1, "mentionable": {"server": {"answers": false}}}));
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let change = ToolChange { name: Some("forecast".into()), title: Some("F".into()), description: None };
        let shelf = Shelf::new(catalog(&["get"]), &rules(&[("get", change)]));
        let tool = shelf.tool(ShownAt::Host, "forecast").expect("by its new name");
        assert_eq!((tool.own_name.as_str(), tool.tool.title.as_deref()), ("get", Some("F")));
        assert!(shelf.tool(ShownAt::Server, "forecast").is_some() && shelf.tool(ShownAt::Server, "get").is_none());
    }

    #[test]
    fn arguments_are_held_against_schemas_of_older_dialects_too() {
        let shelf = Shelf::new(catalog(&["get"]), &rules(&[]));
        let check = |arguments: Value| shelf.tools[0].check(&arguments);
        assert!(check(json!({"n": 1})).is_ok());
        assert!(check(json!({"n": "x"})).is_err() && check(json!({})).is_err());
    }
}
