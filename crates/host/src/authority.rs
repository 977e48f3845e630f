//! What may be done in a sender's name: what its proofs grant, within what it was held to on the way.

use forecourt_contract::limits::SCOPES_MAX;
use forecourt_contract::{Scope, ScopeSet};
use forecourt_core::message::Role;
use forecourt_core::{Message, Sender, Task};
use serde_json::Value;

/// The scopes of whoever proved who it is: those of its proofs (`scope` as RFC 8693 section 4.2 has it, or
/// a list), and no others than [`Sender::authority`] leaves.
pub(crate) fn scopes(sender: &Sender) -> ScopeSet {
    let granted = sender.identities.iter().filter_map(|evidence| evidence.claims.get("scope"));
    let granted = set(granted.flat_map(|scope| match scope {
        Value::String(text) => text.split(' ').collect::<Vec<_>>(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }));
    match bound(sender) {
        Some(bound) => granted.shared(&bound),
        None => granted,
    }
}

/// A message that goes on with a task, held to what the task was held to: whoever answers its question
/// does not widen it.
pub(crate) fn continued(mut message: Box<Message>, earlier: Option<&Task>) -> Box<Message> {
    let asked = earlier.and_then(|task| task.turns.iter().rev().find(|turn| turn.role == Role::User));
    if let Some(earlier) = asked.and_then(|turn| bound(&turn.sender)) {
        let held = match bound(&message.sender) {
            Some(own) => own.shared(&earlier),
            None => earlier,
        };
        message.sender.authority = Some(held.iter().map(|scope| scope.as_str().to_owned()).collect());
    }
    message
}

fn bound(sender: &Sender) -> Option<ScopeSet> {
    Some(set(sender.authority.as_ref()?.iter().map(String::as_str)))
}

/// Texts that are no scope tokens grant nothing.
fn set<'t>(texts: impl Iterator<Item = &'t str>) -> ScopeSet {
    let tokens: Vec<Scope> = texts.filter_map(|text| Scope::parse(text).ok()).take(SCOPES_MAX).collect();
    ScopeSet::try_from(tokens).unwrap_or_default()
}
