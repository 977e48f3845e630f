//! A call of a tool, as a model asks for it.

use serde::{Deserialize, Serialize};

/// A call that the model asks for, as it wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRequest {
    /// The server's number for it, if there is one.
    pub(crate) index: Option<u64>,
    /// The provider's name for the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: JSON, if the model kept to it.
    pub arguments: String,
}
