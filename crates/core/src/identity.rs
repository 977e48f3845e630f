//! This module has the shape of identity evidence. Mentionable identity v0.1. Verifying it is the crate `identity`'s.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One verified, or at least well-formed, statement about the sender.
///
/// Methods, assurance levels and proof types are open lists: the core closes none of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdentityEvidence {
    /// Names this evidence, for replay protection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who it is about, such as `slack:T123/U456` or `@chef@demo.localhost`.
    pub subject: String,
    /// The issuer of the statement: a host name.
    pub issuer: String,
    /// How it was established, a URN.
    pub method: String,
    /// How strong it is: `platform`, `domain`, `address`, `agent`, `oauth`, `wallet`, `delegated` …
    pub assurance: String,
    /// The addresses of the agents that it is meant for.
    pub audience: Audience,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it begins to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// When it stops to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The principals for whom the subject acts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<String>,
    /// Further statements.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
    /// The issuer's own source of the statement.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub source: Map<String, Value>,
    /// The proof, by its `type`.
    pub proof: Proof,
}

/// [`Proof::kind`] of a bearer token.
pub const BEARER_TOKEN: &str = "bearer-token";

/// [`Proof::kind`] of the session of a person who signed in here.
pub const SESSION: &str = "session";

impl IdentityEvidence {
    /// Whether a bearer token proved it: to this host, or to one that it trusts to say so.
    pub fn is_of_token(&self) -> bool {
        self.proof.kind == BEARER_TOKEN
    }
}

/// One audience or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    /// A single address.
    One(String),
    /// Several addresses.
    Many(Vec<String>),
}

impl Audience {
    /// The audience's addresses, in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let slice = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many.as_slice(),
        };
        slice.iter().map(String::as_str)
    }
}

/// A proof: its type, and whatever fields that type has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// `transport`, `signed-attestation`, `bearer-token`, or a later one.
    #[serde(rename = "type")]
    pub kind: String,
    /// The other fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}
