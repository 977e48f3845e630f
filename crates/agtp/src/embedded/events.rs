//! Changes of where an agent stands, as signed events. Base 3.2, 3.3.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::{AgentId, LifecycleState, LifecycleTransition};
use forecourt_host::StoredLifecycleChange;
use forecourt_identity::{HostKeys, SigningKey, jws};
use serde_json::{Map, Value, json};

/// What the header of an event says that it is.
const TYPE: &str = "agtp-lifecycle+jws";

/// The word for a change.
pub(super) fn event_type(change: &LifecycleTransition) -> &'static str {
    match change.to {
        LifecycleState::Active => "agent-lifecycle-reinstated",
        LifecycleState::Suspended => "agent-lifecycle-suspended",
        LifecycleState::Deprecated => "agent-lifecycle-deprecated",
        LifecycleState::Retired => "agent-genesis-revoked",
    }
}

/// A change, signed.
pub(super) fn sign_event(
    key: &SigningKey,
    agent_id: &AgentId,
    server_id: &str,
    change: &LifecycleTransition,
) -> String {
    let mut payload = change.details.clone();
    // The host's own members last: what the caller gave as details can't take their place in what is signed.
    payload.extend(payload_of(agent_id, server_id, change));
    jws::sign(key, TYPE, Value::Object(payload).to_string().as_bytes())
}

fn payload_of(agent_id: &AgentId, server_id: &str, change: &LifecycleTransition) -> Map<String, Value> {
    let all = json!({
        "event_type": event_type(change),
        "agent_id": agent_id,
        "server_id": server_id,
        "previous_status": change.from.name(),
        "status": change.to.name(),
        "reason": change.reason,
        "actor": change.by,
        "issued_at": change.at,
    });
    let fields = all.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// SHA-256 of what was signed, in lowercase hexadecimal: how an event is called. Base 2.5.
pub(super) fn audit_id(jws: &str) -> String {
    digest(&SHA256, jws.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An event as it is shown: what was signed then. One that nobody signed is signed now.
pub(super) fn describe_change(
    kept: &StoredLifecycleChange,
    keys: &HostKeys,
    agent_id: &AgentId,
    server_id: &str,
) -> Value {
    let now = || sign_event(keys.current(), agent_id, server_id, &kept.change);
    describe_jws(&kept.statement.clone().unwrap_or_else(now))
}

/// What was signed, with its two parts read. One that says that it is not signed is read all the same.
pub(super) fn describe_jws(jws: &str) -> Value {
    let mut parts =
        jws.split('.').map(|part| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).ok()?).ok());
    let (header, payload) = (parts.next().flatten(), parts.next().flatten());
    json!({"format": "jws", "audit_id": audit_id(jws), "jws": jws, "header": header, "payload": payload})
}

/// A change as an event in the agent's chain: what it led to, and the statement that was signed about it. Base 8.2.
pub(super) fn record_of(change: &StoredLifecycleChange) -> Map<String, Value> {
    let StoredLifecycleChange { change, statement } = change;
    let all = json!({
        "event_type": event_type(change),
        "previous_status": change.from.name(),
        "new_status": change.to.name(),
        "reason": change.reason,
        "actor": change.by,
        "statement_audit_id": statement.as_deref().map(audit_id),
    });
    let fields = all.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
