//! What all nodes of a deployment have in common, agreed on in their store: the first one writes it, all others read.

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Domain, Entropy, Store, StoreError, ids};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use forecourt_issuance::sha256_hex;

/// The stream whose one entry says it.
const STREAM: &str = "host:deployment";
/// Hex digits of the id.
const ID_DIGITS: usize = 16;

/// What tells a deployment from others, the same on all of its nodes.
#[derive(Clone, Serialize, Deserialize)]
pub struct DeploymentId {
    /// Lower-case hex. Names it on the bus; no secret.
    pub id: String,
    /// The domain of the deployment that the store belongs to.
    domain: Domain,
    /// By what keys of limits are hashed, so that all nodes name them alike and no caller can foresee it.
    seed: [u64; 2],
}

/// Never prints the seed.
impl std::fmt::Debug for DeploymentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeploymentId").field("id", &self.id).field("domain", &self.domain).finish_non_exhaustive()
    }
}

/// The reason why a node can't join this deployment.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentIdError {
    /// The store is another deployment's.
    #[error("the store belongs to the deployment of {theirs}, and this one is of {ours}")]
    OtherDeployment {
        /// Its domain.
        theirs: Domain,
        /// Ours.
        ours: Domain,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DeploymentId {
    /// The id of the deployment of `domain` in this store, which is made if it has none.
    ///
    /// # Errors
    /// The store belongs to the deployment of another domain, or can't be read.
    pub fn agree<'a>(
        store: &'a dyn Store,
        clock: &'a dyn Clock,
        entropy: &'a dyn Entropy,
        domain: &'a Domain,
    ) -> BoxFuture<'a, Result<Self, DeploymentIdError>> {
        Box::pin(async move {
            let made = Self::new(entropy, domain);
            loop {
                let now = clock.now();
                if let Some((_, entry)) = store.entries(STREAM, Span::After(0), 1, now).await?.into_iter().next() {
                    let known: Self = serde_json::from_value(entry.body).map_err(corrupt)?;
                    return match known.domain == *domain {
                        true => Ok(known),
                        false => Err(DeploymentIdError::OtherDeployment { theirs: known.domain, ours: domain.clone() }),
                    };
                }
                let body = serde_json::to_value(&made).map_err(corrupt)?;
                // Of two that write at once, one does, and both read it.
                store.append_entry(STREAM, LedgerEntry::new(body, now), Some(0)).await?;
            }
        })
    }

    fn new(entropy: &dyn Entropy, domain: &Domain) -> Self {
        let id = sha256_hex(ids::mint(entropy).as_bytes()).chars().take(ID_DIGITS).collect();
        let number = || {
            let mut bytes = [0; 8];
            entropy.fill(&mut bytes);
            u64::from_be_bytes(bytes)
        };
        Self { id, domain: domain.clone(), seed: [number(), number()] }
    }

    /// The seed by which all nodes hash the keys of rate limits.
    pub(crate) fn seed(&self) -> [u64; 2] {
        self.seed
    }
}

fn corrupt(error: serde_json::Error) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

#[cfg(test)]
mod tests {
    use forecourt_core::SystemClock;
    use forecourt_store::Memory;

    use super::*;
    use crate::SystemEntropy;

    #[tokio::test]
    async fn all_nodes_agree_and_a_node_of_another_deployment_is_told_so() {
        let (store, clock, domain) = (Memory::new(), SystemClock, Domain::parse("a.example").unwrap());
        let agree = |domain| DeploymentId::agree(&store, &clock, &SystemEntropy, domain);
        let all = futures::future::try_join_all((0..8).map(|_| agree(&domain))).await.unwrap();
        assert!(all.iter().all(|other| (&other.id, other.seed) == (&all[0].id, all[0].seed)));
        assert_eq!(all[0].id.len(), ID_DIGITS);
        let error = agree(&Domain::parse("b.example").unwrap()).await.unwrap_err().to_string();
        assert!(error.contains("a.example") && error.contains("b.example"), "{error}");
        assert!(!format!("{:?}", all[0]).contains(&all[0].seed[0].to_string()));
    }
}
