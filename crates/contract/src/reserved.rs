//! This module knows the pairs that the host answers itself, which no endpoint may take. Sections 5.8, 5.9 and 6.1.

use crate::catalog::EMBEDDED;
use crate::method::Method;
use crate::path::{Segment, Template};
use crate::semantic::Impact;

/// The first segments under which DISCOVER belongs to the host. Section 5.9.
pub const ROOTS: [&str; 7] = ["methods", "agents", "genesis", "tools", "apis", "patterns", "contracts"];

/// Embedded methods that become messages to agents, which the host counts and bounds as messages.
const MESSAGES: [&str; 5] = ["QUERY", "SUMMARIZE", "PLAN", "EXECUTE", "DELEGATE"];

/// Embedded methods that an agent out of service may call: to learn of it, and to come back. Base 3.2.
const OUT_OF_SERVICE: [&str; 8] =
    ["DISCOVER", "DESCRIBE", "INSPECT", "ACTIVATE", "DEACTIVATE", "REINSTATE", "REVOKE", "DEPRECATE"];

/// What a method does that the host answers itself. Sections 7.1 and 16.2; base protocol, section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeEffect {
    /// How far it can be undone.
    pub impact: Impact,
    /// Whether calling it again changes nothing more.
    pub is_idempotent: bool,
    /// What it can't be called without, by the names of the base protocol.
    pub required: &'static [&'static str],
}

/// What an embedded method does at the root, or DISCOVER at one of [`ROOTS`]. `None`: the host answers no such
/// method itself.
pub fn effect(method: &Method) -> Option<NativeEffect> {
    use Impact::{Informational, Irreversible, Reversible};
    let (impact, is_idempotent, required): (Impact, bool, &'static [&'static str]) = match method.as_str() {
        "QUERY" => (Informational, true, &["intent"]),
        "DISCOVER" | "DESCRIBE" => (Informational, true, &[]),
        "INSPECT" => (Informational, true, &["target"]),
        "SUMMARIZE" => (Informational, true, &["source"]),
        "PLAN" => (Informational, true, &["goal"]),
        "PROPOSE" => (Reversible, false, &[]),
        "EXECUTE" => (Irreversible, false, &["action"]),
        "DELEGATE" => (Irreversible, false, &["target_agent_id", "task", "authority_scope", "delegation_token"]),
        "ESCALATE" => (Reversible, true, &["task_id", "reason", "context"]),
        "CONFIRM" => (Irreversible, true, &["target_id", "status"]),
        "SUSPEND" => (Reversible, false, &["session_id"]),
        "NOTIFY" => (Irreversible, false, &["recipient", "content"]),
        "ACTIVATE" | "DEACTIVATE" | "REINSTATE" | "DEPRECATE" => (Reversible, true, &[]),
        "REVOKE" => (Irreversible, true, &["reason"]),
        _ => return None,
    };
    Some(NativeEffect { impact, is_idempotent, required })
}

/// The path below which QUERY tells what became of proposals. Section 11, 261.
pub const PROPOSALS: &str = "/proposals";

/// Whether a pair that the host answers itself becomes a message to an agent.
pub fn is_message(method: &Method, path: &str) -> bool {
    path == "/" && MESSAGES.contains(&method.as_str())
}

/// Whether an agent out of service may call a method that the host answers itself.
pub fn is_open_to_suspended(method: &Method) -> bool {
    OUT_OF_SERVICE.contains(&method.as_str())
}

/// Whether the host answers the pair itself: an embedded method at the root, DISCOVER of one of [`ROOTS`], or
/// QUERY of [`PROPOSALS`] and of one of them. Section 6.1, tier A.
pub fn is_native(method: &Method, path: &str) -> bool {
    let at_root = path == "/" && EMBEDDED.contains(&method.as_str());
    at_root
        || (is_discover(method) && path.strip_prefix('/').is_some_and(|name| ROOTS.contains(&name)))
        || (method.as_str() == "QUERY" && proposal(path).is_some())
}

/// The proposal that a path below [`PROPOSALS`] names; empty for that path itself.
pub fn proposal(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(PROPOSALS)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/').filter(|name| !name.contains('/')) }
}

/// What a registration would take from the host, if anything: the root of an embedded method; under
/// DISCOVER every path whose first segment begins like one of [`ROOTS`], or could become one.
pub fn shadowed(method: &Method, path: &Template) -> Option<&'static str> {
    match path.segments().first() {
        None => EMBEDDED.contains(&method.as_str()).then_some("/"),
        // By prefix: section 5.9 reserves `/methods-v2` and `/toolset` with the names themselves.
        Some(Segment::Literal(first)) if is_discover(method) => ROOTS.into_iter().find(|root| first.starts_with(root)),
        Some(Segment::Parameter(_)) if is_discover(method) => Some("every path of one segment"),
        Some(_) => None,
    }
}

fn is_discover(method: &Method) -> bool {
    method.as_str() == "DISCOVER"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn shadows(method: &str, path: &str) -> bool {
        let template = Template::parse(path, &Catalog::shipped()).unwrap();
        shadowed(&Method::parse(method).unwrap(), &template).is_some()
    }

    #[test]
    fn s5_9_discover_under_a_reserved_root_is_the_hosts() {
        for path in ["/methods", "/methods/v2", "/agents-extended", "/toolset", "/patterns-v2", "/contracts/history"] {
            assert!(shadows("DISCOVER", path), "{path}");
        }
        for path in ["/rooms", "/my-methods", "/catalogue/methods"] {
            assert!(!shadows("DISCOVER", path), "{path}");
        }
    }

    #[test]
    fn s5_9_the_reservation_is_of_discover_alone() {
        assert!(!shadows("QUERY", "/methods") && !shadows("LIST", "/toolset"));
    }

    #[test]
    fn s6_1_the_root_of_embedded_methods_is_the_hosts() {
        assert!(shadows("QUERY", "/") && shadows("DISCOVER", "/"));
        assert!(!shadows("BOOK", "/"));
    }

    #[test]
    fn s5_9_a_parameter_that_could_become_a_reserved_name_shadows_it() {
        assert!(shadows("DISCOVER", "/{name}") && shadows("DISCOVER", "/{name}/x"));
        assert!(!shadows("QUERY", "/{name}"));
    }

    #[test]
    fn s7_1_the_effect_of_every_embedded_method_is_known() {
        let known = |name: &str| effect(&Method::parse(name).unwrap());
        assert!(EMBEDDED.iter().all(|name| known(name).is_some()));
        assert_eq!(known("BOOK"), None);
    }

    #[test]
    fn s6_1_native_pairs_are_exact() {
        let native = |method: &str, path: &str| is_native(&Method::parse(method).unwrap(), path);
        assert!(native("DISCOVER", "/methods") && native("DISCOVER", "/") && native("PROPOSE", "/"));
        assert!(native("QUERY", "/proposals") && native("QUERY", "/proposals/p-1"));
        assert!(!native("QUERY", "/proposals/p/1") && !native("QUERY", "/proposalsx") && !native("BOOK", "/proposals"));
        assert!(!native("QUERY", "/methods") && !native("DISCOVER", "/methods/v2") && !native("BOOK", "/"));
    }
}
