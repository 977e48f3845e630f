//! This module verifies that a request was signed by the signature agent that it names. Web Bot Auth, over RFC 9421.

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::{Address, Bot, IdentityEvidence, Timestamp};
use forecourt_jose::{Algorithm, ProofError};
use http::{HeaderMap, HeaderName};
use serde_json::Map;
use sfv::{BareItem, Dictionary, Item, ListEntry, Parser};

use super::SUBJECT_PREFIX;
use super::agents::{SignatureAgent, SignatureAgents};
use super::known::KnownBots;
use crate::http_signature::{CRAWLER_TAG, SignatureInput, signature_base};
use crate::limits::{BOT_SIGNATURE_LIFETIME_MAX, SKEW};
use crate::request::RequestProof;

/// The method of evidence from such a request.
pub const METHOD: &str = "urn:forecourt:auth:web-bot-auth";
const SIGNATURE_AGENT: HeaderName = HeaderName::from_static("signature-agent");

/// A crawler that was verified by its signature of a request, which names no agent of this host.
#[derive(Debug, Clone)]
pub struct VerifiedBot {
    pub(crate) bot: Bot,
    pub(crate) nonce: Option<String>,
    created: Timestamp,
    /// When the signature stops being acceptable.
    pub(crate) until: Timestamp,
    pub(crate) key_id: String,
}

/// Verifies the signatures of a request that are for this: the first one that holds counts. `None` when there is none.
pub(crate) async fn verify(
    agents: &SignatureAgents,
    known: &KnownBots,
    request: &RequestProof<'_>,
) -> Option<Result<VerifiedBot, ProofError>> {
    // What can't be read is refused where agents' signatures are.
    let inputs = SignatureInput::read(request.headers).ok()?;
    let mut fault = None;
    for input in inputs.iter().filter(|input| input.tag.as_deref() == Some(CRAWLER_TAG)) {
        match verify_one(agents, known, request, input).await {
            Ok(bot) => return Some(Ok(bot)),
            Err(other) => fault = Some(other),
        }
    }
    fault.map(Err)
}

/// Everything that needs no key comes first, so that nobody makes us fetch directories for nothing.
async fn verify_one(
    agents: &SignatureAgents,
    known: &KnownBots,
    request: &RequestProof<'_>,
    input: &SignatureInput,
) -> Result<VerifiedBot, ProofError> {
    let covers = |name: &str| input.components.iter().any(|component| component.name == name);
    if !covers("@authority") && !covers("@target-uri") {
        return Err(ProofError::Uncovered("@authority"));
    }
    if !covers(SIGNATURE_AGENT.as_str()) {
        return Err(match request.headers.contains_key(&SIGNATURE_AGENT) {
            true => ProofError::Uncovered("signature-agent"),
            false => ProofError::Missing("Signature-Agent"),
        });
    }
    let (created, until) = times(input, request.now)?;
    let keyid = input.keyid.as_deref().ok_or(ProofError::Missing("keyid"))?;
    let base = signature_base(input, &request.into())?;
    let agent = agent_of(request.headers, &input.label).ok_or(ProofError::Malformed("Signature-Agent"))?;
    let keys = agents.keys(&agent, request.now).await?;
    let mut named = keys.select(Some(keyid), Algorithm::Ed25519, request.now).filter(|key| key.kid() == Some(keyid));
    let key = named.next().ok_or(ProofError::UnknownKey)?;
    if input.alg.as_deref().is_some_and(|alg| Some(alg) != key.algorithm().http_name()) {
        return Err(ProofError::WrongAlgorithm);
    }
    if !key.verify(base.as_bytes(), &input.signature) {
        return Err(ProofError::BadSignature);
    }
    Ok(VerifiedBot {
        bot: known.verified(&agent.host),
        nonce: input.nonce.clone(),
        created,
        until,
        key_id: keyid.to_owned(),
    })
}

/// When a signature was made and when it ends: both must be said, and lie a day apart at most.
fn times(input: &SignatureInput, now: Timestamp) -> Result<(Timestamp, Timestamp), ProofError> {
    let created = input.created.ok_or(ProofError::Missing("created"))?;
    let expires = input.expires.ok_or(ProofError::Missing("expires"))?;
    if created > now.checked_add(SKEW).unwrap_or(now) {
        return Err(ProofError::NotYetValid);
    }
    if expires <= now {
        return Err(ProofError::Expired);
    }
    let latest = created.checked_add(BOT_SIGNATURE_LIFETIME_MAX).map_err(|_| ProofError::Malformed("signature"))?;
    if expires > latest { Err(ProofError::LivesTooLong) } else { Ok((created, expires)) }
}

/// The signature agent of the signature with this label: the member of that name, or the one text that earlier drafts
/// have there.
fn agent_of(headers: &HeaderMap, label: &str) -> Option<SignatureAgent> {
    let values: Result<Vec<_>, _> = headers.get_all(&SIGNATURE_AGENT).iter().map(|value| value.to_str()).collect();
    let joined = values.ok()?.join(", ");
    if let Ok(Item { bare_item: BareItem::String(text), .. }) = Parser::new(&joined).parse::<Item>() {
        return SignatureAgent::parse(text.as_str());
    }
    let members: Dictionary = Parser::new(&joined).parse().ok()?;
    match members.get(label)? {
        ListEntry::Item(Item { bare_item: BareItem::String(text), .. }) => SignatureAgent::parse(text.as_str()),
        _ => None,
    }
}

impl VerifiedBot {
    /// What its signature proves to an agent.
    pub(crate) fn evidence(&self, agent: &Address) -> IdentityEvidence {
        let host = &self.bot.name;
        let mut fields = Map::new();
        fields.insert("verified_by".to_owned(), agent.domain().as_str().into());
        fields.insert("key_id".to_owned(), self.key_id.as_str().into());
        IdentityEvidence {
            id: self.nonce.clone(),
            subject: self.subject(),
            issuer: host.clone(),
            method: METHOD.to_owned(),
            assurance: "domain".to_owned(),
            audience: Audience::One(agent.to_string()),
            issued_at: self.created,
            not_before: None,
            expires_at: Some(self.until),
            on_behalf_of: Vec::new(),
            claims: Map::new(),
            source: Map::new(),
            proof: Proof { kind: "transport".to_owned(), fields },
        }
    }

    /// It, as the subject of evidence.
    pub(crate) fn subject(&self) -> String {
        format!("{SUBJECT_PREFIX}{}", self.bot.name)
    }
}
