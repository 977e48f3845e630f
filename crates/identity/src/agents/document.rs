//! This module reads, checks and signs Agent Identity Documents. AGTP base 6.3, 6.4.

use forecourt_core::{AgentId, Timestamp};
use forecourt_jose::encoding::{from_base64url, to_base64url};
use forecourt_jose::{SigningKey, VerifyKey};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::canonical::{self, SignedForm};
use crate::genesis::{OperatorStatement, TrustTier};

/// Who signed a document.
const ISSUER: &str = "manifest_issuer";
/// With which key.
const ISSUER_KEY: &str = "manifest_issuer_public_key";
/// The signature over everything else, the two fields above included.
const SIGNATURE: &str = "manifest_signature";

/// What every document must say. Readers that follow the reference implementation refuse one that
/// lacks any of them.
pub(crate) const REQUIRED: [&str; 13] = [
    "agtp_version",
    "document_version",
    "agent_id",
    "name",
    "description",
    "principal",
    "principal_id",
    "issuer",
    "issued_at",
    "status",
    "scopes_accepted",
    "skills",
    "requires",
];

/// An agent's identity document. If somebody signed it, the signature was checked: it can't be made
/// otherwise, and so none whose signature fails is ever served.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDocument {
    fields: Map<String, Value>,
    signed: bool,
    escaped: bool,
}

/// The name and the key with which this host signs documents.
#[derive(Debug, Clone, Copy)]
pub struct Issuer<'a> {
    /// Its name: the domain.
    pub name: &'a str,
    /// Its key.
    pub key: &'a SigningKey,
}

/// Why something is no identity document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentDocumentError {
    /// It is not a JSON object, or holds numbers that have no canonical form.
    #[error("it must be a JSON object: {0}")]
    Malformed(String),
    /// A field is not what it should be.
    #[error("`{0}` is not what it should be")]
    Field(&'static str),
    /// It is signed, so nothing can be added, and lacks what must be there.
    #[error("it is signed, and lacks {0}")]
    Missing(String),
    /// It has one or two of the three fields of a signature.
    #[error("`{ISSUER}`, `{ISSUER_KEY}` and `{SIGNATURE}` belong together: give all or none")]
    HalfSigned,
    /// The signature is not one over this document by this key.
    #[error("the signature does not fit the document and its `{ISSUER_KEY}`")]
    Signature,
    /// It can't be written.
    #[error("it can't be signed: {0}")]
    Unsignable(String),
}

impl AgentDocument {
    /// Reads and checks a document.
    pub fn parse(bytes: &[u8]) -> Result<Self, AgentDocumentError> {
        match forecourt_core::json::parse(bytes).map_err(AgentDocumentError::Malformed)? {
            Value::Object(fields) => Self::check(fields),
            _ => Err(AgentDocumentError::Malformed("it is something else".to_owned())),
        }
    }

    /// [`AgentDocument::parse`] for an object that was read.
    pub fn check(fields: Map<String, Value>) -> Result<Self, AgentDocumentError> {
        check_fields(&fields)?;
        match [ISSUER, ISSUER_KEY, SIGNATURE].map(|name| fields.contains_key(name)) {
            [false, false, false] => Ok(Self { fields, signed: false, escaped: false }),
            [true, true, true] => {
                let escaped = check_signature(&fields)?;
                let missing: Vec<_> = REQUIRED.into_iter().filter(|name| !fields.contains_key(*name)).collect();
                match missing.is_empty() {
                    true => Ok(Self { fields, signed: true, escaped }),
                    false => Err(AgentDocumentError::Missing(missing.join(", "))),
                }
            }
            // An issuer without a signature would be read by others as one who vouches.
            _ => Err(AgentDocumentError::HalfSigned),
        }
    }

    /// A document with these fields, which nobody signed.
    pub(crate) fn unsigned(fields: Map<String, Value>) -> Self {
        Self::checked(fields, false, false)
    }

    /// A document that was checked before; nothing is checked again.
    pub(crate) fn checked(fields: Map<String, Value>, signed: bool, escaped: bool) -> Self {
        Self { fields, signed, escaped }
    }

    /// All of it, as it was loaded or made.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Whether it came with a signature: then it is served as it is, and nothing is added.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// Whether it was signed in the spelling of the reference implementation: worth a warning.
    pub fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// `agent_id`. `None`: it is missing.
    pub fn agent_id(&self) -> Option<AgentId> {
        AgentId::parse(self.text("agent_id")?).ok()
    }

