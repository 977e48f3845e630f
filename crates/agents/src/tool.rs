//! What a model may call.

use forecourt_core::Message;
use futures::future::BoxFuture;
use serde_json::Value;

/// What a tool came to: a value for the model, or a message that says what to do differently.
pub type ToolResult = Result<Value, String>;

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

    /// Does it on behalf of the sender of `message`, which is being answered. The arguments were
    /// written by a model: the tool checks them, and passes them on as parameters only. Dropping the
    /// future cancels the call.
    fn call<'a>(&'a self, arguments: Value, message: &'a Message) -> BoxFuture<'a, ToolResult>;
}
