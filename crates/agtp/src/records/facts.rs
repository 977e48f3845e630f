//! What a record says of the caller. Base 8.1.

use std::sync::Arc;

use forecourt_attribution::PriorAction;
use forecourt_identity::agents::AgentIdentity;

/// The facts about the caller that a record tells.
#[derive(Default)]
pub(crate) struct RecordFacts {
    /// The calling agent, where it is known under its name.
    pub agent: Option<Arc<AgentIdentity>>,
    /// For whom it acts, by its certificate.
    pub principal_id: Option<String>,
    /// For whom it acts, by its token. Base 7.4.
    pub acting_principal_id: Option<Arc<str>>,
    /// How well its name is proven.
    pub assurance: Option<&'static str>,
    /// Earlier actions that the caller names as leading to this one. A claim.
    pub prior_actions: Vec<PriorAction>,
}
