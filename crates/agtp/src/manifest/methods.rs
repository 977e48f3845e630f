//! What the manifest says of the eighteen methods of the floor. AGTP-API 8.4; base 3.1, 11.

use forecourt_contract::Catalog;
use serde::Serialize;
use serde_json::{Value, json};

/// One entry of `embedded_methods`. Objects with a name, since readers look for it. Base 11.
#[derive(Debug, Serialize)]
pub(super) struct EmbeddedMethod<'a> {
    name: &'static str,
    category: &'a str,
    semantic_class: Class,
    idempotent: bool,
    state_modifying: bool,
    required_params: &'static [&'static str],
    optional_params: &'static [&'static str],
    error_codes: &'static [u16],
    description: &'a str,
    semantic: Value,
}

/// The group of a method. AGTP-API 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Class {
    Cognitive,
    Mechanics,
    Lifecycle,
}

/// How far the effect of a method can be undone. AGTP-API 7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Impact {
    Informational,
    Reversible,
    Irreversible,
}

/// What is known of a method beside what the catalog says.
struct Floor {
    name: &'static str,
    class: Class,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    errors: &'static [u16],
    idempotent: bool,
    impact: Impact,
    outcome: &'static str,
}

/// Whether a method of the floor may change something. AGTP-API 7.1.
pub(crate) fn is_state_modifying(method: &str) -> bool {
    FLOOR.iter().any(|floor| floor.name == method && floor.impact != Impact::Informational)
}

/// The eighteen, in the order of the catalog's list.
pub(super) fn embedded(catalog: &Catalog) -> Vec<EmbeddedMethod<'_>> {
    FLOOR.iter().map(|floor| floor.entry(catalog)).collect()
}

impl Floor {
    fn entry<'a>(&self, catalog: &'a Catalog) -> EmbeddedMethod<'a> {
        let verb = catalog.verb(self.name);
        let category = verb.and_then(|verb| verb.categories.first()).map_or("mechanics", String::as_str);
        let description = verb.map_or("", |verb| verb.description.as_str());
        EmbeddedMethod {
            name: self.name,
            category,
            semantic_class: self.class,
            idempotent: self.idempotent,
            state_modifying: self.impact != Impact::Informational,
            required_params: self.required,
            optional_params: self.optional,
            error_codes: self.errors,
            description,
            semantic: json!({
                "intent": description,
                "actor": "agent",
                "outcome": self.outcome,
                "capability": category,
                "confidence": 1.0,
                "impact": self.impact,
                "is_idempotent": self.idempotent,
            }),
        }
    }
}

/// The name of a method that every host answers, or `other`: a closed set, as labels of metrics have to be.
pub(crate) fn metric_label(method: &str) -> &'static str {
    FLOOR.iter().find(|floor| floor.name == method).map_or("other", |floor| floor.name)
}

