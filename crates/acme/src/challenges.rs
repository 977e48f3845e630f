//! What the authority is told when it asks whether a name is ours.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use forecourt_core::Clock;
use forecourt_server::Certificates;
use forecourt_server::tls::HttpChallenges;
use futures::future::BoxFuture;
use parking_lot::RwLock;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::error::OrderError;
use crate::limits::{LOOKUPS_MAX, TOKEN_TIME, TOKENS_MAX};
use crate::pace::after;
use crate::storage::AcmeStorage;

/// Answers what authorities ask: tokens over plain HTTP, on every node that shares the storage, and digests within
/// TLS, on this one.
pub struct Challenges {
    tokens: RwLock<HashMap<String, String>>,
    storage: Arc<dyn AcmeStorage>,
    certificates: Arc<Certificates>,
    clock: Arc<dyn Clock>,
    lookups: Semaphore,
}

impl Challenges {
    /// Those of listeners that show `certificates`.
    pub fn new(storage: Arc<dyn AcmeStorage>, certificates: Arc<Certificates>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let (tokens, lookups) = (RwLock::default(), Semaphore::new(LOOKUPS_MAX));
        Arc::new(Self { tokens, storage, certificates, clock, lookups })
    }

    /// Answers a token until the proof is dropped.
    pub(crate) async fn prove_http(self: &Arc<Self>, token: &str, answer: &str) -> Result<Proof, OrderError> {
        // The authority may ask any node, so the others must find it too.
        if self.storage.is_shared() {
            let (now, value) = (self.clock.now(), json!(answer));
            self.storage.save(&stored(token), value, now, Some(after(now, TOKEN_TIME))).await?;
        }
        let mut tokens = self.tokens.write();
        if tokens.len() >= TOKENS_MAX {
            return Err(OrderError::Failed(format!("{TOKENS_MAX} names are being proven already")));
        }
        tokens.insert(token.to_owned(), answer.to_owned());
        Ok(Proof { challenges: self.clone(), of: ProofKind::Token(token.to_owned()) })
    }

    /// Shows the digest to who asks for a name within TLS, until the proof is dropped.
    pub(crate) fn prove_tls(self: &Arc<Self>, name: &str, digest: &[u8]) -> Result<Proof, OrderError> {
        let shown = self.certificates.challenges().insert(name, digest);
        shown.map_err(|error| OrderError::Failed(error.to_string()))?;
        Ok(Proof { challenges: self.clone(), of: ProofKind::Name(name.to_owned()) })
    }
}

fn stored(token: &str) -> String {
    format!("token-{token}")
}

impl HttpChallenges for Challenges {
    fn answer<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            if let Some(answer) = self.tokens.read().get(token).cloned() {
                return Some(answer);
            }
            // Another node may have ordered. Strangers who guess tokens must not keep the store busy.
            let _turn = self.storage.is_shared().then(|| self.lookups.try_acquire().ok())??;
            match self.storage.load(&stored(token), self.clock.now()).await {
                Ok(Some(Value::String(answer))) => Some(answer),
                _ => None,
            }
        })
    }
}

impl fmt::Debug for Challenges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Challenges").field("tokens", &self.tokens.read().len()).finish_non_exhaustive()
    }
}

/// As long as it lives, an authority that asks gets its answer.
#[must_use]
pub(crate) struct Proof {
    challenges: Arc<Challenges>,
    of: ProofKind,
}

enum ProofKind {
    Token(String),
    Name(String),
}

impl Drop for Proof {
    fn drop(&mut self) {
        match &self.of {
            ProofKind::Token(token) => drop(self.challenges.tokens.write().remove(token)),
            ProofKind::Name(name) => self.challenges.certificates.challenges().remove(name),
        }
    }
}
