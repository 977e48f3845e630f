//! Calls of endpoints: the limits that messages have, then the contract.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::call::{Call, Caller, Identity, Thread};
use forecourt_contract::{Native, Refusal, Scope, Target};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::policy::Kind;
use forecourt_core::{Error, IdentityEvidence, Sender};
use forecourt_host::{Host, Invoked, LimitSettings, Rate, caller};
use forecourt_testkit::Scripted;
use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use serde_json::{Value, json};

use crate::support::Setup;

fn rate(burst: u32) -> Rate {
    Rate { per_second: 1.try_into().unwrap(), burst: burst.try_into().unwrap() }
}

fn from(peer: &str) -> Caller {
    let sender = Sender { peer: Some(peer.parse().unwrap()), ..Sender::anonymous() };
    Caller { sender: Arc::new(sender), ..Caller::default() }
}

async fn call(host: &Host, method: &str, session: Option<&str>, peer: &str) -> Result<Invoked, Error> {
    let thread = Thread { session_id: session.map(str::to_owned), ..Thread::default() };
    let call =
        Call { method: method.to_owned(), path: "/rooms".to_owned(), caller: from(peer), thread, ..Call::default() };
    host.invoke(call, "test").await
}

fn is_answered(invoked: Result<Invoked, Error>) -> bool {
    matches!(invoked, Ok(Invoked::Answered(_)))
}

fn is_too_often(invoked: Result<Invoked, Error>) -> bool {
    matches!(invoked, Ok(Invoked::Refused(part)) if matches!(part.kind, Kind::TooManyRequests { .. }))
}

#[tokio::test]
async fn what_the_contract_refuses_is_an_outcome() {
    let host = Setup::default().host(Scripted::saying(["x"])).await;
    let Ok(Invoked::Answered(outcome)) = call(&host, "QEURY", None, "192.0.2.1").await else { panic!() };
    assert!(matches!(outcome.answer, Err(Refusal::Method { .. })));
    let Ok(Invoked::Answered(outcome)) = call(&host, "QUERY", None, "192.0.2.1").await else { panic!() };
    assert!(matches!(outcome.answer, Err(Refusal::NotFound(_))));
}

#[tokio::test]
async fn calls_count_against_their_address_and_their_session() {
    let limits = LimitSettings { per_address: rate(2), ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(Scripted::saying(["x"])).await;
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_too_often(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.2").await));

    let limits = LimitSettings { per_session: rate(1), ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(Scripted::saying(["x"])).await;
    assert!(is_answered(call(&host, "QUERY", Some("s"), "192.0.2.1").await));
    assert!(is_too_often(call(&host, "QUERY", Some("s"), "192.0.2.2").await));
    assert!(is_answered(call(&host, "QUERY", Some("t"), "192.0.2.1").await));
}

#[tokio::test]
async fn calls_that_lead_to_each_other_come_to_an_end() {
    let host = Setup::default().host(Scripted::saying(["x"])).await;
    let at = |depth| Call { method: "QUERY".to_owned(), path: "/rooms".to_owned(), depth, ..Call::default() };
    assert!(is_answered(host.invoke(at(HOPS_MAX - 1), "test").await));
    assert!(matches!(host.invoke(at(HOPS_MAX), "test").await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn a_host_that_drains_takes_no_call() {
    let host = Setup::default().host(Scripted::saying(["x"])).await;
    host.drain(Duration::ZERO).await;
    assert!(matches!(call(&host, "QUERY", None, "192.0.2.1").await, Err(Error::Unavailable { .. })));
}

/// Answers at once or never.
struct Root;

impl Native for Root {
    fn answer(&self, call: Call, _: Target) -> BoxFuture<'_, Result<Value, Refusal>> {
        match call.query {
            Some(_) => pending().boxed(),
            None => async { Ok(json!({})) }.boxed(),
        }
    }
}

#[tokio::test]
async fn calls_in_the_making_are_bounded() {
    let limits = LimitSettings { replies_running_max: 1, queue_seconds: 0, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(Scripted::saying(["x"])).await;
    let root: Arc<dyn Native> = Arc::new(Root);
    host.contract().native.set(Arc::downgrade(&root)).ok().unwrap();
    let caller = Caller { identity: Identity::Recognised, ..from("192.0.2.1") };
    let ask = |query: Option<&str>| Call {
        method: "QUERY".to_owned(),
        path: "/".to_owned(),
        query: query.map(str::to_owned),
        caller: caller.clone(),
        ..Call::default()
    };
    let stays = ask(Some(""));
    let mut first = Box::pin(host.invoke(stays, "test"));
    assert!(futures::poll!(first.as_mut()).is_pending());
    let Ok(Invoked::Refused(refusal)) = host.invoke(ask(None), "test").await else { panic!("no room") };
    assert!(refusal.message.contains("limits.replies_running_max"), "{}", refusal.message);
    drop(first);
    assert!(is_answered(host.invoke(ask(None), "test").await));
}

/// Somebody whose proof grants these scopes, held to `authority`.
fn granted(scope: Value, authority: Option<&[&str]>) -> Sender {
    let mut evidence: IdentityEvidence = serde_json::from_value(json!({
        "subject": "ann", "issuer": "login.example", "method": "urn:m", "assurance": "user", "audience": "demo",
        "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "bearer-token"},
    }))
    .unwrap();
    evidence.claims.insert("scope".to_owned(), scope);
    let authority = authority.map(|tokens| tokens.iter().map(|token| (*token).to_owned()).collect());
    Sender { verified: true, identities: vec![evidence], authority, ..Sender::anonymous() }
}

#[test]
fn base_7_what_was_handed_on_never_widens_what_was_proven() {
    let both = json!("booking:room documents:query");
    for (scope, authority, expected) in [
        (both.clone(), None, &["booking:room", "documents:query"][..]),
        (both.clone(), Some(&["documents:query"][..]), &["documents:query"]),
        (both.clone(), Some(&[][..]), &[]),
        (both.clone(), Some(&["no scope", "*"][..]), &[]),
        (both.clone(), Some(&["*:*"][..]), &["booking:room", "documents:query"]),
        (json!(["booking:*"]), Some(&["booking:room", "payments:pay"][..]), &["booking:room"]),
        (json!(null), Some(&["booking:room"][..]), &[]),
    ] {
        let caller = caller(granted(scope.clone(), authority));
        let found: Vec<&str> = caller.declared.iter().map(Scope::as_str).collect();
        assert_eq!(found, expected, "{scope} held to {authority:?}");
    }
    let unproven = Sender { verified: false, ..granted(both, Some(&["booking:room"])) };
    assert!(caller(unproven).declared.is_empty());
}
