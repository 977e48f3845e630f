//! The JSON form of a message: Mentionable's normalized message, as webhooks and worker processes
//! read it. It is only ever written; each protocol reads its own form.

use serde_json::{Map, Value, json};

use super::{Message, OWN_FIELDS, Sender};
use crate::address::Address;
use crate::limits::HOPS_MAX;

impl Message {
    /// This message for the agent at `recipient`. Optional fields that are not set are left out.
    ///
    /// Holds ids and evidence, so it goes to the agent's own backend and into no log. Tokens that
    /// evidence was proven with are left out. Mentionable normalized-message, `NormalizedMessage`.
    pub fn to_json(&self, recipient: &Address) -> Value {
        let mut fields = Map::new();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("id", self.id.as_str().into());
        if let Some(thread) = &self.thread {
            set("thread_id", thread.expose().into());
        }
        set("sender", sender(&self.sender));
        set("recipient", recipient.to_string().into());
        set("parts", json!(self.parts));
        set("history", self.history.iter().map(turn).collect());
        if let Some(language) = &self.language {
            set("language", language.as_str().into());
        }
        set("recipient_capabilities", json!({"agent_chain": agent_chain(self.hop)}));
        set("received_via", self.received_via.into());
        set("received_at", self.received_at.to_string().into());
        if !self.metadata.is_empty() {
            set("metadata", Value::Object(self.metadata.clone()));
        }
        if !self.extensions.is_empty() {
            set("extensions", json!(self.extensions));
        }
        if let Some(resolution) = &self.policy_resolution {
            set("policy_resolution", json!(resolution));
        }
        Value::Object(fields)
    }
}

/// The place in a chain of agents, counted from 1 on the wire.
fn agent_chain(hop: u32) -> Value {
    // Never beyond the last place: a backend that reads `is_final` must not see a hop above `max_hops`.
    let hop = hop.saturating_add(1).min(HOPS_MAX);
    json!({"hop": hop, "max_hops": HOPS_MAX, "is_final": hop == HOPS_MAX})
}

fn turn(turn: &super::Turn) -> Value {
    let mut value = json!(turn);
    value["sender"] = sender(&turn.sender);
    if let Some(fields) = value.as_object_mut() {
        // Not in the specification's `HistoricalMessage`: for our own storage alone.
        fields.retain(|key, _| !OWN_FIELDS.contains(&key.as_str()));
    }
    value
}

/// The sender without the tokens of bearer proofs: they open other doors.
fn sender(sender: &Sender) -> Value {
    let mut sender = sender.clone();
    for evidence in &mut sender.identities {
        // By prefix, as proof types are an open list and more than one field may carry a token.
        evidence.proof.fields.retain(|key, _| !key.starts_with("token"));
    }
    json!(sender)
}
