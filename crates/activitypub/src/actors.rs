//! Actors of other servers, with their keys: fetched when they are needed, kept for a day, and never at the will of
//! strangers.
//!
//! A key that is replaced keeps its name here as elsewhere, so that a signature which does not fit has the actor fetched
//! once more, and at most once in [`ACTOR_RETRY`].

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Handle, Timestamp};
use forecourt_host::Host;
use forecourt_jose::{ProofError, VerifyKey};
use moka::future::Cache;
use serde_json::Value;

use crate::NAME;
use crate::federation::{Federation, FetchError};
use crate::iri::Iri;
use crate::limits::{
    ACTOR_FRESH, ACTOR_RETRY, ACTORS_KEPT_MAX, IRI_BYTES_MAX, KEY_PEM_BYTES_MAX, LOOKUPS_PER_MINUTE,
    LOOKUPS_PER_SERVER_PER_MINUTE,
};
use crate::lookups::Lookups;
use crate::note::one_line;
use crate::signature::UnprovenSignature;
use crate::wire;

/// An actor of another server, as its own document says.
#[derive(Debug, Clone)]
pub(crate) struct RemoteActor {
    pub(crate) id: Iri,
    /// Whether it says that a program writes.
    pub(crate) is_bot: bool,
    pub(crate) username: String,
    pub(crate) name: Option<String>,
    pub(crate) inbox: Iri,
    key_id: String,
    key: Option<VerifyKey>,
}

/// What is known of a name.
#[derive(Clone)]
struct KeptActor {
    /// `None`: there is none, or it could not be fetched.
    actor: Option<Arc<RemoteActor>>,
    /// Whether its server said that there is none.
    is_gone: bool,
    fetched_at: Timestamp,
}

/// The actors that are known.
pub(crate) struct RemoteActors {
    federation: Arc<Federation>,
    kept: Cache<Iri, KeptActor>,
    /// Whose the keys are that have documents of their own.
    owners: Cache<Iri, KeyOwner>,
    lookups: Lookups,
}

/// Whose a key is.
#[derive(Clone)]
struct KeyOwner {
    /// `None`: its document does not say so, or could not be fetched.
    owner: Option<Iri>,
    fetched_at: Timestamp,
}

/// Too much is fetched at the moment.
#[derive(Debug)]
struct TooMuch;

impl RemoteActor {
    /// Reads the document at its own name. `None` for what is no actor.
    fn read(document: &Value, at: &Iri) -> Option<Self> {
        let id = document.get("id").and_then(Value::as_str).and_then(Iri::parse).filter(|id| id == at)?;
        let kinds = ["Person", "Service", "Application", "Group", "Organization"];
        let kind = wire::texts(document.get("type")).find(|kind| kinds.contains(kind))?;
        let inbox =
            document.get("inbox").and_then(wire::name).and_then(Iri::parse).filter(|inbox| inbox.is_beside(&id))?;
        let text = |key: &str| document.get(key).and_then(Value::as_str).map(one_line).filter(|text| !text.is_empty());
        let key = wire::entries(document.get("publicKey")).next();
        let member = |name: &str| key.and_then(|key| key.get(name)).and_then(Value::as_str);
        // A key of somebody else's is none of this actor's.
        let is_own = member("owner").is_none_or(|owner| owner == id.as_str());
        let pem = member("publicKeyPem").filter(|pem| is_own && pem.len() <= KEY_PEM_BYTES_MAX);
        Some(Self {
            is_bot: matches!(kind, "Service" | "Application"),
            username: text("preferredUsername").unwrap_or_default(),
            name: text("name"),
            inbox,
            key_id: member("id").filter(|id| id.len() <= IRI_BYTES_MAX).unwrap_or_default().to_owned(),
            key: pem.and_then(|pem| VerifyKey::from_pem(pem, None).ok()),
            id,
        })
    }

