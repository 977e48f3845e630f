//! This module verifies a presented API key, and makes evidence of it.

use forecourt_core::identity::{Audience, BEARER_TOKEN, Proof};
use forecourt_core::scope::Scope;
use forecourt_core::store::Span;
use forecourt_core::{Address, IdentityEvidence, StoreError, Timestamp};
use forecourt_jose::ProofError;
use serde_json::{Map, Value};

use super::index::stream_of;
use super::limit::ApiKeyLimit;
use super::record::KeyEntry;
use super::secret::hash_of;
use super::{ApiKey, ApiKeys};

/// The method of evidence from an API key.
pub const METHOD: &str = "urn:forecourt:auth:api-key";
/// Its assurance level: the operator handed out the secret.
const ASSURANCE: &str = "api-key";

/// Why a presented key is refused.
#[derive(Debug)]
pub(crate) enum ApiKeyRefusal {
    /// It is not in force, or that can't be told now. The answer is the same for a key that was never there, one that
    /// was revoked and one that is over.
    Proof(ProofError),
    /// Its limit is used up, for so many seconds.
    Limited(ApiKeyLimit, u64),
}

impl ApiKeys {
    /// Evidence for the bearer of `token`, after counting this use of it. `agent` is the agent that the request is for.
    pub(crate) async fn verify(
        &self,
        token: &str,
        agent: &Address,
        now: Timestamp,
    ) -> Result<IdentityEvidence, ApiKeyRefusal> {
        let key = self.in_force(token, now).await.map_err(ApiKeyRefusal::Proof)?;
        match (self.usage.count(&self.store, &key, now), key.limit) {
            (Err(seconds), Some(limit)) => Err(ApiKeyRefusal::Limited(limit, seconds)),
            _ => Ok(evidence(&key, agent)),
        }
    }

    /// The key, asked from the store each time: nothing that was read before would know that it was revoked.
    async fn in_force(&self, token: &str, now: Timestamp) -> Result<ApiKey, ProofError> {
        let hash = hash_of(token).ok_or(ProofError::UnknownKey)?;
        // Two are enough: the first makes the key, and any second one ends it.
        let entries = self.store.entries(&stream_of(&hash), Span::After(0), 2, now).await.map_err(unavailable)?;
        let mut bodies = entries.into_iter().map(|(_, entry)| serde_json::from_value(entry.body));
        match (bodies.next(), bodies.next()) {
            (Some(Ok(KeyEntry::Created { key })), None) if !key.is_over(now) => Ok(key),
            _ => Err(ProofError::UnknownKey),
        }
    }
}

fn unavailable(error: StoreError) -> ProofError {
    tracing::error!(%error, "an API key can't be looked up");
    ProofError::KeysUnavailable
}

fn evidence(key: &ApiKey, agent: &Address) -> IdentityEvidence {
    let scope = key.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ");
    let domain = agent.domain().to_string();
    IdentityEvidence {
        id: None,
        subject: key.subject(),
        issuer: domain.clone(),
        method: METHOD.to_owned(),
        assurance: ASSURANCE.to_owned(),
        audience: Audience::One(agent.to_string()),
        issued_at: key.created_at,
        not_before: None,
        expires_at: key.expires_at,
        on_behalf_of: Vec::new(),
        claims: Map::from_iter([("scope".to_owned(), Value::from(scope))]),
        source: Map::new(),
        proof: Proof {
            kind: BEARER_TOKEN.to_owned(),
            fields: Map::from_iter([
                ("verified_by".to_owned(), Value::from(domain)),
                ("key_id".to_owned(), Value::from(key.id.clone())),
            ]),
        },
    }
}
