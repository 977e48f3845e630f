//! Validation of agent cards: our own before they are published, others' before they are believed. Agent card,
//! `validateAgentCard`. Unknown fields are passed over.

mod rules;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::acct::Acct;
use super::limits::CARD_PROBLEMS_MAX;
use rules::Rules;

/// What a card should agree with, as far as that is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpectedCard<'a> {
    /// The address that was asked for.
    pub acct: Option<&'a Acct>,
    /// The host with its port unless that is 443, from the WebFinger record of the agent. Without
    /// one, the host of `a2a.endpoint` counts. PolicyPart 3.2.
    pub canonical_host: Option<&'a str>,
}

/// One thing that is wrong with a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardProblem {
    /// Which rule it breaks.
    pub code: CardError,
    /// Where, as a JSON pointer (RFC 6901); empty for the card as a whole.
    pub path: String,
    /// What would be right.
    pub message: String,
}

/// The rules that a card can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CardError {
    /// A required field is not there.
    Missing,
    /// A field is of another type.
    WrongType,
    /// Another version of the card's shape.
    ProtocolVersion,
    /// Not an address in canonical form.
    Address,
    /// Another address than the one that was asked for.
    AddressMismatch,
    /// Not an absolute https URL without userinfo.
    NotHttps,
    /// A transport that is not in the list of Agent card 3.2.
    Transport,
    /// The REST extension does not say where. REST 2.
    RestEndpointMissing,
    /// The REST endpoint is not on the canonical host. REST 2.
    ForeignEndpoint,
    /// Not an Ed25519 key.
    SigningKey,
    /// Two skills of one id.
    DuplicateSkill,
}

impl fmt::Display for CardProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Everything that is wrong with a card, at most [`CARD_PROBLEMS_MAX`] of it; empty when it is fine.
pub fn validate_agent_card(card: &Value, expected: ExpectedCard<'_>) -> Vec<CardProblem> {
    let mut rules = Rules::default();
    rules.card(card, expected);
    rules.problems.truncate(CARD_PROBLEMS_MAX);
    rules.problems
}
