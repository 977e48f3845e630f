//! What was proven about who wrote a note.

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::message::Profile;
use forecourt_core::{Address, IdentityEvidence, Sender, Timestamp};
use serde_json::Map;

use crate::NAME;
use crate::actors::RemoteActor;

/// How it was proven.
const AUTH_METHOD: &str = "activitypub-signature";
/// The same as a method of evidence.
const METHOD: &str = "urn:mentionable:auth:activitypub-signature:v0.1";

/// An actor as the sender of a message to `agent`: verified, since its server signed the request with its key.
pub(crate) fn sender(actor: &RemoteActor, agent: &Address, now: Timestamp) -> Sender {
    let profile = actor.name.clone().map(|name| Profile { display_name: Some(name), more: Map::new() });
    Sender {
        address: actor.address(),
        auth_method: AUTH_METHOD.to_owned(),
        verified: true,
        key_id: Some(actor.key_id().to_owned()),
        profile,
        identities: vec![evidence(actor, agent, now)],
        ..Sender::anonymous()
    }
}

/// Of a kind of its own, so that what a server of the Fediverse vouches for is never taken for what an agent's own key
/// proves.
pub(crate) fn subject(actor: &RemoteActor) -> String {
    format!("{NAME}:{}", actor.id)
}

fn evidence(actor: &RemoteActor, agent: &Address, now: Timestamp) -> IdentityEvidence {
    let mut fields = Map::new();
    fields.insert("verified_by".to_owned(), agent.domain().as_str().into());
    fields.insert("key_id".to_owned(), actor.key_id().into());
    IdentityEvidence {
        id: None,
        subject: subject(actor),
        issuer: actor.id.authority().to_owned(),
        method: METHOD.to_owned(),
        // Its server holds the key, and says which of its people wrote.
        assurance: "server".to_owned(),
        audience: Audience::One(agent.to_string()),
        issued_at: now,
        not_before: None,
        expires_at: None,
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source: Map::from_iter([("transport".to_owned(), NAME.into())]),
        proof: Proof { kind: "transport".to_owned(), fields },
    }
}
