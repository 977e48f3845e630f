//! What becomes of the tasks of an agent when the node that works on them is lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of the tasks of an agent whose node is lost: killed, cut off, or stopped before they were done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnLost {
    /// They end as failed.
    #[default]
    Fail,
    /// The agent is asked again, by another node or at the next start: beginning anew is harmless.
    Restart,
    /// They go on from what the agent has noted.
    Attach,
}
