//! What an agent proposes: read from either form, and evaluated in the order of section 10.6.

mod definition;
mod duration;
mod evaluate;
mod read;

use forecourt_contract::Scope;

pub use crate::refusal::{ProposalRefusal, RejectionReason};
use serde_json::{Map, Value};

/// An endpoint that an agent proposes, read and not yet looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The method, as it was sent.
    pub method: String,
    /// The path, as it was sent; the root when left out.
    pub path: String,
    /// The definition: what stood under `endpoint`, or the parameters themselves in the legacy form.
    pub definition: Map<String, Value>,
    /// Whether it came in the legacy form, which may leave its schemas to the steps. Section 10.4.2.
    pub is_legacy: bool,
    /// Whether it is wanted for longer than the session.
    pub persistent: bool,
    /// For how long it is wanted, in seconds.
    pub duration_seconds: Option<u64>,
    /// Scopes that the caller says it needs besides those of the definition.
    pub scopes: Vec<Scope>,
}
