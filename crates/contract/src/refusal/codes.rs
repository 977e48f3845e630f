//! This module lists each kind of refusal with its cause and its remedy: rows of the table of errors.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_core::codes::CodeEntry;
use serde_json::Value;

use super::{BrokenContract, FailedStep, IdentityRefusal, NotAllowed, Pair, Refusal};
use crate::agreement::{ContractPreview, ContractRefusal, NoContractReason};
use crate::method::Method;
use crate::schema::Violation;
use crate::scope::Scope;

/// Every kind of [`Refusal`] that has a code of its own, by [`Refusal::kind`], in the order of the checks.
/// What the host's own methods are refused with has its protocol's codes.
pub fn codes() -> Vec<CodeEntry<Refusal>> {
    let (Ok(method), Ok(scope)) = (Method::parse("BOOK"), Scope::parse("booking:room")) else { return Vec::new() };
    let pair = Pair { method, path: "/rooms/7".to_owned() };
    let mut rows = of_request(&pair);
    rows.extend(of_caller(&pair, &scope));
    rows.extend(of_contracts(&pair, &scope));
    rows.extend(of_work(&pair));
    rows
}

fn row(sample: Refusal, cause: &'static str, remedy: &'static str) -> CodeEntry<Refusal> {
    CodeEntry { code: sample.kind(), cause, remedy, sample }
}

fn of_request(pair: &Pair) -> Vec<CodeEntry<Refusal>> {
    vec![
        row(
            Refusal::Method { method: "BOOKK".to_owned(), suggestions: Vec::new(), catalog_version: "1".to_owned() },
            "The method is none of the catalog.",
            "Use one of `suggestions`.",
        ),
        row(
            Refusal::Path { path: "/book/7".to_owned(), segment: "book".to_owned(), reason: "a verb".to_owned() },
            "The path breaks the grammar: a segment spells a method, or it ends in a slash.",
            "Change `segment`.",
        ),
        row(Refusal::NotFound(pair.clone()), "Nothing is at this path.", "`DISCOVER /methods` lists the endpoints."),
        row(
            Refusal::NotAllowed {
                pair: pair.clone(),
                why: NotAllowed::OtherMethods,
                allowed_methods: BTreeSet::new(),
                redirects: BTreeMap::new(),
            },
            "The path has other methods, or the host's policy refuses this one.",
            "Use one of `allowed_methods_for_path`.",
        ),
        row(
            Refusal::Input { pair: pair.clone(), violation: Violation::new("/guest", "is required") },
            "The input does not fit the schema.",
            "Change `field`; `schema_path` is the rule.",
        ),
    ]
}

fn of_caller(pair: &Pair, scope: &Scope) -> Vec<CodeEntry<Refusal>> {
    let standing = |is_final| Refusal::Standing { agent_id: None, is_final };
    vec![
        row(
            Refusal::Identity(IdentityRefusal::Missing),
            "The call does not say which agent is calling, or the agent is not known here.",
            "Send `Agent-ID`, with a proof off loopback. Operator: put the agent's genesis document into `known/`.",
        ),
        row(
            Refusal::Identity(IdentityRefusal::NoToken),
            "The method needs a bearer token.",
            "Send a token of an issuer of this host.",
        ),
        row(standing(false), "The calling agent is suspended.", "Wait until it is reinstated."),
        row(standing(true), "The calling agent is retired for good.", "Call as another agent."),
        row(
            Refusal::Wildcards(pair.clone()),
            "The call is not declared, and needs the consent of both sides.",
            "Call an endpoint that is declared.",
        ),
        row(
            Refusal::ScopeAbsent { pair: pair.clone(), required: vec![scope.clone()] },
            "The call claims no scope, and must.",
            "Name the needed scopes in `Authority-Scope`.",
        ),
        row(
            Refusal::ScopeClaim { pair: pair.clone(), excess: vec![scope.clone()] },
            "The call claims more than its agent declares.",
            "Claim less; an agent's scopes are in its genesis document.",
        ),
        row(
            Refusal::Scope { pair: pair.clone(), missing: vec![scope.clone()] },
            "The caller lacks scopes that the endpoint needs.",
            "Get and claim `missing_scopes`.",
        ),
    ]
}

