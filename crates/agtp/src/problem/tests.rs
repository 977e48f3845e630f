use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forecourt_contract::refusal::{BrokenContract, FailedStep, IdentityRefusal, NotAllowed, Pair};
use forecourt_contract::{Method, Refusal, Scope};
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Noun, PolicyPart, TaskState};
use serde_json::{Value, json};

use super::*;
use crate::reply::Reply;

fn method(name: &str) -> Method {
    Method::parse(name).unwrap()
}

fn pair() -> Pair {
    Pair { method: method("BOOK"), path: "/rooms/7".into() }
}

/// The code and the whole body.
fn said(problem: impl Into<Problem>) -> (u16, Value) {
    let reply = Reply::from(problem.into());
    let crate::reply::Body::Json(body) = reply.body else { panic!("a problem is JSON") };
    (reply.status.code, body)
}

fn scopes(names: &[&str]) -> Vec<Scope> {
    names.iter().map(|name| Scope::parse(name).unwrap()).collect()
}

fn not_allowed(why: NotAllowed) -> Refusal {
    let redirects = BTreeMap::from([(method("BOOK"), method("RESERVE"))]);
    Refusal::NotAllowed { pair: pair(), why, allowed_methods: BTreeSet::from([method("FETCH")]), redirects }
}

#[test]
fn s11_every_refusal_of_the_contract_has_its_code() {
    let violation =
        || Violation { detail: "no number".into(), field: "/n".into(), schema_path: "/properties/n/type".into() };
    let refusals = [
        (
            Refusal::Method { method: "B".repeat(500), suggestions: vec![], catalog_version: "1.0.0".into() },
            459,
            "method-violation",
        ),
        (Refusal::Path { path: "/x/".into(), segment: String::new(), reason: "no".into() }, 460, "endpoint-violation"),
        (Refusal::NotFound(pair()), 404, "endpoint-not-found"),
        (Refusal::Identity(IdentityRefusal::Missing), 401, "agent-unauthenticated"),
        (Refusal::Identity(IdentityRefusal::Unknown), 401, "agent-unauthenticated"),
        (Refusal::Identity(IdentityRefusal::NoToken), 401, "oauth-required"),
        (Refusal::Standing { agent_id: Some("a".into()), is_final: true }, 410, "agent-revoked"),
        (Refusal::Standing { agent_id: None, is_final: false }, 503, "agent-suspended"),
        (not_allowed(NotAllowed::OtherMethods), 405, "method-not-allowed"),
        (not_allowed(NotAllowed::Policy), 405, "method-refused-by-policy"),
        (not_allowed(NotAllowed::NotImplemented), 405, "method-not-implemented"),
        (Refusal::Wildcards(pair()), 262, "authorization-required"),
        (Refusal::Input { pair: pair(), violation: violation() }, 422, "input-validation-failed"),
        (Refusal::ScopeAbsent { pair: pair(), required: Vec::new() }, 262, "authorization-required"),
        (Refusal::ScopeClaim { pair: pair(), excess: scopes(&["a:b"]) }, 262, "authorization-required"),
        (Refusal::Scope { pair: pair(), missing: scopes(&["a:b"]) }, 455, "scope-violation"),
        (
            Refusal::Declared { pair: pair(), code: "taken".into(), message: "m".into(), details: json!({"until": 5}) },
            422,
            "taken",
        ),
        (
            Refusal::Broken { pair: pair(), kind: BrokenContract::Output, cause: "secret".into() },
            500,
            "output-validation-failed",
        ),
        (
            Refusal::Broken { pair: pair(), kind: BrokenContract::UndeclaredError, cause: "secret".into() },
            500,
            "undeclared-error-code",
        ),
        (Refusal::Busy { pair: pair(), cause: "secret".into() }, 503, "handler-busy"),
        (Refusal::Late { pair: pair(), cause: "secret".into() }, 503, "handler-timeout"),
        (
            Refusal::Broken { pair: pair(), kind: BrokenContract::Crashed, cause: "secret".into() },
            500,
            "handler-exception",
        ),
    ];
    for (refusal, status, code) in refusals {
        let shown = format!("{refusal:?}");
        let (found, body) = said(refusal);
        let error = &body["error"];
        assert_eq!((found, error["code"].as_str()), (status, Some(code)), "{shown}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{shown}");
        assert!(body.to_string().len() < 2_000 && !body.to_string().contains("secret"), "{shown}");
        if status == 262 {
            assert!(error["type"].is_string() && error["explanation"].is_string() && error["details"].is_object());
        }
        if status == 401 {
            assert_eq!(error["reason"], code);
        }
    }
}

