//! The `[mcp]` section of `forecourt.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::origin::Origin;

/// How the host is served over MCP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Seconds that a call waits for an answer before it is given the task that goes on. Many clients
    /// give up after 60. Default: 25.
    pub patience_seconds: NonZeroU32,
    /// Origins of web pages that may connect, such as `https://app.example.com`, beside this host's
    /// own. In development pages of this machine may too. Default: none.
    pub allowed_origins: Vec<String>,
    /// Words for models on what this host is good for. Default: made from the agents.
    pub instructions: Option<String>,
    /// Whether results come with a widget that shows them as cards, for clients that can. Default:
    /// true.
    pub widget: bool,
    /// Tools of your own naming, each a question to one agent: beside `ask_<handle>`, which takes any.
    /// At most 100.
    pub tools: Vec<ToolSettings>,
    /// Prompts of your own naming, beside the agents' examples. At most 100.
    pub prompts: Vec<PromptSettings>,
}

/// A tool with arguments of its own, which make the message to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    /// Names it for models: 1 to 64 of letters, digits, `_` and `-`.
    pub name: String,
    /// The handle of the agent that is asked.
    pub agent: String,
    /// A name for people. Default: the name.
    pub title: Option<String>,
    /// What it does and when to use it, for models.
    pub description: String,
    /// What the agent is told. `{city}` stands for the argument `city`.
    pub message: String,
    /// The arguments, each with its JSON schema, such as `city = { type = "string", description = "Where"
    /// }`. One without a `default` must be given.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Whether calling it changes nothing, so that clients need not ask the person first. Default: false.
    #[serde(default)]
    pub read_only: bool,
}

/// A prompt that a person chooses, and fills in, in their client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptSettings {
    /// Names it for programs: 1 to 64 of letters, digits, `_` and `-`.
    pub name: String,
    /// A name for people. Default: the name.
    pub title: Option<String>,
    /// What it is good for.
    pub description: String,
    /// The words for the model. `{city}` stands for the argument `city`.
    pub text: String,
    /// The arguments, each with what it means, such as `city = "Where to look"`. Each must be given.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            patience_seconds: NonZeroU32::new(25).unwrap_or(NonZeroU32::MIN),
            allowed_origins: Vec::new(),
            instructions: None,
            widget: true,
            tools: Vec::new(),
            prompts: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the section. Fails with every origin that is none.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        for text in settings.allowed_origins.iter().filter(|text| Origin::parse(text).is_none()) {
            let words = format!("`{text}` is no origin; write it like https://app.example.com");
            problems.push(section.problem(Some("allowed_origins"), words));
        }
        problems.into_result(settings)
    }
}
