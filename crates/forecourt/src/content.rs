//! Content that an agent answers from.

use std::sync::Arc;

use forecourt_agents::IndexedContent;
use forecourt_core::Handle;

/// Content that an agent answers from.
#[derive(Clone)]
pub struct Content {
    /// The agent.
    pub handle: Handle,
    /// Its index.
    pub indexing: Arc<dyn IndexedContent>,
}
