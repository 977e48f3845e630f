//! What a model may call.

use std::sync::Arc;

use forecourt_core::{Message, PolicyPart};
use futures::future::BoxFuture;
use serde_json::Value;

/// The result of a tool call: a value for the model, or the reason why there is none.
pub type ToolResult = Result<Value, ToolError>;

/// Why a tool gave no value.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolError {
    /// A message that tells the model what to do differently.
    Said(String),
    /// A refusal that is for the person who asked, whole: the answer ends with it.
    Refused(Box<PolicyPart>),
}

impl ToolError {
    /// The text for the model and for the events of the answer.
    pub fn words(&self) -> &str {
        match self {
            Self::Said(words) => words,
            Self::Refused(part) => &part.message,
        }
    }
}

impl From<String> for ToolError {
    fn from(words: String) -> Self {
        Self::Said(words)
    }
}

impl From<&str> for ToolError {
    fn from(words: &str) -> Self {
        Self::Said(words.to_owned())
    }
}

/// One thing that a model may ask for. It runs with the caller's authority, never with the host's.
pub trait Tool: Send + Sync {
    /// Names it: 1 to 64 of letters, digits, `_` and `-`.
    fn name(&self) -> &str;

    /// What it does and when to use it, for the model to read.
    fn description(&self) -> &str;

    /// A JSON schema of its arguments, an object.
    fn parameters(&self) -> Value;

    /// A line for the model's own instructions, for as long as the tool is offered.
    fn instructions(&self) -> Option<&str> {
        None
    }

    /// Whether a model that answers `message` may call it at all.
    fn is_offered(&self, _message: &Message) -> bool {
        true
    }

    /// Whether doing it a second time changes nothing, so that a call is made again of which nobody knows whether it was
    /// made. What the tool does not say of itself it does not promise.
    fn is_idempotent(&self) -> bool {
        false
    }

    /// The same tool for one answer, where it counts what is done for that.
    fn for_one_answer(&self) -> Option<Arc<dyn Tool>> {
        None
    }

    /// Does it on behalf of the sender of `message`, which is being answered. The arguments were
    /// written by a model: the tool checks them, and passes them on as parameters only. Dropping the
    /// future cancels the call.
    fn call<'a>(&'a self, arguments: Value, message: &'a Message) -> BoxFuture<'a, ToolResult>;
}

/// An endpoint that models may be given.
#[derive(Clone)]
pub struct EndpointTool {
    /// Its method and path as its file has them, such as `BOOK /rooms/{room_id}`.
    pub pair: String,
    /// The tool that calls the endpoint.
    pub tool: Arc<dyn Tool>,
}
