//! The `[mcp]` section of `forecourt.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use forecourt_core::Glob;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::{PINNED_MAX, TOOLS_LISTED, TOOLS_LISTED_DEFAULT};
use crate::origin::Origin;

/// How the host is served over MCP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpSettings {
    /// Seconds that a call waits for an answer before it is given the task that goes on. Many clients
    /// give up after 60. Default: 25.
    pub call_timeout_seconds: NonZeroU32,
    /// Origins of web pages that may connect, such as `https://app.example.com`, beside this host's
    /// own. In development pages of this machine may too. Default: none.
    pub allowed_origins: Vec<String>,
    /// Words for models on what this host is good for. Default: made from the agents.
    pub instructions: Option<String>,
    /// Whether results come with a widget that shows them as cards, for clients that can. Default:
    /// true.
    pub widget: bool,
    /// What the endpoint of one agent lists: `one` tool that asks it, its `ask_<handle>`, or `all` that
    /// do, those of other protocols too, such as `ask` of NLWeb. They can be called either way. Default:
    /// one.
    pub agent_tools: AgentTools,
    /// How many tools a list may have. Where there are more, clients list `find_tools`, `describe_tool`, `call_tool` and
    /// the pinned ones, and find the others by what they do; each may still be called by its own name. 4 to 10000.
    /// Default: 60.
    pub tools_listed_max: usize,
    /// Tools that are listed however many there are: names, in which `*` stands for any characters. At most 100.
    /// Default: your `tools` and those of agents, as long as they fit.
    #[schemars(with = "Vec<String>")]
    pub pinned: Vec<Glob>,
    /// Tools of your own naming, each a question to one agent: beside `ask_<handle>`, which takes any.
    /// At most 100.
    pub tools: Vec<ToolSettings>,
    /// Prompts of your own naming, beside the agents' examples. At most 100.
    pub prompts: Vec<PromptSettings>,
    /// Texts and files that clients may read, beside the agents. At most 100.
    pub resources: Vec<ResourceSettings>,
}

/// How many tools that ask one agent its endpoint lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentTools {
    /// Its own.
    #[default]
    One,
    /// Its own, and those of other protocols.
    All,
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
    /// A whole JSON schema (draft 2020-12, an object) instead of `arguments`, for rules between them.
    #[serde(default)]
    pub schema: Option<Value>,
    /// What a client must be able to do for this to make sense: `elicitation`, to put questions to a
    /// person, or `tasks`, to go on with a task. Others get an error that says so. Default: nothing.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// Whether calling it changes nothing, so that clients need not ask the person first. Default: false.
    #[serde(default)]
    pub read_only: bool,
}

/// Something that a client must be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// Put questions to the person behind it.
    Elicitation,
    /// Go on with a task that a call has become.
    Tasks,
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
    /// Files of the deployment that go before the words: pictures and sounds as such, others whole. At most
    /// 10, of 1 MiB each.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Addresses of `resources` that go before the words, whole. `{city}` stands for the argument `city`.
    /// At most 10.
    #[serde(default)]
    pub resources: Vec<String>,
}

/// Something that clients may read: a text, a file, or a text for every address of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceSettings {
    /// Its address, such as `menu://today`. With a place for a value, such as `menu://days/{day}`, it
    /// stands for all addresses of that form; a value has no slash.
    pub uri: String,
    /// Names it for programs. Default: the address.
    pub name: Option<String>,
    /// A name for people. Default: the name.
    pub title: Option<String>,
    /// What it is good for.
    pub description: Option<String>,
    /// Its media type. Default: by the ending of `file`; `text/plain` for a text.
    pub mime_type: Option<String>,
    /// What it says. Where the address has a place, `{day}` stands for its value.
    pub text: Option<String>,
    /// The file of the deployment that it is, of at most 4 MiB. Read again each time; clients that subscribe
    /// are told when it changes.
    pub file: Option<PathBuf>,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            call_timeout_seconds: NonZeroU32::new(25).unwrap_or(NonZeroU32::MIN),
            allowed_origins: Vec::new(),
            instructions: None,
            widget: true,
            agent_tools: AgentTools::default(),
            tools_listed_max: TOOLS_LISTED_DEFAULT,
            pinned: Vec::new(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
        }
    }
}

impl McpSettings {
    /// Reads the section. Fails with every origin that is none.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        for text in settings.allowed_origins.iter().filter(|text| Origin::parse(text).is_none()) {
            let words = format!("`{text}` is not an origin; write it like https://app.example.com");
            problems.push(section.problem(Some("allowed_origins"), words));
        }
        if !TOOLS_LISTED.contains(&settings.tools_listed_max) {
            let words = format!("`tools_listed_max` is {} to {}", TOOLS_LISTED.start(), TOOLS_LISTED.end());
            problems.push(section.problem(Some("tools_listed_max"), words));
        }
        if settings.pinned.len() > PINNED_MAX {
            let words = format!("`pinned` has at most {PINNED_MAX} names or patterns");
            problems.push(section.problem(Some("pinned"), words));
        }
        problems.into_result(settings)
    }
}
