//! The `[nlweb]` section of `forecourt.toml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How agents are asked over NLWeb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NlwebSettings {
    /// Seconds that a question waits for its answer before it gets a promise; 0 to 100. Streams wait
    /// as long as the agent takes. Default: 8.
    pub sync_wait_seconds: u64,
    /// The address of the widget that shows answers in ChatGPT, `openai/outputTemplate` of answers in
    /// the format `chatgpt_app`.
    pub output_template: Option<String>,
    /// Whether that widget may call tools itself, `openai/widgetAccessible`. Default: false.
    pub widget_accessible: bool,
    /// What can be done with items, attached to each item that they fit.
    pub actions: Vec<ActionSettings>,
}

impl Default for NlwebSettings {
    fn default() -> Self {
        Self { sync_wait_seconds: 8, output_template: None, widget_accessible: false, actions: Vec::new() }
    }
}

/// Something that can be done with an item. In texts, `{name}` stands for a field of the item and
/// `{offers.price}` for a field of a field; an item that lacks one does not get the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionSettings {
    /// The type of the items, such as `Recipe`; without it all items.
    pub item_type: Option<String>,
    /// Handles of the agents whose items get it; without it those of all agents.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Names it for programs.
    pub name: String,
    /// What it does, for people. May have holes.
    pub description: String,
    /// Its type, such as `AddToCartAction`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The vocabulary of that type. Default, when there is a type: `https://schema.org/`.
    pub context: Option<String>,
    /// How it is done: `HTTP`, `MCP` or `A2A`.
    pub protocol: String,
    /// HTTP: the method.
    pub method: Option<String>,
    /// HTTP: the https address. Holes are allowed behind the host, and what fills them is encoded.
    pub endpoint: Option<String>,
    /// HTTP: the parameters. May have holes.
    pub params: Option<Map<String, Value>>,
    /// HTTP: fields of the request. Values may have holes.
    pub headers: Option<Map<String, Value>>,
    /// MCP: the server.
    pub server: Option<String>,
    /// MCP: the tool.
    pub tool: Option<String>,
    /// MCP: the arguments. May have holes.
    pub arguments: Option<Map<String, Value>>,
    /// A2A: the https address of the agent.
    pub agent_url: Option<String>,
    /// A2A: the skill.
    pub skill: Option<String>,
    /// A2A: the message. May have holes.
    pub message: Option<Map<String, Value>>,
}
