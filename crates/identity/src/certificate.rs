//! This module reads what a client's certificate says about the agent that shows it, and compares that with the agent's
//! claims. AGTP agent certificates (base 6.7).
//!
//! That the certificate was issued by an authority that the operator trusts, and that the client holds
//! its key, is established when the connection is; here it is read, and held against what the client
//! says of itself. A certificate without these extensions proves a key, and nothing else. `issue.rs` makes them.

mod der;
mod extensions;
mod issue;
mod read;

use forecourt_contract::scope::{Scope, ScopeSet};
use forecourt_core::{AgentId, Timestamp};

use crate::agents::AgentIdentity;
use crate::genesis::TrustTier;

pub use extensions::CRITICAL;
pub use issue::{CertificateAuthority, CertificateDraft, IssueError};

/// The content of a client's certificate that concerns agents.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCertificate {
    /// The agent's id.
    pub agent_id: Option<AgentId>,
    /// The principal for whom the agent acts.
    pub principal_id: Option<String>,
    /// The scopes that it may claim at most. `None`: not limited here.
    pub scopes: Option<ScopeSet>,
    /// The governance zone in whose rules the agent runs.
    pub governance_zone: Option<String>,
    /// The agent's trust tier.
    pub trust_tier: Option<TrustTier>,
    /// The agent's archetype, such as `analyst`.
    pub archetype: Option<String>,
    /// The certificate by which the agent was put into service.
    pub activation_id: Option<String>,
    /// The receipt of a log of certificates, as it came: carried, and not checked here.
    pub ctl_sct: Option<Vec<u8>>,
    /// SHA-256 of the raw key in hexadecimal, when it is an Ed25519 key.
    pub fingerprint: Option<String>,
    /// The start of its validity.
    pub not_before: Timestamp,
    /// The end of its validity.
    pub not_after: Timestamp,
}

/// Why a certificate can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgentCertificateError {
    /// It is no X.509 certificate, or is too large.
    #[error("the certificate is malformed")]
    Malformed,
    /// An extension is there twice, or is not what it should be.
    #[error("the certificate's extension {0} is not what it should be")]
    Extension(&'static str),
}

/// A client's claims about itself, from the fields of its request.
#[derive(Debug, Clone, Copy)]
pub struct CertificateClaim<'a> {
    /// The agent that it says it is.
    pub agent_id: &'a AgentId,
    /// What is known here of that agent.
    pub agent: Option<&'a AgentIdentity>,
    /// For whom it says it acts.
    pub principal_id: Option<&'a str>,
    /// The scopes that it claims. `None`: it named none.
    pub scopes: Option<&'a ScopeSet>,
    /// The zone that it names.
    pub zone: Option<&'a str>,
    /// The time.
    pub now: Timestamp,
}

/// How a claim does not fit the certificate that was shown with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It held when the connection was opened, and holds no longer.
    #[error("the client certificate is not valid at this time")]
    Time,
    /// It is the certificate of another agent.
    #[error("the client certificate is not this agent's")]
    Agent,
    /// The certificate and the claim name different principals.
    #[error("the client certificate names another principal")]
    Principal,
    /// Scopes are claimed that the certificate does not have.
    #[error("the client certificate does not cover {}", .0.iter().map(Scope::as_str).collect::<Vec<_>>().join(", "))]
    Scopes(Vec<Scope>),
    /// It is for another zone.
    #[error("the client certificate is for the zone {certified}")]
    Zone {
        /// Which one.
        certified: String,
    },
}

impl AgentCertificate {
    /// Whether it is the certificate of the agent with this name: by what it says, else by its key.
    pub fn is_of(&self, agent_id: &AgentId, agent: Option<&AgentIdentity>) -> bool {
        let own_key = |fingerprint: &String| {
            fingerprint == agent_id.as_str() || agent.is_some_and(|agent| agent.has_key(fingerprint))
        };
        match &self.agent_id {
            Some(named) => named == agent_id,
            None => self.fingerprint.as_ref().is_some_and(own_key),
        }
    }

    /// Checks that the certificate covers a claim.
    ///
    /// # Errors
    /// The first way in which the two do not fit, in the order of [`Mismatch`].
    pub fn check(&self, claim: CertificateClaim<'_>) -> Result<(), Mismatch> {
        // Again for each request: TLS looked at the times only when the connection was opened.
        if claim.now < self.not_before || claim.now > self.not_after {
            return Err(Mismatch::Time);
        }
        if !self.is_of(claim.agent_id, claim.agent) {
            return Err(Mismatch::Agent);
        }
        if differ(self.principal_id.as_deref(), claim.principal_id) {
            return Err(Mismatch::Principal);
        }
        let claimed = claim.scopes.into_iter().flat_map(ScopeSet::iter);
        let beyond = self.scopes.as_ref().map(|commitment| commitment.missing(claimed)).unwrap_or_default();
        if !beyond.is_empty() {
            return Err(Mismatch::Scopes(beyond));
        }
        match &self.governance_zone {
            Some(zone) if differ(Some(zone), claim.zone) => Err(Mismatch::Zone { certified: zone.clone() }),
            _ => Ok(()),
        }
    }
}

/// Whether both are given and differ. A claim that is left out contradicts nothing.
fn differ(certified: Option<&str>, claimed: Option<&str>) -> bool {
    certified.zip(claimed).is_some_and(|(certified, claimed)| certified != claimed)
}

#[cfg(test)]
mod tests;
