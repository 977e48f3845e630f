//! What the manifest says of the eighteen methods of the floor. AGTP-API 8.4; base 3.1, 11.

use forecourt_contract::reserved::{self, NativeEffect};
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Catalog, Method};
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

/// What is said of a method beside what the catalog says and what the contract layer knows of its effect.
struct Floor {
    name: &'static str,
    class: Class,
    optional: &'static [&'static str],
    errors: &'static [u16],
    outcome: &'static str,
}

/// The eighteen, in the order of the catalog's list.
pub(super) fn embedded(catalog: &Catalog) -> Vec<EmbeddedMethod<'_>> {
    FLOOR.iter().filter_map(|floor| floor.entry(catalog)).collect()
}

impl Floor {
    fn entry<'a>(&self, catalog: &'a Catalog) -> Option<EmbeddedMethod<'a>> {
        let NativeEffect { impact, is_idempotent, required } = reserved::effect(&Method::parse(self.name).ok()?)?;
        let verb = catalog.verb(self.name);
        let category = verb.and_then(|verb| verb.categories.first()).map_or("mechanics", String::as_str);
        let description = verb.map_or("", |verb| verb.description.as_str());
        Some(EmbeddedMethod {
            name: self.name,
            category,
            semantic_class: self.class,
            idempotent: is_idempotent,
            state_modifying: impact != Impact::Informational,
            required_params: required,
            optional_params: self.optional,
            error_codes: self.errors,
            description,
            semantic: json!({
                "intent": description,
                "actor": "agent",
                "outcome": self.outcome,
                "capability": category,
                "confidence": 1.0,
                "impact": impact,
                "is_idempotent": is_idempotent,
            }),
        })
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
        optional: &["scope", "format", "confidence_threshold", "context"],
        errors: &[404, 422],
        outcome: "Results, each with how sure the agent is of it and where it comes from.",
    },
    Floor {
        name: "DISCOVER",
        class: Class::Cognitive,
        optional: &["criteria", "filter", "max_results", "context"],
        errors: &[262, 400, 401, 404, 422],
        outcome: "What can be discovered here, or candidates in the order of their relevance.",
    },
    Floor {
        name: "DESCRIBE",
        class: Class::Cognitive,
        optional: &["agent_id", "capability_domains", "version_min", "format", "context"],
        errors: &[404, 422],
        outcome: "The agent's identity document, or what of its capabilities was asked for.",
    },
    Floor {
        name: "INSPECT",
        class: Class::Cognitive,
        optional: &["audit_id", "agent_id", "synthesis_id", "attempt_id", "limit", "context"],
        errors: &[400, 401, 403, 404, 422],
        outcome: "The record that was asked for.",
    },
    Floor {
        name: "SUMMARIZE",
        class: Class::Cognitive,
        optional: &["length", "max_length", "focus", "format", "audience", "context"],
        errors: &[400, 422],
        outcome: "A summary, with the hash of what it is of.",
    },
    Floor {
        name: "PLAN",
        class: Class::Cognitive,
        optional: &["constraints", "available_methods", "max_steps", "context"],
        errors: &[422, 503],
        outcome: "Steps in order, of methods and paths that are there.",
    },
    Floor {
        name: "PROPOSE",
        class: Class::Cognitive,
        optional: &["name", "endpoint", "parameters", "persistent", "requested_duration", "context"],
        errors: &[261, 262, 263, 400, 401, 429, 459, 460, 463],
        outcome: "An endpoint that was made of others, or why there is none.",
    },
    Floor {
        name: "EXECUTE",
        class: Class::Mechanics,
        optional: &["parameters", "payload", "payload_type", "idempotency_key", "timeout", "context"],
        errors: &[403, 422, 455, 456, 503],
        outcome: "What the action came to.",
    },
    Floor {
        name: "DELEGATE",
        class: Class::Mechanics,
        optional: &["callback", "deadline", "context"],
        errors: &[262, 403, 404, 550, 551],
        outcome: "Another agent has taken the task, within the caller's authority.",
    },
    Floor {
        name: "ESCALATE",
        class: Class::Mechanics,
        optional: &["priority", "recipient", "deadline"],
        errors: &[404, 422],
        outcome: "The decision waits for whoever may make it.",
    },
    Floor {
        name: "CONFIRM",
        class: Class::Mechanics,
        optional: &["reason", "attestation", "context"],
        errors: &[400, 404, 422],
        outcome: "A receipt with its time and the id of the attestation.",
    },
    Floor {
        name: "SUSPEND",
        class: Class::Mechanics,
        optional: &["synthesis_id", "reason", "resume_by", "ttl_seconds", "checkpoint", "resumption_nonce", "context"],
        errors: &[403, 404, 408, 409, 422],
        outcome: "The session rests, and one nonce, good once, takes it up again; or a contract is given back.",
    },
    Floor {
        name: "NOTIFY",
        class: Class::Mechanics,
        optional: &["payload", "urgency", "delivery_guarantee", "expiry", "context"],
        errors: &[400, 404, 422],
        outcome: "A receipt with the id of the notification.",
    },
    Floor { name: "ACTIVATE", outcome: "The agent is in service.", ..LIFECYCLE },
    Floor { name: "DEACTIVATE", outcome: "The agent is out of service until it is reinstated.", ..LIFECYCLE },
    Floor { name: "REINSTATE", outcome: "The agent is in service again.", ..LIFECYCLE },
    Floor {
        name: "REVOKE",
        optional: &["agent_id", "target", "synthesis_id", "mode", "actor", "context"],
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
    optional: &["agent_id", "reason", "actor", "context"],
    errors: &[400, 401, 403, 404, 422],
    outcome: "",
};
