//! What is passed on to servers behind this host, each through the gate: calls of tools, what clients read and follow,
//! and endpoints that a tool answers.

mod follow;
mod function;
mod read;
mod tool_call;

pub(crate) use self::follow::{ServerSubscriptions, TellUpdate};
pub use self::function::{SERVER_FUNCTION_ERRORS, ServerFunctionError, ServerFunctions};
pub(crate) use self::read::Reader;
pub(crate) use self::tool_call::call;
