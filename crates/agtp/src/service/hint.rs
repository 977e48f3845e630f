//! What would be right, where a refusal does not carry it itself. AGTP-API 11.

use forecourt_contract::call::Trail;
use serde_json::{Value, json};

use super::Service;
use crate::reply::Problem;

impl Service {
    /// The same, with where to look for what there is, whom to name, and what the endpoint asks for.
    pub(super) fn hinted(&self, mut problem: Problem, trail: &Trail) -> Problem {
        let word = |name: &str| problem.error.get(name).and_then(Value::as_str).unwrap_or_default();
        match (word("code"), word("type")) {
            ("endpoint-not-found", _) => problem.with("discover", "/methods"),
            ("agent-handle-not-found", _) => problem.with("discover", "/agents"),
            ("agent-unauthenticated", _) => problem.with("header", "Agent-ID"),
            (_, "scope-required") => {
                self.name_scopes(&mut problem, trail);
                problem
            }
            _ => problem,
        }
    }

    /// A call that claims nothing lacks all that its endpoint needs, the steps of a composition included.
    fn name_scopes(&self, problem: &mut Problem, trail: &Trail) {
        let Some(endpoint) = &trail.endpoint else { return };
        let needed = self.contract().required_scopes(endpoint);
        let details = problem.error.get_mut("details").and_then(Value::as_object_mut);
        if let Some(details) = details.filter(|details| !details.contains_key("excess_scopes") && !needed.is_empty()) {
            details.insert("missing_scopes".to_owned(), json!(needed));
        }
    }
}
