//! What the protocol's own endpoints promise, in the words of every other endpoint, so that they appear
//! like any other. AGTP-API 5.8.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::{Catalog, Endpoint, MethodPolicy, RecipeBook};
use serde_json::{Map, Value, json};

use crate::limits::{
    CANDIDATES_DEFAULT, CANDIDATES_MAX, CONTRACTS_LISTED_MAX, CRITERIA_CHARS_MAX, METHODS_FILTER_CHARS_MAX,
    METHODS_LISTED_MAX,
};

/// What is particular to one of them.
struct Native {
    path: &'static str,
    description: &'static str,
    outcome: &'static str,
    /// The properties that it takes beside those that all of them take.
    input: Value,
    output: Value,
}

/// The protocol's own endpoints, the root first.
pub(super) fn endpoints(catalog: &Catalog) -> Vec<Arc<Endpoint>> {
    let (policy, recipes) = (MethodPolicy::default(), RecipeBook::default());
    let natives = natives();
    let overrides: BTreeSet<String> = natives.iter().map(|native| native.path.to_owned()).collect();
    let around = RegistrationContext { overrides: &overrides, ..RegistrationContext::new(catalog, &policy, &recipes) };
    let register = |native: Native| match Endpoint::register(native.definition(), &around) {
        Ok(endpoint) => Some(Arc::new(endpoint)),
        Err(errors) => {
            tracing::error!(faults = ?errors, "an endpoint of the protocol's own can't be described with this catalog");
            None
        }
    };
    natives.into_iter().filter_map(register).collect()
}

impl Native {
    fn definition(self) -> Definition {
        let semantic = json!({
            "intent": self.description,
            "actor": "agent",
            "outcome": self.outcome,
            "capability": "discovery",
            "confidence": 1.0,
            "impact": "informational",
            "is_idempotent": true,
        });
        Definition {
            method: Some("DISCOVER".to_owned()),
            path: Some(self.path.to_owned()),
            description: Some(self.description.to_owned()),
            semantic,
            input_schema: Some(input(self.input)),
            output_schema: Some(self.output),
            errors: Some(Vec::new()),
            binding: Some(Binding::RegisteredFunction {
                function: format!("builtin{}", self.path),
                timeout: Duration::ZERO,
            }),
            ..Definition::default()
        }
    }
}

/// The schema of an input. All of them take `context`, as every method of the floor does, and the
/// deprecated `target`.
fn input(properties: Value) -> Value {
    let mut all = Map::new();
    all.insert("context".to_owned(), json!({"description": "What the call is about, for the record."}));
    all.insert(
        "target".to_owned(),
        json!({"type": "string", "description": "Deprecated: the surface; write it as the path."}),
    );
    if let Value::Object(own) = properties {
        all.extend(own);
    }
    json!({"type": "object", "properties": all, "additionalProperties": false})
}

fn list_of(required: &[&str]) -> Value {
    json!({"type": "array", "items": {"type": "object", "required": required}})
}

/// All of them, in the order in which they are listed.
fn natives() -> [Native; 8] {
    [root(), methods(), agents(), genesis(), tools(), apis(), patterns(), contracts()]
}

fn root() -> Native {
    Native {
        path: "/",
        description: "Lists what can be discovered here, or finds agents that fit given criteria.",
        outcome: "The directory of discovery surfaces, or candidates in the order of their relevance.",
        input: search_properties(),
        output: json!({"type": "object", "anyOf": [{"required": ["directory"]}, {"required": ["candidates"]}]}),
    }
}

fn methods() -> Native {
    Native {
        path: "/methods",
        description: "Lists all registered endpoints on this server.",
        outcome: "One line for each endpoint, with who guarantees it.",
        input: methods_properties(),
        output: list_of(&["method", "path", "description", "tier"]),
    }
}

fn agents() -> Native {
    Native {
        path: "/agents",
        description: "Lists the agents that live on this server.",
        outcome: "One line for each agent, with how far it is vouched for.",
        input: json!({}),
        output: list_of(&["agent_id", "name", "trust_tier", "verification_path"]),
    }
}

fn genesis() -> Native {
    Native {
        path: "/genesis",
        description: "Returns the signed genesis document of an agent.",
        outcome: "The document in its canonical form, good for checking the agent's name and its issuer.",
        input: json!({"agent_id": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}),
        output: json!({"type": "object", "required": ["signature"]}),
    }
}

fn tools() -> Native {
    Native {
        path: "/tools",
        description: "Lists the tools that this server and its agents offer.",
        outcome: "One descriptor for each tool, with the agent that owns it.",
        input: json!({}),
        output: list_of(&["name"]),
    }
}

fn apis() -> Native {
    Native {
        path: "/apis",
        description: "Lists the HTTP interfaces beside this protocol.",
        outcome: "One line for each interface, with where it is.",
        input: json!({}),
        output: list_of(&["name"]),
    }
}

fn patterns() -> Native {
    Native {
        path: "/patterns",
        description: "Lists the shapes of endpoints that can be negotiated here.",
        outcome: "Whether anything is negotiated, and the shapes that recipes match.",
        input: json!({}),
        output: json!({"type": "object", "required": ["rcns_enabled", "patterns"]}),
    }
}

fn contracts() -> Native {
    Native {
        path: "/contracts",
        description: "Lists the endpoints that were negotiated with the caller.",
        outcome: "One line for each contract that is in force, the oldest first.",
        input: json!({
            "max_results": {"type": "integer", "minimum": 1, "maximum": CONTRACTS_LISTED_MAX},
            "after": {
                "type": "string",
                "description": "The contract after which the page begins: `Continuation-Token` of the last one.",
            },
        }),
        output: list_of(&["synthesis_id", "method", "path"]),
    }
}

/// What the list of endpoints takes: nothing for the whole list, or what must hold of the endpoints on a page.
fn methods_properties() -> Value {
    let text = |about: &str| json!({"type": "string", "maxLength": METHODS_FILTER_CHARS_MAX, "description": about});
    json!({
        "method": text("Endpoints of this method alone."),
        "path": text("Endpoints at this path alone, as the list has it."),
        "namespace": text("Endpoints of this namespace alone."),
        "q": text("What is to be done, in plain words: the endpoints that fit it, the best first."),
        "full": {"type": "boolean", "description": "All of each endpoint, as the manifest has it, and no line."},
        "max_results": {"type": "integer", "minimum": 1, "maximum": METHODS_LISTED_MAX},
        "after": text("Where the page begins: the `Continuation-Token` of the one before, such as `BOOK /room`."),
    })
}

/// What a search for agents takes. Base 3.1.
fn search_properties() -> Value {
    json!({
        "criteria": {
            "description": "What the agent should be good at: words, or an object whose texts are words.",
            "oneOf": [{"type": "string", "maxLength": CRITERIA_CHARS_MAX}, {"type": "object"}, {"type": "array"}],
        },
        "filter": {
            "type": "object",
            "description": "What must hold of every candidate.",
            "properties": {
                "name": {"type": "string"},
                "skill": {"type": "string"},
                "owner_id": {"type": "string"},
                "governance_zone": {"type": "string"},
                "verification_path": {"type": "string"},
                "trust_tier": {"type": "integer", "minimum": 1, "maximum": 3},
            },
            "additionalProperties": false,
        },
        "max_results": {"type": "integer", "minimum": 1, "maximum": CANDIDATES_MAX, "default": CANDIDATES_DEFAULT},
    })
}
