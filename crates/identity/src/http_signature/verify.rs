//! This module verifies that a request was signed by the agent that it names. RFC 9421 3.2.

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::{Address, IdentityEvidence, Timestamp};
use forecourt_jose::{Algorithm, KeySet, ProofError, VerifyKey};
use futures::future::BoxFuture;
use serde_json::Map;

use super::base::signature_base;
use super::digest::matches_digest;
use super::fields::SignatureInput;
use crate::limits::{SIGNATURE_AGE_MAX, SKEW};
use crate::request::RequestProof;

/// The method of evidence from a signed request.
pub const METHOD: &str = "urn:mentionable:auth:agent-signature:v0.1";

/// The `tag` of signatures of crawlers. Web Bot Auth.
pub const CRAWLER_TAG: &str = "web-bot-auth";

/// The owner of a key, as a `keyid` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyId {
    /// An agent by its address, written `acct:local@domain`.
    Agent(Address),
    /// An agent by the https URL of its card.
    Card(String),
}

impl KeyId {
    /// Reads a `keyid`. `None` when it names nothing that we can look up.
    pub fn parse(text: &str) -> Option<Self> {
        match text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
            true => Some(Self::Card(text.to_owned())),
            false => Address::parse(text).ok().map(Self::Agent),
        }
    }
}

/// The keys that a directory found, and whose they are.
#[derive(Debug, Clone)]
pub struct FoundKeys {
    /// The agent that the card and its domain agree on.
    pub address: Address,
    /// Its signing key and the previous ones that are still good.
    pub keys: KeySet,
}

/// Finds the keys of agents. Implemented by whoever can resolve their cards.
pub trait KeyDirectory: Send + Sync + 'static {
    /// The keys behind `id`. [`ProofError::UnknownKey`] when there are none, [`ProofError::KeysUnavailable`]
    /// when they can't be had now. The implementation caches and limits its own fetches.
    fn find<'a>(&'a self, id: &'a KeyId, now: Timestamp) -> BoxFuture<'a, Result<FoundKeys, ProofError>>;
}

/// The operator's requirements on signatures: `[identity.http_signatures]`.
#[derive(Debug, Clone)]
pub struct SignaturePolicy {
    /// The algorithms that are accepted, in the order in which keys are tried.
    pub algorithms: Vec<Algorithm>,
    /// The greatest age of a signature, from its `created`.
    pub age_max: std::time::Duration,
    /// Whether a signature needs a nonce.
    pub require_nonce: bool,
}

impl Default for SignaturePolicy {
    fn default() -> Self {
        Self { algorithms: vec![Algorithm::Ed25519], age_max: SIGNATURE_AGE_MAX, require_nonce: false }
    }
}

/// A signature that was verified, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct VerifiedSignature {
    pub(crate) address: Address,
    pub(crate) key_id: String,
    pub(crate) nonce: Option<String>,
    /// When the signature stops being acceptable.
    pub(crate) until: Timestamp,
    pub(crate) evidence: IdentityEvidence,
}

/// Verifies the signatures of a request: the first one that holds counts. `None` when there is none.
pub(crate) async fn verify(
    policy: &SignaturePolicy,
    directory: &dyn KeyDirectory,
    request: &RequestProof<'_>,
) -> Option<Result<VerifiedSignature, ProofError>> {
    let inputs = match SignatureInput::read(request.headers) {
        // Those of crawlers are verified by other keys, and say so. Alone, they are no signature of an agent.
        Ok(inputs) => inputs.into_iter().filter(|input| input.tag.as_deref() != Some(CRAWLER_TAG)).collect::<Vec<_>>(),
        Err(fault) => return Some(Err(fault)),
    };
    if inputs.is_empty() {
        return None;
    }
    let mut fault = ProofError::BadSignature;
    for input in &inputs {
        match verify_one(policy, directory, request, input).await {
            Ok(signed) => return Some(Ok(signed)),
            Err(other) => fault = other,
        }
    }
    Some(Err(fault))
}

