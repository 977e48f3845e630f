//! This module names agents by the hash of their genesis document. AGTP base, Agent-ID. It verifies no document.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An agent's canonical name: SHA-256 of its genesis document, 64 lowercase hexadecimal digits.
///
/// Unlike a [`crate::Handle`] it means the same agent on every host, and by itself proves nothing.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(Box<str>);

/// A text that is no agent's canonical name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an agent id is 64 lowercase hexadecimal digits")]
pub struct BadAgentId;

impl AgentId {
    /// Reads the 64 digits.
    pub fn parse(text: &str) -> Result<Self, BadAgentId> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        // A fold without an early return, so that the compiler compares many bytes in one step.
        match text.len() == 64 && text.bytes().fold(true, |fits, byte| fits & is_digit(byte)) {
            true => Ok(Self(text.into())),
            false => Err(BadAgentId),
        }
    }

    /// The name of the document with this hash.
    pub fn of_hash(hash: &[u8; 32]) -> Self {
        Self(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentId {
    type Error = BadAgentId;

    fn try_from(text: String) -> Result<Self, BadAgentId> {
        Self::parse(&text)
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0.into()
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_lowercase_digits_and_nothing_else() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(AgentId::parse(&text).unwrap().as_str(), text);
        for wrong in
            ["", &text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace('0', "g"), &"é".repeat(32)]
        {
            assert_eq!(AgentId::parse(wrong), Err(BadAgentId), "{wrong:?}");
        }
        let mut hash = [0; 32];
        (hash[0], hash[31]) = (0x0f, 0xa0);
        let id = AgentId::of_hash(&hash);
        assert!(id.as_str().starts_with("0f00") && id.as_str().ends_with("00a0"));
        assert_eq!(serde_json::from_str::<AgentId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        assert!(serde_json::from_str::<AgentId>("\"x\"").is_err());
    }
}