#[test]
fn s12_1_a_refusal_of_the_hosts_own_method_keeps_its_code_and_all_that_it_says() {
    // Offers are made to calls from outside alone.
    let not_refused = [Status::MOVED_PERMANENTLY, Status::NOT_MODIFIED, Status::CONTRACT_AVAILABLE];
    for status in Status::ALL.iter().filter(|status| !status.is_success() && !not_refused.contains(status)) {
        let problem = Problem::new(*status, "a-code", "a message").with("agent_id", "x");
        let refusal = refusal(problem.clone());
        assert_eq!((refusal.code(), refusal.to_string().as_str(), refusal.was_begun()), ("a-code", "a message", false));
        let again = Problem::from(refusal);
        assert_eq!((again.status, again.error), (problem.status, problem.error));
    }
    let limited = || Problem::from(PolicyPart::new(RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }, "m"));
    let refused = || Problem::from(not_allowed(NotAllowed::Policy));
    for problem in [&limited as &dyn Fn() -> Problem, &refused] {
        let (before, again) = (problem(), Problem::from(refusal(problem())));
        assert_eq!((again.beside, again.fields), (before.beside, before.fields));
    }
    // What is no refusal at all is ours.
    assert_eq!(said(refusal(Problem::new(Status::NOT_MODIFIED, "c", "m"))).0, 500);
}

#[test]
fn s12_1_a_failed_step_is_told_with_its_own_status() {
    let failed = FailedStep {
        recipe: "r".into(),
        version: "3".into(),
        step: 1,
        method: method("FETCH"),
        refusal: not_allowed(NotAllowed::Policy),
        captured: BTreeMap::from([("facts".to_owned(), json!(7))]),
    };
    let (status, body) = said(Refusal::Step { pair: pair(), failed: Box::new(failed) });
    let error = &body["error"];
    assert_eq!((status, &error["code"]), (422, &json!("composition_failed")));
    assert_eq!((&error["details"]["failed_step"], &error["details"]["underlying_status"]), (&json!(1), &json!(405)));
    assert_eq!(error["details"]["underlying"]["code"], "method-refused-by-policy");
    assert_eq!(error["details"]["captured_outputs"], json!({"facts": 7}));
}

#[test]
fn every_refusal_of_the_hosts_rules_has_its_code() {
    let part = |kind| PolicyPart::new(kind, "Not now.");
    let consent = RefusalKind::ConsentRequired { state: "s".into(), return_to: "https://x.example/".into() };
    for (kind, status, code) in [
        (consent, 262, "authorization-required"),
        (RefusalKind::PaymentRequired { accepted_payments: vec![] }, 262, "authorization-required"),
        (RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer")] }, 401, "oauth-required"),
        (RefusalKind::Forbidden, 403, "forbidden"),
        (RefusalKind::Other("later".into()), 403, "forbidden"),
        (RefusalKind::UnavailableForLegalReasons, 403, "unavailable-for-legal-reasons"),
        (RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }, 429, "rate-limited"),
        (RefusalKind::ServiceUnavailable { retry_after_seconds: Some(3) }, 503, "unavailable"),
    ] {
        let name = kind.name().to_owned();
        let problem = Problem::from(part(kind));
        let retries = problem.fields.iter().any(|(field, value)| *field == "Retry-After" && value == "3");
        assert_eq!(retries, matches!(status, 429 | 503), "{name}");
        let (found, body) = said(problem);
        assert_eq!((found, body["error"]["code"].as_str()), (status, Some(code)), "{name}");
        assert_eq!(body["error"]["details"]["kind"], name.as_str());
        assert_eq!(body["error"]["message"], "Not now.");
    }
}