/// Parameters by the names of base 3.1. Every method takes `context` beside them.
const FLOOR: [Floor; 18] = [
    Floor {
        name: "QUERY",
        class: Class::Cognitive,
        required: &["intent"],
        optional: &["scope", "format", "confidence_threshold", "context"],
        errors: &[404, 422],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "Results, each with how sure the agent is of it and where it comes from.",
    },
    Floor {
        name: "DISCOVER",
        class: Class::Cognitive,
        required: &[],
        optional: &["criteria", "filter", "max_results", "context"],
        errors: &[262, 400, 401, 404, 422],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "What can be discovered here, or candidates in the order of their relevance.",
    },
    Floor {
        name: "DESCRIBE",
        class: Class::Cognitive,
        required: &[],
        optional: &["agent_id", "capability_domains", "version_min", "format", "context"],
        errors: &[404, 422],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "The agent's identity document, or what of its capabilities was asked for.",
    },
    Floor {
        name: "INSPECT",
        class: Class::Cognitive,
        required: &["target"],
        optional: &["audit_id", "agent_id", "synthesis_id", "attempt_id", "limit", "context"],
        errors: &[400, 401, 403, 404, 422],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "The record that was asked for.",
    },
    Floor {
        name: "SUMMARIZE",
        class: Class::Cognitive,
        required: &["source"],
        optional: &["length", "max_length", "focus", "format", "audience", "context"],
        errors: &[400, 422],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "A summary, with the hash of what it is of.",
    },
    Floor {
        name: "PLAN",
        class: Class::Cognitive,
        required: &["goal"],
        optional: &["constraints", "available_methods", "max_steps", "context"],
        errors: &[422, 503],
        idempotent: true,
        impact: Impact::Informational,
        outcome: "Steps in order, of methods and paths that are there.",
    },
    Floor {
        name: "PROPOSE",
        class: Class::Cognitive,
        required: &[],
        optional: &["name", "endpoint", "parameters", "persistent", "requested_duration", "context"],
        errors: &[261, 262, 263, 400, 401, 429, 459, 460, 463],
        idempotent: false,
        impact: Impact::Reversible,
        outcome: "An endpoint that was made of others, or why there is none.",
    },
    Floor {
        name: "EXECUTE",
        class: Class::Mechanics,
        required: &["action"],
        optional: &["parameters", "payload", "payload_type", "idempotency_key", "timeout", "context"],
        errors: &[403, 422, 455, 456, 503],
        idempotent: false,
        impact: Impact::Irreversible,
        outcome: "What the action came to.",
    },
    Floor {
        name: "DELEGATE",
        class: Class::Mechanics,
        required: &["target_agent_id", "task", "authority_scope", "delegation_token"],
        optional: &["callback", "deadline", "context"],
        errors: &[262, 403, 404, 550, 551],
        idempotent: false,
        impact: Impact::Irreversible,
        outcome: "Another agent has taken the task, within the caller's authority.",
    },
    Floor {
        name: "ESCALATE",
        class: Class::Mechanics,
        required: &["task_id", "reason", "context"],
        optional: &["priority", "recipient", "deadline"],
        errors: &[404, 422],
        idempotent: true,
        impact: Impact::Reversible,
        outcome: "The decision waits for whoever may make it.",
    },
    Floor {
        name: "CONFIRM",
        class: Class::Mechanics,
        required: &["target_id", "status"],
        optional: &["reason", "attestation", "context"],
        errors: &[400, 404, 422],
        idempotent: true,
        impact: Impact::Irreversible,
        outcome: "A receipt with its time and the id of the attestation.",
    },
    Floor {
        name: "SUSPEND",
        class: Class::Mechanics,
        required: &["session_id"],
        optional: &["synthesis_id", "reason", "resume_by", "ttl_seconds", "checkpoint", "resumption_nonce", "context"],
        errors: &[403, 404, 408, 409, 422],
        idempotent: false,
        impact: Impact::Reversible,
        outcome: "The session rests, and one nonce, good once, takes it up again; or a contract is given back.",
    },
    Floor {
        name: "NOTIFY",
        class: Class::Mechanics,
        required: &["recipient", "content"],
        optional: &["payload", "urgency", "delivery_guarantee", "expiry", "context"],
        errors: &[400, 404, 422],
        idempotent: false,
        impact: Impact::Irreversible,
        outcome: "A receipt with the id of the notification.",
    },
    Floor { name: "ACTIVATE", outcome: "The agent is in service.", ..LIFECYCLE },
    Floor { name: "DEACTIVATE", outcome: "The agent is out of service until it is reinstated.", ..LIFECYCLE },
    Floor { name: "REINSTATE", outcome: "The agent is in service again.", ..LIFECYCLE },
    Floor {
        name: "REVOKE",
        required: &["reason"],
        optional: &["agent_id", "target", "synthesis_id", "mode", "actor", "context"],
        impact: Impact::Irreversible,
        outcome: "The agent, or a contract, is out of service for good.",
        ..LIFECYCLE
    },
    Floor {
        name: "DEPRECATE",
        optional: &["agent_id", "reason", "actor", "successor_agent_id", "migration_deadline", "context"],
        outcome: "The agent is in service, and its callers know that it is on its way out.",
        ..LIFECYCLE
    },
];

/// What the five lifecycle methods share. The agent is the caller, unless another is named.
const LIFECYCLE: Floor = Floor {
    name: "",
    class: Class::Lifecycle,
    required: &[],
    optional: &["agent_id", "reason", "actor", "context"],
    errors: &[400, 401, 403, 404, 422],
    idempotent: true,
    impact: Impact::Reversible,
    outcome: "",
};