/// Everything that needs no key comes first, so that nobody makes us look keys up for nothing.
async fn verify_one(
    policy: &SignaturePolicy,
    directory: &dyn KeyDirectory,
    request: &RequestProof<'_>,
    input: &SignatureInput,
) -> Result<VerifiedSignature, ProofError> {
    check_coverage(input, request)?;
    let until = check_times(policy, input, request.now)?;
    if policy.require_nonce && input.nonce.is_none() {
        return Err(ProofError::Missing("nonce"));
    }
    // Also for an empty body, if the digest is covered: somebody on the way may have removed the body.
    if !request.body().is_empty() || covers(input, "content-digest") {
        matches_digest(request.headers, request.body())?;
    }
    let base = signature_base(input, &request.into())?;
    let keyid = input.keyid.as_deref().ok_or(ProofError::Missing("keyid"))?;
    let id = KeyId::parse(keyid).ok_or(ProofError::UnknownKey)?;
    let found = directory.find(&id, request.now).await?;
    // The signature named one agent and the directory found another one: neither is proven.
    if matches!(&id, KeyId::Agent(address) if *address != found.address) {
        return Err(ProofError::UnknownKey);
    }
    let key = matching_key(policy, input, &found.keys, base.as_bytes(), request.now)?;
    Ok(VerifiedSignature {
        evidence: evidence(&found.address, key, input, request, until),
        address: found.address,
        key_id: key.kid().unwrap_or(keyid).to_owned(),
        nonce: input.nonce.clone(),
        until,
    })
}

fn matching_key<'a>(
    policy: &SignaturePolicy,
    input: &SignatureInput,
    keys: &'a KeySet,
    base: &[u8],
    now: Timestamp,
) -> Result<&'a VerifyKey, ProofError> {
    let mut fault = ProofError::UnknownKey;
    for algorithm in &policy.algorithms {
        // All its keys are tried: a `keyid` names an agent or its card, and not one of its keys.
        for key in keys.select(None, *algorithm, now) {
            // What the signature says about its algorithm must agree with the key (RFC 9421 3.2.1).
            if input.alg.as_deref().is_some_and(|alg| Some(alg) != algorithm.http_name()) {
                fault = ProofError::WrongAlgorithm;
            } else if key.verify(base, &input.signature) {
                return Ok(key);
            } else {
                fault = ProofError::BadSignature;
            }
        }
    }
    Err(fault)
}

fn covers(input: &SignatureInput, name: &str) -> bool {
    input.components.iter().any(|component| component.name == name)
}

/// Checks that a signature covers the method, the target with its authority, and the body.
fn check_coverage(input: &SignatureInput, request: &RequestProof<'_>) -> Result<(), ProofError> {
    if !covers(input, "@method") {
        return Err(ProofError::Uncovered("@method"));
    }
    let parts = covers(input, "@authority")
        // A request without a query need not cover `@query`: one that is added on the way makes it uncovered.
        && (covers(input, "@request-target")
            || covers(input, "@path") && (covers(input, "@query") || request.query.is_none()));
    if !covers(input, "@target-uri") && !parts {
        return Err(ProofError::Uncovered("@target-uri, or @authority with @path and @query"));
    }
    match request.body().is_empty() || covers(input, "content-digest") {
        true => Ok(()),
        false => Err(ProofError::Uncovered("content-digest")),
    }
}

/// Checks `created` and `expires`, and gives the moment at which the signature ends.
fn check_times(policy: &SignaturePolicy, input: &SignatureInput, now: Timestamp) -> Result<Timestamp, ProofError> {
    let created = input.created.ok_or(ProofError::Missing("created"))?;
    if created > now.checked_add(SKEW).unwrap_or(now) {
        return Err(ProofError::NotYetValid);
    }
    let oldest = created.checked_add(policy.age_max).map_err(|_| ProofError::Malformed("signature"))?;
    // A signer may shorten the life of its signature, and never lengthen it.
    let until = input.expires.map_or(oldest, |expires| expires.min(oldest));
    if now < until { Ok(until) } else { Err(ProofError::Expired) }
}

fn evidence(
    address: &Address,
    key: &VerifyKey,
    input: &SignatureInput,
    request: &RequestProof<'_>,
    until: Timestamp,
) -> IdentityEvidence {
    let mut fields = Map::new();
    fields.insert("verified_by".to_owned(), request.agent.domain().as_str().into());
    if let Some(key_id) = key.kid().or(input.keyid.as_deref()) {
        fields.insert("key_id".to_owned(), key_id.into());
    }
    IdentityEvidence {
        id: input.nonce.clone(),
        subject: address.to_string(),
        issuer: address.domain().to_string(),
        method: METHOD.to_owned(),
        assurance: "agent".to_owned(),
        audience: Audience::One(request.agent.to_string()),
        issued_at: input.created.unwrap_or(request.now),
        not_before: None,
        expires_at: Some(until),
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source: Map::new(),
        proof: Proof { kind: "transport".to_owned(), fields },
    }
}
