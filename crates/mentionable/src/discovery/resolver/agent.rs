//! An agent elsewhere, as its card describes it.

use forecourt_core::Timestamp;
use forecourt_identity::{Algorithm, KeySet, VerifyKey};
use serde_json::Value;

use super::super::acct::Acct;
use super::super::names::{REST, TRANSPORT_REST};

/// An agent elsewhere: its domain, its WebFinger record and its card agree on who it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedAgent {
    /// Its address.
    pub acct: Acct,
    /// Where its card is.
    pub card_url: String,
    /// The host that everything of it must be on, with its port unless that is 443.
    pub canonical_host: String,
    /// Its card, valid but for what we do not know. Agent card 3.
    pub card: Value,
}

impl ResolvedAgent {
    /// The agent's name for people.
    pub fn name(&self) -> &str {
        self.text("/name")
    }

    /// What it is for; empty when it does not say.
    pub fn description(&self) -> &str {
        self.text("/description")
    }

    /// Its REST endpoint, on the canonical host. `None`: it is not available over REST. REST 2.
    pub fn rest_endpoint(&self) -> Option<&str> {
        let extensions = self.list("/a2a/capabilities/extensions");
        TRANSPORT_REST.pick(extensions, "uri").and_then(|(_, entry)| entry["endpoint"].as_str())
    }

    /// Its A2A endpoint; the same as the one of REST for agents that speak nothing else.
    pub fn a2a_endpoint(&self) -> &str {
        self.text("/a2a/endpoint")
    }

    /// The endpoints that its card names, by the protocols they are for.
    pub fn endpoints(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.rest_endpoint().map(|url| (REST, url)).into_iter().chain([("a2a", self.a2a_endpoint())])
    }

    /// The protocols over which it says it can be reached.
    pub fn protocols(&self) -> impl Iterator<Item = &str> {
        self.list("/mentionable/supported_inbound").iter().filter_map(Value::as_str)
    }

    /// Its skills: name and description, the latter perhaps empty.
    pub fn skills(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list("/a2a/skills").iter().map(|skill| {
            (skill["name"].as_str().unwrap_or_default(), skill["description"].as_str().unwrap_or_default())
        })
    }

    /// The key that it signs with, and those it replaced that are still good at `now`. `None` when
    /// there is none that we can use.
    pub(super) fn keys(&self, now: Timestamp) -> Option<KeySet> {
        let current = self.card.pointer("/mentionable/signing_key");
        let previous = self.list("/mentionable/previous_signing_keys");
        let mut keys: Vec<VerifyKey> = Vec::new();
        for key in current.into_iter().chain(previous).filter_map(key).filter(|key| key.is_good_at(now)) {
            // Of two keys with one id the first counts: the current key before those that it replaced.
            if key.kid().is_none() || keys.iter().all(|earlier| earlier.kid() != key.kid()) {
                keys.push(key);
            }
        }
        KeySet::new(keys).ok().filter(|keys| !keys.is_empty())
    }

    fn text(&self, pointer: &str) -> &str {
        self.card.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.card.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// One key of a card. An end that can't be read counts as past.
fn key(entry: &Value) -> Option<VerifyKey> {
    let text = |name: &str| entry[name].as_str();
    if text("alg") != Some("Ed25519") {
        return None;
    }
    let not_after = match &entry["not_after"] {
        Value::Null => None,
        end => Some(end.as_str()?.parse().ok()?),
    };
    let key = VerifyKey::from_pem(text("pem")?, Some(Algorithm::Ed25519)).ok()?;
    Some(key.with_kid(text("kid").map(str::to_owned)).until(not_after))
}
