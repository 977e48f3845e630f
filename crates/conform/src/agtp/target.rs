//! This module is a server that may or may not speak AGTP, and the caller in whose name it is asked.

use forecourt_core::AgentId;
use forecourt_egress::EgressError;
use futures::future::BoxFuture;
use tokio::time::timeout;

use super::line::Line;

/// In whose name the server is asked.
#[derive(Default)]
pub struct Caller {
    /// Who calls. Without it, nobody in particular.
    pub agent_id: Option<AgentId>,
    /// Another agent that the server knows.
    pub other_agent_id: Option<AgentId>,
    /// What the caller claims of its authority, as the header has it.
    pub scope: Option<String>,
    /// A bearer token, which is never shown.
    pub token: Option<String>,
    /// Whether requests that change something are sent too.
    pub with_effects: bool,
    /// A method and a path that a contract can be negotiated for, if the server tells none.
    pub pair: Option<(String, String)>,
    /// A method that the server's catalog is known to deprecate.
    pub deprecated_method: Option<String>,
}

/// A server of which nothing is known yet.
pub struct AgtpTarget {
    pub(crate) line: Line,
    pub(crate) caller: Caller,
}

impl AgtpTarget {
    /// The server at the end of `line`, asked by `caller`.
    pub fn new(line: Line, caller: Caller) -> Self {
        Self { line, caller }
    }

    /// Whether anybody listens there.
    ///
    /// # Errors
    /// Nobody does, or there is no way.
    pub fn reach(&self) -> BoxFuture<'_, Result<(), EgressError>> {
        Box::pin(async move {
            timeout(self.line.patience, self.line.open()).await.map_err(|_| EgressError::Busy)?.map(drop)
        })
    }
}
