//! This module makes and signs an agent's genesis document.

use std::str::FromStr;

use forecourt_core::Timestamp;
use forecourt_jose::SigningKey;
use forecourt_jose::encoding::to_base64url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Genesis, GenesisError, NOT_HASHED, TrustTier};
use crate::canonical;

/// What kind of work an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl FromStr for Archetype {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let all = [Self::Assistant, Self::Analyst, Self::Executor, Self::Orchestrator, Self::Monitor];
        let found = all.into_iter().find(|archetype| archetype.as_str() == word);
        found.ok_or("an archetype is assistant, analyst, executor, orchestrator or monitor")
    }
}

impl Archetype {
    /// The word in documents and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Analyst => "analyst",
            Self::Executor => "executor",
            Self::Orchestrator => "orchestrator",
            Self::Monitor => "monitor",
        }
    }
}

/// The content of a genesis document that is to be signed.
#[derive(Debug, Clone, PartialEq)]
pub struct GenesisDraft {
    /// What the agent is called where it is made. Two agents that are alike in everything else, and made
    /// in one second, would be one without it.
    pub name: Option<String>,
    /// Who answers for the agent.
    pub owner: String,
    /// What kind of work it does.
    pub archetype: Archetype,
    /// The governance zone in whose rules it runs.
    pub governance_zone: String,
    /// Its scopes, as tokens.
    pub scope: Vec<String>,
    /// The trust tier.
    pub trust_tier: TrustTier,
    /// The verification path, such as `org-asserted`.
    pub verification_path: String,
    /// When it is issued, to the second.
    pub issued_at: Timestamp,
}

impl GenesisDraft {
    /// Signs the document, which gives the agent its id.
    pub fn sign(self, key: &SigningKey) -> Result<Genesis, GenesisError> {
        let seconds = self.issued_at.as_second();
        let issued_at = Timestamp::from_second(seconds).map_err(|error| GenesisError::Malformed(error.to_string()))?;
        let document = json!({
            "owner": self.owner,
            "archetype": self.archetype,
            "governance_zone": self.governance_zone,
            "scope": self.scope,
            "trust_tier": self.trust_tier,
            "verification_path": self.verification_path,
            "issued_at": issued_at,
            "issuer_public_key": key.public().x,
        });
        let Value::Object(mut document) = document else { return Err(GenesisError::Malformed(String::new())) };
        if let Some(name) = self.name {
            document.insert("name".to_owned(), name.into());
        }
        let hashed = canonical::plain(&document, &NOT_HASHED).map_err(GenesisError::Malformed)?;
        document.insert("signature".to_owned(), to_base64url(&key.sign(hashed.as_bytes())).into());
        document.insert("agent_id".to_owned(), canonical::hash(hashed.as_bytes()).as_str().into());
        Genesis::check(document, None)
    }
}
