//! What can be tried out, what it is told, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::caller::TrialCaller;
use crate::nouns::tasks::TaskEvent;

/// What can be tried out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Playground {
    /// Agents, by handle and name.
    pub agents: Vec<TriableAgent>,
    /// Endpoints.
    pub endpoints: Vec<Triable>,
    /// Tools.
    pub tools: Vec<Triable>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TriableAgent {
    /// Its handle.
    pub handle: String,
    /// Its name.
    pub name: String,
    /// Questions to begin with.
    pub examples: Vec<String>,
}

/// An endpoint, or a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Triable {
    /// What it is called here.
    pub id: String,
    /// What it is called, such as `BOOK /rooms/{id}`.
    pub name: String,
    /// What it does.
    pub about: String,
    /// The JSON schema of its arguments.
    pub input: Value,
}

/// What is said to an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words, in markdown.
    pub text: String,
    /// The conversation to go on with: `conversation` of the answer before.
    #[serde(default)]
    pub conversation: Option<String>,
    /// In whose name it is said; an anonymous caller's without it.
    #[serde(default)]
    pub caller: Option<TrialCaller>,
}

/// What an agent answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialAnswer {
    /// The answer, in markdown.
    pub answer: String,
    /// How it ended, in a word.
    pub ending: String,
    /// Why it was refused, as its caller is told.
    pub refusal: Option<Value>,
    /// What happened, in order; text that came in pieces is one.
    pub events: Vec<TaskEvent>,
    /// What to give to go on.
    pub conversation: Option<String>,
    /// Milliseconds that it took.
    pub took_ms: u64,
}

/// What an endpoint or a tool is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// By name, as the schema has it. Parameters of the path are among them.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The scopes of an otherwise anonymous caller.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// What came of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialCall {
    /// Whether it went well.
    pub is_fine: bool,
    /// The answer, or what is wrong, for programs.
    pub structured: Value,
    /// The same for people.
    pub text: String,
    /// Why it was refused, as its caller is told.
    pub refusal: Option<Value>,
    /// Milliseconds that it took.
    pub took_ms: u64,
}
