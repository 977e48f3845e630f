//! Senders who showed something.

use forecourt_core::identity::{Audience, IdentityEvidence, Proof};
use forecourt_core::{Sender, Timestamp};
use serde_json::Map;

/// A sender that is `subject`, by a proof of this kind, such as `bearer-token`.
pub fn proven(subject: &str, kind: &str) -> Sender {
    let evidence = IdentityEvidence {
        id: None,
        subject: subject.to_owned(),
        issuer: "login.example".to_owned(),
        method: "urn:test".to_owned(),
        assurance: "oauth".to_owned(),
        audience: Audience::One("demo".to_owned()),
        issued_at: Timestamp::UNIX_EPOCH,
        not_before: None,
        expires_at: None,
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source: Map::new(),
        proof: Proof { kind: kind.to_owned(), fields: Map::new() },
    };
    Sender { verified: true, identities: vec![evidence], ..Sender::anonymous() }
}
