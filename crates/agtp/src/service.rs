//! What answers requests: the host, the agents that are known, and what is published.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_host::Host;
use forecourt_identity::HostKeys;
use forecourt_identity::agents::KnownAgents;

/// Everything that an answer can need.
pub(crate) struct Service {
    /// The host that answers.
    pub host: Arc<Host>,
    /// The agents that are known by their Agent-ID.
    pub agents: Arc<KnownAgents>,
    /// The keys that sign for this domain.
    pub keys: Arc<ArcSwap<HostKeys>>,
}