    /// Its address, as people write it: `@user@host`. Rules go by it, so that a name which looks like an address of its
    /// own is none: then it is the actor's.
    pub(crate) fn address(&self) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "_.-".contains(c);
        match !self.username.is_empty() && self.username.chars().all(is_plain) {
            true => format!("@{}@{}", self.username, self.id.authority()),
            false => format!("{NAME}:{}", self.id),
        }
    }

    /// The name of its key.
    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Its key of this name.
    fn key(&self, key_id: &Iri) -> Option<&VerifyKey> {
        self.key.as_ref().filter(|_| self.key_id == key_id.as_str())
    }
}

impl RemoteActors {
    pub(crate) fn new(federation: Arc<Federation>) -> Self {
        let lookups = Lookups::new(LOOKUPS_PER_SERVER_PER_MINUTE, LOOKUPS_PER_MINUTE);
        let (kept, owners) = (Cache::new(ACTORS_KEPT_MAX), Cache::new(ACTORS_KEPT_MAX));
        Self { federation, kept, owners, lookups }
    }

    /// Who made one of these signatures: the first one that holds counts. What is fetched is asked for by `agent`.
    pub(crate) async fn signer(
        &self,
        host: &Host,
        agent: &Handle,
        signatures: &[UnprovenSignature],
    ) -> Result<Arc<RemoteActor>, ProofError> {
        let mut fault = ProofError::BadSignature;
        for signature in signatures {
            match self.verify(host, agent, signature).await {
                Ok(actor) => return Ok(actor),
                Err(other) => fault = other,
            }
        }
        Err(fault)
    }

    async fn verify(
        &self,
        host: &Host,
        agent: &Handle,
        signature: &UnprovenSignature,
    ) -> Result<Arc<RemoteActor>, ProofError> {
        let name = self.owner(host, agent, &signature.key_id).await?;
        let mut fault = ProofError::UnknownKey;
        // The second time it was fetched anew, if it was not just before: keys are replaced under their names.
        for is_again in [false, true] {
            let Some(kept) = self.find(host, agent, &name, is_again).await else {
                return Err(ProofError::KeysUnavailable);
            };
            let Some(actor) = kept.actor else {
                return Err(if kept.is_gone { ProofError::UnknownKey } else { ProofError::KeysUnavailable });
            };
            match actor.key(&signature.key_id).ok_or(ProofError::UnknownKey).and_then(|key| signature.verify(key)) {
                Ok(()) => return Ok(actor),
                Err(other) => fault = other,
            }
        }
        Err(fault)
    }

    /// The actor behind the name of a key: mostly its document is the actor's. Where it is a document of its own, that
    /// names its owner, which must be on the same server.
    async fn owner(&self, host: &Host, agent: &Handle, key_id: &Iri) -> Result<Iri, ProofError> {
        let document = key_id.document();
        if document != *key_id || self.kept.get(&document).await.is_some_and(|kept| kept.actor.is_some()) {
            return Ok(document);
        }
        let now = host.clock().now();
        if let Some(kept) = self.owners.get(key_id).await {
            let fresh = if kept.owner.is_some() { ACTOR_FRESH } else { ACTOR_RETRY };
            if is_within(kept.fetched_at, now, fresh) {
                return kept.owner.ok_or(ProofError::UnknownKey);
            }
            self.owners.invalidate(key_id).await;
        }
        let fetched = async {
            let found = self.federation.fetch(host, agent, key_id).await.ok();
            let named = |found: &Value, member: &str| Iri::parse(found.get(member)?.as_str()?);
            let owner = found.and_then(|found| named(&found, "owner").or_else(|| named(&found, "id")));
            KeyOwner { owner: owner.filter(|owner| owner.is_beside(key_id)), fetched_at: now }
        };
        let owner = self.owners.try_get_with_by_ref(key_id, self.admitted(host, key_id, fetched)).await;
        owner.map_err(|_| ProofError::KeysUnavailable)?.owner.ok_or(ProofError::UnknownKey)
    }

