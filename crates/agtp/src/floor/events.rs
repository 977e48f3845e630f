//! Changes of where an agent stands, as signed events. Base 3.2, 3.3.

use aws_lc_rs::digest::{SHA256, digest};
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
pub(super) fn signed(key: &SigningKey, agent_id: &AgentId, server_id: &str, change: &LifecycleTransition) -> String {
    let mut payload = change.details.clone();
    payload.extend(told(agent_id, server_id, change));
    jws::sign(key, TYPE, Value::Object(payload).to_string().as_bytes())
}

fn told(agent_id: &AgentId, server_id: &str, change: &LifecycleTransition) -> Map<String, Value> {
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
pub(super) fn shown(kept: &StoredLifecycleChange, keys: &HostKeys, agent_id: &AgentId, server_id: &str) -> Value {
    let now = || signed(keys.current(), agent_id, server_id, &kept.change);
    let jws = kept.statement.clone().unwrap_or_else(now);
    let read = jws::Jws::parse(&jws).ok();
    let header = read.as_ref().map(|jws| Value::Object(jws.header().clone()));
    let payload = read.and_then(|jws| serde_json::from_slice::<Value>(jws.unverified_payload()).ok());
    json!({"format": "jws", "audit_id": audit_id(&jws), "jws": jws, "header": header, "payload": payload})
}
