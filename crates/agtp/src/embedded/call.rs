//! One call of an embedded method: who calls, and what it is given.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::{Caller, Scope, ScopeSet};
use serde_json::Value;

use super::parameters::Parameters;
use crate::ask::Ask;
use crate::limits::NAME_CHARS_MAX;
use crate::problem::{OPERATOR_SCOPE, unauthorized};
use crate::reply::{Problem, Reply};

/// A call of an embedded method whose caller, route, policy and scopes were checked.
#[derive(Clone, Copy)]
pub(super) struct MethodCall<'a> {
    /// The method.
    pub method: &'a str,
    /// The parameters of the call.
    pub given: Parameters<'a>,
    /// Who calls.
    pub caller: &'a Caller,
}

impl<'a> MethodCall<'a> {
    /// What a request says for `method`.
    pub(super) fn of(ask: &'a Ask, method: &'a str) -> Self {
        Self { method, given: Parameters::of(ask, method), caller: &ask.call.caller }
    }

    /// What the caller may do in this request: what it claims, else all that it holds.
    pub(super) fn authority(self) -> ScopeSet {
        self.caller.authority().in_use()
    }

    /// The agent that calls.
    ///
    /// # Errors
    /// 401 when nobody says who it is.
    pub(super) fn agent_id(self) -> Result<&'a str, Problem> {
        let message = format!("{} is for agents: say in `Agent-ID` which one calls", self.method);
        self.caller.agent_id.as_deref().ok_or_else(|| unauthorized("agent-unauthenticated", &message))
    }

    /// Whether the caller may see and decide what is other agents'.
    ///
    /// # Errors
    /// 403 when it does not declare the scope for that.
    pub(super) fn require_operator(self) -> Result<(), Problem> {
        let holds = Scope::parse(OPERATOR_SCOPE).is_ok_and(|scope| self.authority().covers(&scope));
        let message = format!("this is for agents that declare the scope {OPERATOR_SCOPE}");
        if holds { Ok(()) } else { Err(Problem::new(Status::FORBIDDEN, "operator-scope-required", message)) }
    }

    /// The reply of INSPECT about a target. Base 3.3.
    pub(super) fn inspection(self, target: &str, mut body: Value) -> Reply {
        body["method"] = self.method.into();
        body["target"] = target.into();
        Reply::ok(body)
    }
}

/// The problem that nothing of that name is kept.
pub(super) fn not_kept(code: &str, name: &str, id: &str) -> Problem {
    let id: String = id.chars().take(NAME_CHARS_MAX).collect();
    Problem::new(Status::NOT_FOUND, code, "nothing of this name is kept here").with(name, id)
}