    /// What is known of an actor, fetched if it is not, or is too old. `None` while too much is fetched.
    async fn find(&self, host: &Host, agent: &Handle, name: &Iri, anew: bool) -> Option<KeptActor> {
        // All who need the same one wait for one fetch, which is counted once.
        let fetch = || self.kept.try_get_with_by_ref(name, self.admitted(host, name, self.fetch(host, agent, name)));
        let Some(kept) = self.kept.get(name).await else { return fetch().await.ok() };
        let fresh = if kept.actor.is_some() && !anew { ACTOR_FRESH } else { ACTOR_RETRY };
        if is_within(kept.fetched_at, host.clock().now(), fresh) {
            return Some(kept);
        }
        self.kept.invalidate(name).await;
        match fetch().await {
            Ok(kept) => Some(kept),
            Err(_) => {
                // What was fetched before serves while nothing can be fetched.
                self.kept.insert(name.clone(), kept.clone()).await;
                Some(kept)
            }
        }
    }

    /// What a fetch gives, if one more is within the bounds.
    async fn admitted<T>(&self, host: &Host, name: &Iri, fetch: impl Future<Output = T>) -> Result<T, TooMuch> {
        match self.lookups.admit(name.authority(), host.clock().now()) {
            true => Ok(fetch.await),
            false => Err(TooMuch),
        }
    }

    async fn fetch(&self, host: &Host, agent: &Handle, name: &Iri) -> KeptActor {
        let fetched = self.federation.fetch(host, agent, name).await;
        let is_gone = matches!(fetched, Err(FetchError::Absent));
        if let Err(error) = &fetched {
            tracing::info!(%error, server = name.authority(), "an actor can't be fetched");
        }
        let actor = fetched.ok().and_then(|document| RemoteActor::read(&document, name)).map(Arc::new);
        KeptActor { actor, is_gone, fetched_at: host.clock().now() }
    }

    /// Whether anything is known of an actor.
    pub(crate) async fn knows(&self, name: &Iri) -> bool {
        self.kept.get(name).await.is_some_and(|kept| kept.actor.is_some())
    }

    /// Forgets an actor, which said that it is gone, or has changed.
    pub(crate) async fn forget(&self, name: &Iri) {
        self.kept.invalidate(name).await;
    }

    /// The JSON behind a name of the server of `actor`, for objects that are told by their names.
    pub(crate) async fn object(&self, host: &Host, agent: &Handle, name: &Iri) -> Result<Value, FetchError> {
        if !self.lookups.admit(name.authority(), host.clock().now()) {
            return Err(FetchError::Failed("too much is fetched".to_owned()));
        }
        self.federation.fetch(host, agent, name).await
    }
}

/// Whether `then` lies less than `time` before `now`. A clock that was set back counts as past.
fn is_within(then: Timestamp, now: Timestamp, time: Duration) -> bool {
    (0..time.as_secs().cast_signed()).contains(&(now.as_second() - then.as_second()))
}

#[cfg(test)]
mod tests {
    use forecourt_jose::RsaSigningKey;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_of_an_actor_has_a_bound() {
        let key = RsaSigningKey::generate().unwrap();
        let id = Iri::parse("https://a.example/ann").unwrap();
        let read = |pem_bytes: usize, name_bytes: usize| {
            let pem = format!("{}{}", key.public_pem(), "\n".repeat(pem_bytes - key.public_pem().len()));
            let key_id = format!("{id}#{}", "k".repeat(name_bytes - id.as_str().len() - 1));
            let key = json!({"id": key_id, "owner": id, "publicKeyPem": pem});
            let document = json!({"id": id, "type": "Person", "inbox": "https://a.example/inbox", "publicKey": key});
            let actor = RemoteActor::read(&document, &id).unwrap();
            (actor.key.is_some(), actor.key_id.len())
        };
        assert_eq!(read(KEY_PEM_BYTES_MAX, IRI_BYTES_MAX), (true, IRI_BYTES_MAX));
        assert_eq!(read(KEY_PEM_BYTES_MAX + 1, IRI_BYTES_MAX + 1), (false, 0));
    }
}
