//! This module reads and checks the genesis document of an agent: it is signed once, never reissued, and its hash is
//! the agent's id.
//!
//! Whatever object was loaded is served as it was loaded: fields that nobody here knows are part of the
//! hash. AGTP base, Agent Genesis; AGTP-API 5.8.1.

mod draft;
mod posture;

use forecourt_core::{AgentId, Timestamp};
use forecourt_jose::VerifyKey;
use forecourt_jose::encoding::from_base64url;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::canonical::{self, SignedForm};

pub use draft::{Archetype, GenesisDraft};
pub use posture::{OperatorStatement, TrustPosture, TrustTier};
pub(crate) use posture::{is_first_tier_path, is_known_path};

/// The members that are neither hashed nor signed: the signature, and the agent id, which is the hash.
const NOT_HASHED: [&str; 2] = ["signature", "agent_id"];

/// An agent's genesis document whose signature was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Genesis {
    id: AgentId,
    document: Map<String, Value>,
    escaped: bool,
}

/// Why a document is not an agent's genesis document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// It is not a JSON object, or holds numbers that have no canonical form.
    #[error("it must be a JSON object: {0}")]
    Malformed(String),
    /// A field is missing, or is of another kind.
    #[error("`{0}` is missing or is not what it should be")]
    Field(&'static str),
    /// Nobody with the issuer's key signed this.
    #[error("the signature does not fit the document and its `issuer_public_key`")]
    Signature,
    /// Its `agent_id`, or the id that was expected, differs from its hash.
    #[error("its hash is {found}, and not the agent id that is expected")]
    AgentId {
        /// The hash.
        found: AgentId,
    },
}

impl Genesis {
    /// Reads and checks a document. With `expected`, a document of another agent id is refused.
    pub fn parse(bytes: &[u8], expected: Option<&AgentId>) -> Result<Self, GenesisError> {
        match forecourt_core::json::parse(bytes).map_err(GenesisError::Malformed)? {
            Value::Object(document) => Self::check(document, expected),
            _ => Err(GenesisError::Malformed("it is something else".to_owned())),
        }
    }

    /// [`Genesis::parse`] for an object that was read.
    pub fn check(document: Map<String, Value>, expected: Option<&AgentId>) -> Result<Self, GenesisError> {
        let key = issuer_key(&document)?;
        let signature = document.get("signature").and_then(Value::as_str).and_then(from_base64url);
        let signature = signature.ok_or(GenesisError::Field("signature"))?;
        let form = SignedForm::of(&document, &NOT_HASHED, &key, &signature).map_err(GenesisError::Malformed)?;
        let form = form.ok_or(GenesisError::Signature)?;
        let id = canonical::hash(form.text.as_bytes());
        let named = document.get("agent_id").and_then(Value::as_str);
        match named.is_none_or(|named| named == id.as_str()) && expected.is_none_or(|expected| *expected == id) {
            true => Ok(Self { id, document, escaped: form.escaped }),
            false => Err(GenesisError::AgentId { found: id }),
        }
    }

    /// A document that was checked before; nothing is checked again.
    pub(crate) fn checked(id: AgentId, document: Map<String, Value>, escaped: bool) -> Self {
        Self { id, document, escaped }
    }

    /// The agent's id: SHA-256 of the canonical document without `signature` and `agent_id`. AGTP base, Agent Genesis.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// All of it, as it was loaded.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// All of it in its canonical form, as it is handed to others. AGTP-API 5.8.1.
    ///
    /// # Errors
    /// A member that is not hashed holds a number that has no canonical form.
    pub fn canonical(&self) -> Result<String, String> {
        let plain = canonical::plain(&self.document, &[])?;
        Ok(if self.escaped { canonical::escaped(&plain) } else { plain })
    }

    /// Whether it was hashed in the spelling of the reference implementation, which nobody else shares:
    /// worth a warning.
    pub fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// Who answers for the agent: `owner_id`, else `owner`.
    pub fn owner(&self) -> Option<&str> {
        ["owner_id", "owner"].iter().find_map(|name| self.document.get(*name)?.as_str())
    }

    /// What the agent may do, as tokens. Empty when the document does not say.
    pub fn scope(&self) -> impl Iterator<Item = &str> {
        self.document.get("scope").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// `trust_tier`. `None`: it is missing, or none of 1, 2 and 3.
    pub fn trust_tier(&self) -> Option<TrustTier> {
        TrustTier::deserialize(self.document.get("trust_tier")?).ok()
    }

    /// `verification_path`, such as `dns-anchored`. `None`: it is missing, or no text.
    pub fn verification_path(&self) -> Option<&str> {
        self.document.get("verification_path")?.as_str()
    }

    /// `issued_at`. `None`: it is missing, or no time.
    pub fn issued_at(&self) -> Option<Timestamp> {
        self.document.get("issued_at")?.as_str()?.parse().ok()
    }

    /// `governance_zone`. `None`: it is missing, or no text.
    pub fn governance_zone(&self) -> Option<&str> {
        self.document.get("governance_zone")?.as_str()
    }

    /// SHA-256 of the agent's own raw key in hexadecimal, if the document names one: the key of its
    /// certificate.
    pub(crate) fn agent_fingerprint(&self) -> Option<String> {
        fingerprint(&self.document, "agent_public_key")
    }

    /// SHA-256 of the issuer's raw key in hexadecimal.
    pub fn issuer_fingerprint(&self) -> Option<String> {
        fingerprint(&self.document, "issuer_public_key")
    }
}

/// The agent id of a document, whether or not it is signed.
///
/// # Errors
/// [`GenesisError::Malformed`] when it holds numbers that have no canonical form.
pub fn name_of(document: &Map<String, Value>) -> Result<AgentId, GenesisError> {
    let plain = canonical::plain(document, &NOT_HASHED).map_err(GenesisError::Malformed)?;
    Ok(canonical::hash(plain.as_bytes()))
}

/// SHA-256 in hexadecimal of a raw Ed25519 public key that is given in base64url or PEM. `None`: it is
/// no such key.
pub fn fingerprint_of_key(text: &str) -> Option<String> {
    Some(canonical::hash(&VerifyKey::ed25519_text(text)?.edwards_bytes()?).as_str().to_owned())
}

fn issuer_key(document: &Map<String, Value>) -> Result<VerifyKey, GenesisError> {
    let text = document.get("issuer_public_key").and_then(Value::as_str);
    text.and_then(VerifyKey::ed25519_text).ok_or(GenesisError::Field("issuer_public_key"))
}

/// SHA-256 in hexadecimal of the raw key that a field of a document holds.
fn fingerprint(document: &Map<String, Value>, field: &str) -> Option<String> {
    fingerprint_of_key(document.get(field)?.as_str()?)
}

#[cfg(test)]
mod tests;