fn of_contracts(pair: &Pair, scope: &Scope) -> Vec<CodeEntry<Refusal>> {
    let of = |refusal| Refusal::Contract { pair: pair.clone(), refusal: Box::new(refusal) };
    let synthesis_id = "syn-0".to_owned();
    let preview = ContractPreview {
        synthesis_id: synthesis_id.clone(),
        method: pair.method.clone(),
        path: pair.path.clone(),
        endpoint: Value::Null,
        recipe_lineage: None,
        contract_hash: String::new(),
        expires_at: Timestamp::UNIX_EPOCH,
        plan_summary: Vec::new(),
        plan_explanation: serde_json::Value::Null,
    };
    let none = ContractRefusal::NoContract {
        reason: NoContractReason::RcnsDisabled,
        explanation: String::new(),
        attempt_id: None,
        details: Value::Null,
    };
    let other = ContractRefusal::OtherPair {
        synthesis_id: synthesis_id.clone(),
        method: pair.method.clone(),
        path: pair.path.clone(),
    };
    vec![
        row(
            of(ContractRefusal::Unknown { synthesis_id }),
            "No contract of this id is known: it never was, was released, or was swept away.",
            "Negotiate again, or call without it.",
        ),
        row(of(other), "The contract that is presented is for another method or path.", "Call what it is for."),
        row(
            of(none),
            "No contract can be had; `reason` says why.",
            "By `reason`: `DISCOVER /patterns` shows what is negotiated. Operator: `[agtp.policies.rcns]`.",
        ),
        row(
            of(ContractRefusal::Available(Box::new(preview))),
            "An endpoint was made for the call, and nothing was done yet.",
            "Look at the preview, and send the call again with `Contract-Synthesized`.",
        ),
        row(
            of(ContractRefusal::Scope { missing: vec![scope.clone()] }),
            "Negotiating needs a scope that the call does not claim.",
            "Claim `missing_scopes`; `rcns:negotiate` is one of the agent's own.",
        ),
        row(
            of(ContractRefusal::TooMany { bound: "rate_limit_per_minute", retry_after: Duration::from_secs(60) }),
            "The agent negotiates too often.",
            "Try again after `Retry-After`. Operator: `[agtp.policies.rcns]`.",
        ),
        row(of(ContractRefusal::Unavailable), "Contracts can't be looked up now.", "Try again after `Retry-After`."),
    ]
}

fn of_work(pair: &Pair) -> Vec<CodeEntry<Refusal>> {
    let broken = |kind| Refusal::Broken { pair: pair.clone(), kind, cause: String::new() };
    let step = FailedStep {
        recipe: "stay".to_owned(),
        version: "1".to_owned(),
        step: 0,
        method: pair.method.clone(),
        refusal: Refusal::NotFound(pair.clone()),
        captured: BTreeMap::new(),
    };
    vec![
        row(
            Refusal::Declared {
                pair: pair.clone(),
                code: "room_unavailable".to_owned(),
                message: String::new(),
                details: Value::Null,
            },
            "The endpoint ended in an error that it declares; the code on the wire is its own name, such as \
             `room_unavailable`.",
            "See `details`, and the endpoint's `errors`.",
        ),
        row(
            Refusal::Step { pair: pair.clone(), failed: Box::new(step) },
            "A step of a composition failed.",
            "`details` names the step, its status and what the steps before it found; nothing was undone.",
        ),
        row(
            Refusal::Busy { pair: pair.clone(), cause: String::new() },
            "Too much is asked of the endpoint; the call did not begin.",
            "Try again after `Retry-After`.",
        ),
        row(
            Refusal::Late { pair: pair.clone(), cause: String::new() },
            "The endpoint did not end in its time; what it did until then may stand.",
            "Check what was done before you call again. Operator: `timeout_seconds` of the handler.",
        ),
        row(
            broken(BrokenContract::Output),
            "The endpoint returned what its output schema does not allow.",
            "Operator: the log names the field; correct the handler or the schema.",
        ),
        row(
            broken(BrokenContract::UndeclaredError),
            "The endpoint ended in an error that it does not declare.",
            "Operator: add it to `errors` of the endpoint.",
        ),
        row(
            broken(BrokenContract::Crashed),
            "The endpoint failed: an exception, a crash, or too much memory.",
            "Operator: the log has the file, the line and the traceback.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_but_the_hosts_own_has_one_row() {
        let rows = codes();
        let codes: BTreeSet<&str> = rows.iter().map(|row| row.code).collect();
        assert_eq!((codes.len(), rows.len()), (27, 27), "a new kind of refusal needs a row: {codes:?}");
    }
}