#[test]
fn policy3_3_4_what_a_caller_can_meet_gives_its_state_in_a_field() {
    let state = "s".repeat(43);
    let return_to = "https://x.example/".to_owned();
    let consent = PolicyPart::new(RefusalKind::ConsentRequired { state: state.clone(), return_to }, "Agree.");
    let mut payment = PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments: vec![] }, "Pay.");
    payment.data.insert(forecourt_core::policy::STATE_KEY.to_owned(), state.clone().into());
    for part in [consent, payment] {
        assert!(Problem::from(part).fields.contains(&("Mentionable-State", state.clone())));
    }
    let other = Problem::from(PolicyPart::new(RefusalKind::Forbidden, "No."));
    assert!(other.fields.is_empty());
}

#[test]
fn every_error_of_the_host_has_its_code() {
    let unavailable = Error::Unavailable { retry_after: Duration::from_millis(10) };
    for (error, status, code) in [
        (Error::not_found(Noun::Agent), 404, "agent-not-found"),
        (Error::not_found(Noun::Task), 404, "task-not-found"),
        (Error::Gone { what: Noun::Agent }, 410, "agent-revoked"),
        (Error::Conflict { what: Noun::Task, state: TaskState::Completed }, 409, "state-conflict"),
        (Error::invalid("parts", "too many"), 422, "input-validation-failed"),
        (unavailable, 503, "unavailable"),
        (Error::internal("the disk is at /secret"), 500, "server-error"),
    ] {
        let (found, body) = said(error);
        assert_eq!((found, body["error"]["code"].as_str()), (status, Some(code)));
        assert!(!body.to_string().contains("secret"));
    }
    let unavailable = Problem::from(Error::Unavailable { retry_after: Duration::from_millis(10) });
    assert_eq!(unavailable.fields, [("Retry-After", "1".to_owned())]);
}

#[test]
fn whatever_is_unavailable_says_when_to_come_back() {
    let suspended = Refusal::Standing { agent_id: None, is_final: false };
    let late = Refusal::Late { pair: pair(), cause: String::new() };
    let part = PolicyPart::new(RefusalKind::ServiceUnavailable { retry_after_seconds: None }, "Later.");
    for problem in [Problem::from(suspended), late.into(), part.into(), Error::unavailable().into()] {
        let reply = Reply::from(problem);
        assert_eq!(reply.status, Status::UNAVAILABLE);
        assert_eq!(reply.fields, [("Retry-After", "5".to_owned())]);
        assert_eq!(reply.error().unwrap()["retry_after_seconds"], 5);
    }
}

#[test]
fn base_6_7_what_a_certificate_does_not_cover() {
    for (mismatch, status, code) in [
        (Mismatch::Time, 401, "cert-verification-failed"),
        (Mismatch::Agent, 401, "agent-id-mismatch"),
        (Mismatch::Principal, 401, "principal-id-mismatch"),
        (Mismatch::Scopes(scopes(&["a:b"])), 455, "scope-violation"),
        (Mismatch::Zone { certified: "eu".into() }, 457, "zone-violation"),
    ] {
        let (found, body) = said(mismatch);
        assert_eq!((found, body["error"]["code"].as_str()), (status, Some(code)));
    }
    assert_eq!(said(Mismatch::Scopes(scopes(&["a:b"]))).1["error"]["missing_scopes"], json!(["a:b"]));
    assert_eq!(said(Mismatch::Zone { certified: "eu".into() }).1["error"]["target_zone"], "eu");
}

#[test]
fn base_4_every_doubt_is_a_401_with_its_reason() {
    for doubt in [
        IdentityError::Unknown,
        IdentityError::Unproven,
        IdentityError::PathNamesAnother,
        IdentityError::Certificate,
        IdentityError::Token,
    ] {
        let (status, body) = said(doubt);
        assert_eq!((status, &body["error"]["reason"]), (401, &body["error"]["code"]), "{doubt:?}");
    }
}

#[test]
fn base_2_1_every_fault_of_framing_is_a_400_with_its_detail() {
    for fault in [
        HeadError::Version,
        HeadError::StartLineTooLong,
        HeadError::FieldsTooLarge,
        HeadError::Length,
        HeadError::BodyTooLarge,
    ] {
        let (status, body) = said(ConnectionError::Malformed(fault));
        assert_eq!((status, body["error"]["code"].as_str()), (400, Some(fault.code())));
        assert!(body["error"]["detail"].is_string());
    }
    assert_eq!((said(ConnectionError::Late).0, said(ConnectionError::Cut).0), (408, 400));
}
