//! Making an agent's origin document.

use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Genesis, GenesisFault, TrustTier, canonical};
use crate::encoding::to_base64url;
use crate::signing_key::SigningKey;

/// What kind of work an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Archetype {
    /// Answers people.
    Assistant,
    /// Looks into things.
    Analyst,
    /// Does things.
    Executor,
    /// Lets others do things.
    Orchestrator,
    /// Watches things.
    Monitor,
}

/// What an agent's origin will say.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Who answers for the agent.
    pub owner: String,
    /// What kind of work it does.
    pub archetype: Archetype,
    /// Under whose rules it runs.
    pub governance_zone: String,
    /// What it may do, as tokens.
    pub scope: Vec<String>,
    /// How well it is vouched for.
    pub trust_tier: TrustTier,
    /// By what it is vouched for.
    pub verification_path: String,
    /// When it is issued.
    pub issued_at: Timestamp,
}

impl Draft {
    /// Signs it: from now on the agent has a name.
    pub fn sign(self, key: &SigningKey) -> Result<Genesis, GenesisFault> {
        let document = json!({
            "owner": self.owner,
            "archetype": self.archetype,
            "governance_zone": self.governance_zone,
            "scope": self.scope,
            "trust_tier": self.trust_tier,
            "verification_path": self.verification_path,
            "issued_at": self.issued_at,
            "issuer_public_key": key.public().x,
        });
        let Value::Object(mut document) = document else { return Err(GenesisFault::Malformed(String::new())) };
        let hashed = canonical::plain(&document)?;
        document.insert("signature".to_owned(), to_base64url(&key.sign(hashed.as_bytes())).into());
        document.insert("agent_id".to_owned(), canonical::hash(hashed.as_bytes()).as_str().into());
        Genesis::check(document, None)
    }
}
