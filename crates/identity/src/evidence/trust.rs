//! This module has whom the operator trusts to assert what. Nothing is fetched for anyone else.

use std::sync::Arc;

use forecourt_core::{IdentityEvidence, Timestamp, origin};
use forecourt_jose::{Algorithm, KeySet, ProofError};

use crate::remote_keys::RemoteKeys;

/// Which statements of one issuer count: all of its lists must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerTrust {
    /// The host of the Connector, normalized.
    pub issuer: String,
    /// Methods, whole.
    pub methods: Vec<String>,
    /// Levels of assurance, whole.
    pub assurance: Vec<String>,
    /// Beginnings of subjects.
    pub subject_prefixes: Vec<String>,
    /// Subjects of bearer tokens that stand for the Connector itself.
    pub authenticated_as: Vec<String>,
}

/// A trusted issuer, with a way to its keys.
pub(crate) struct TrustedIssuer {
    pub(crate) trusted: IssuerTrust,
    pub(crate) keys: IssuerKeys,
}

pub(crate) enum IssuerKeys {
    Fixed(Arc<KeySet>),
    Card(RemoteKeys),
}

pub(crate) struct TrustedIssuers(pub(crate) Vec<TrustedIssuer>);

impl TrustedIssuers {
    /// The entry that lets `evidence` count. An issuer may have several entries.
    pub(crate) fn find(&self, evidence: &IdentityEvidence) -> Result<&TrustedIssuer, ProofError> {
        let host = origin::normalize(&evidence.issuer).ok_or(ProofError::UnknownIssuer)?;
        self.0.iter().find(|issuer| issuer.trusted.covers(&host, evidence)).ok_or(ProofError::UnknownIssuer)
    }
}

impl IssuerTrust {
    fn covers(&self, host: &str, evidence: &IdentityEvidence) -> bool {
        self.issuer == host
            && self.methods.contains(&evidence.method)
            && self.assurance.contains(&evidence.assurance)
            && self.subject_prefixes.iter().any(|prefix| evidence.subject.starts_with(prefix))
    }

    /// Whether the request itself was made by this Connector: by a token whose subject is listed,
    /// or signed by an agent on its host.
    pub(crate) fn is_sender(&self, own: &[IdentityEvidence]) -> bool {
        own.iter().any(|evidence| {
            let signed = evidence.method == crate::http_signature::METHOD && evidence.issuer == self.issuer;
            signed || self.authenticated_as.contains(&evidence.subject)
        })
    }
}

impl TrustedIssuer {
    pub(crate) async fn keys(&self, kid: &str, now: Timestamp) -> Result<Arc<KeySet>, ProofError> {
        match &self.keys {
            IssuerKeys::Fixed(keys) => Ok(keys.clone()),
            IssuerKeys::Card(card) => card.with(Some(kid), Algorithm::Ed25519, now).await,
        }
    }
}