    /// A field that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// The scopes that the agent declares for itself: `requires.scopes`.
    pub fn declared(&self) -> impl Iterator<Item = &str> {
        let scopes = self.fields.get("requires").and_then(|requires| requires.get("scopes"));
        scopes.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether the agent consents to methods beyond those that it declared. AGTP-API 16.4.
    pub fn wildcards(&self) -> bool {
        let requires = self.fields.get("requires");
        requires.and_then(|requires| requires.get("wildcards")).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Its fields `trust_tier`, `verification_path`, `trust_warning` and `owner_id`.
    pub fn stated(&self) -> OperatorStatement {
        let text = |name| self.text(name).map(str::to_owned);
        OperatorStatement {
            trust_tier: self.fields.get("trust_tier").and_then(|tier| TrustTier::deserialize(tier).ok()),
            verification_path: text("verification_path"),
            trust_warning: text("trust_warning"),
            owner_id: text("owner_id"),
        }
    }

    /// The key of the agent's own certificate, as SHA-256 of the raw key in hexadecimal.
    pub(crate) fn cert_fingerprint(&self) -> Option<&str> {
        self.text("cert_fingerprint")
    }

    /// The same document with other values, signed by `issuer`.
    ///
    /// # Errors
    /// [`AgentDocumentError::Unsignable`] when it holds numbers that have no canonical form.
    pub(crate) fn sign(&self, changes: Map<String, Value>, issuer: Issuer<'_>) -> Result<Self, AgentDocumentError> {
        let mut fields = self.fields.clone();
        fields.extend(changes);
        fields.insert(ISSUER.to_owned(), issuer.name.into());
        fields.insert(ISSUER_KEY.to_owned(), issuer.key.public().x.as_str().into());
        let signed = canonical::plain(&fields, &[SIGNATURE]).map_err(AgentDocumentError::Unsignable)?;
        fields.insert(SIGNATURE.to_owned(), to_base64url(&issuer.key.sign(signed.as_bytes())).into());
        Ok(Self { fields, signed: true, escaped: false })
    }
}

/// Checks the kind of each known field that is present, since other hosts read the document too.
fn check_fields(fields: &Map<String, Value>) -> Result<(), AgentDocumentError> {
    let fits = |name: &str, value: &Value| match name {
        "agent_id" => value.as_str().is_some_and(|text| AgentId::parse(text).is_ok()),
        "issued_at" => value.as_str().is_some_and(|text| text.parse::<Timestamp>().is_ok()),
        "scopes_accepted" => is_texts(value),
        "skills" => value.is_array(),
        "requires" => is_requires(value),
        "trust_tier" => TrustTier::deserialize(value).is_ok(),
        _ => value.is_string(),
    };
    let checked = REQUIRED.into_iter().chain(["trust_tier", "verification_path", "trust_warning", "owner_id"]);
    let wrong = checked.into_iter().find(|name| fields.get(*name).is_some_and(|value| !fits(name, value)));
    wrong.map_or(Ok(()), |name| Err(AgentDocumentError::Field(name)))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_requires(value: &Value) -> bool {
    let lists = ["methods", "scopes"].into_iter().all(|name| value.get(name).is_none_or(is_texts));
    value.is_object() && lists && value.get("wildcards").is_none_or(Value::is_boolean)
}

/// Checks the signature; whether it is one in the spelling of the reference implementation.
fn check_signature(fields: &Map<String, Value>) -> Result<bool, AgentDocumentError> {
    let text = |name| fields.get(name).and_then(Value::as_str);
    text(ISSUER).ok_or(AgentDocumentError::Field(ISSUER))?;
    let key = text(ISSUER_KEY).and_then(VerifyKey::ed25519_text).ok_or(AgentDocumentError::Field(ISSUER_KEY))?;
    let signature = text(SIGNATURE).and_then(from_base64url).ok_or(AgentDocumentError::Field(SIGNATURE))?;
    let form = SignedForm::of(fields, &[SIGNATURE], &key, &signature).map_err(AgentDocumentError::Malformed)?;
    form.map(|form| form.escaped).ok_or(AgentDocumentError::Signature)
}
