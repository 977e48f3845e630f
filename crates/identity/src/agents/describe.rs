//! This module writes the identity document of an agent that lives here. AGTP base 6.3.

use forecourt_core::{AgentCard, AgentId, Timestamp};
use serde_json::{Map, Value, json};

use super::document::{AgentDocument, AgentDocumentError, Issuer};
use crate::genesis::{Genesis, TrustPosture, TrustTier};

/// The fields of an agent's document that change while it is served.
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    /// Where it is in its life: `active`, `suspended`, `retired` or `deprecated`.
    pub status: &'a str,
    /// When that changed last. `None`: never, and the document is as old as it says.
    pub updated_at: Option<Timestamp>,
    /// The methods that it answers.
    pub methods: &'a [&'a str],
}

impl AgentDocument {
    /// The document as it is served now. One that came with a signature is served as it is; ours is
    /// brought up to date and signed by `issuer`.
    ///
    /// # Errors
    /// [`AgentDocumentError::Unsignable`] when it holds numbers that have no canonical form.
    pub fn current(&self, current: Current<'_>, issuer: Issuer<'_>) -> Result<AgentDocument, AgentDocumentError> {
        // Somebody else's signature covers every field: bringing the status up to date would break it.
        if self.is_signed() {
            return Ok(self.clone());
        }
        let mut changes = fields(json!({"status": current.status, "methods": current.methods}));
        let own = || self.fields().get("updated_at").or(self.fields().get("issued_at")).cloned();
        if let Some(updated_at) = current.updated_at.map(|at| json!(at)).or_else(own) {
            changes.insert("updated_at".to_owned(), updated_at);
        }
        self.sign(changes, issuer)
    }
}

/// The sources of a resident agent's document.
pub(crate) struct About<'a> {
    pub card: &'a AgentCard,
    pub agent_id: &'a AgentId,
    pub genesis: Option<&'a Genesis>,
    pub posture: &'a TrustPosture,
    pub wildcards: bool,
    pub domain: &'a str,
    pub now: Timestamp,
}

impl About<'_> {
    /// The whole document. What the operator's own one says stands, but for how far the agent is
    /// vouched for, which is resolved. One that somebody signed stays as it is.
    pub(crate) fn document(&self, own: Option<AgentDocument>) -> AgentDocument {
        let mut whole = self.usual();
        match own {
            Some(own) if own.is_signed() => return own,
            Some(own) => {
                let scopes: Vec<_> = own.declared().map(str::to_owned).collect();
                whole.extend(own.fields().clone());
                complete_requires(&mut whole, &scopes);
            }
            None => {}
        }
        // Last: how far the agent is vouched for is resolved, and its own document must not claim more.
        whole.extend(self.settled());
        AgentDocument::unsigned(whole)
    }

    /// The fields for a document that the operator did not write. AGTP base 6.3.
    fn usual(&self) -> Map<String, Value> {
        let scopes: Vec<&str> = self.genesis.into_iter().flat_map(Genesis::scope).collect();
        let owner = self.posture.owner_id.as_deref().unwrap_or(self.domain);
        let card = self.card;
        fields(json!({
            "agtp_version": "1.0",
            "document_version": "v2",
            "document_type": "agtp-identity",
            "name": self.name(),
            "display_name": card.name,
            "description": if card.description.is_empty() { &card.name } else { &card.description },
            "role": "agent",
            "principal": owner,
            "principal_id": owner,
            "issuer": self.domain,
            "org_domain": self.domain,
            "governance_zone": self.genesis.and_then(Genesis::governance_zone).unwrap_or(self.domain),
            "issued_at": self.genesis.and_then(Genesis::issued_at).unwrap_or(self.now),
            "status": "active",
            "scopes_accepted": scopes,
            "skills": card.skills,
            "capabilities": card.skills.iter().map(|skill| &skill.id).collect::<Vec<_>>(),
            "requires": {"methods": [], "scopes": scopes, "wildcards": self.wildcards},
            "delegation_permitted": false,
        }))
    }

    /// The resolved fields, which replace the operator's own: agent id, trust tier, path, warning and owner.
    fn settled(&self) -> Map<String, Value> {
        let mut settled = match serde_json::to_value(self.posture) {
            Ok(Value::Object(posture)) => posture,
            _ => Map::new(),
        };
        settled.insert("agent_id".to_owned(), self.agent_id.as_str().into());
        settled
    }

    /// The handle, with `X-` before it for tier 3 (experimental).
    fn name(&self) -> String {
        match self.posture.trust_tier {
            TrustTier::Experimental => format!("X-{}", self.card.handle()),
            TrustTier::Verified | TrustTier::OrgAsserted => self.card.handle().to_string(),
        }
    }
}

/// Readers want all three members of `requires`.
fn complete_requires(document: &mut Map<String, Value>, scopes: &[String]) {
    let mut whole = fields(json!({"methods": [], "scopes": scopes, "wildcards": false}));
    if let Some(Value::Object(own)) = document.get("requires") {
        whole.extend(own.clone());
    }
    document.insert("requires".to_owned(), Value::Object(whole));
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
