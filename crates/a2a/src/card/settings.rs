//! What the operator decides about cards.

use forecourt_core::Skill;

/// What the operator decides about cards.
#[derive(Debug, Clone, Default)]
pub struct CardSettings {
    /// Who runs the host; the site's name when absent.
    pub organization: Option<String>,
    /// The version of a hub of several agents; [`super::names::HUB_VERSION`] when absent.
    pub hub_version: Option<String>,
    /// The host where gRPC is spoken, if it is, with its port unless that is 443.
    pub grpc: Option<String>,
    /// What the hub does beside its agents, called by name with data.
    pub skills: Vec<Skill>,
    /// Whether strangers see that on the cards of agents. Some clients refuse a whole card that names
    /// an interface without a scheme, so it is never on the hub's, and by default only on those for
    /// callers that are known.
    pub grpc_on_cards: bool,
    /// The extensions by which agents may be paid here.
    pub payments: Vec<&'static str>,
}
