//! What is wrong with a card: ours before it is published, others' when somebody asks. Stricter than
//! reading, which takes whatever can be used. Hub card 3.4, 7.

mod rules;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::limits::PROBLEMS_MAX;
use rules::Rules;

/// One thing that is wrong with a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, as a JSON pointer (RFC 6901); empty for the card as a whole.
    pub path: String,
    /// What would be right.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Everything that is wrong with the card of a hub, at most [`PROBLEMS_MAX`] of it; empty when it is
/// fine: an A2A card that says who lives here and who is the default. Hub card 7.
pub fn validate(card: &Value) -> Vec<Problem> {
    checked(card, |rules| {
        rules.agent_card(card);
        rules.hub(card);
    })
}

/// Everything that is wrong with the card of one agent, likewise. When it claims to be a hub's, it
/// must be one.
pub fn validate_agent(card: &Value) -> Vec<Problem> {
    checked(card, |rules| {
        rules.agent_card(card);
        if rules::claims_to_be_a_hub(card) {
            rules.hub(card);
        }
    })
}

fn checked(card: &Value, check: impl FnOnce(&mut Rules)) -> Vec<Problem> {
    if !card.is_object() {
        return vec![Problem::new("", "a card is a JSON object")];
    }
    let mut rules = Rules::default();
    check(&mut rules);
    rules.problems.truncate(PROBLEMS_MAX);
    rules.problems
}
