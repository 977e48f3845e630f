//! Calls of endpoints: the limits that messages have, then the contract.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::call::{Call, Caller, Identity, Thread};
use forecourt_contract::{CallTarget, HostApi, HostServices, Native, Refusal, ScopeSet};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Authority, Error, Handle, IdentityEvidence, LifecycleState, Sender};
use forecourt_host::{Host, InvokeOutcome, LifecycleChange, LimitSettings, Rate};
use forecourt_testkit::ScriptedAgent;
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

async fn call(host: &Host, method: &str, session: Option<&str>, peer: &str) -> Result<InvokeOutcome, Error> {
    let thread = Thread { session_id: session.map(str::to_owned), ..Thread::default() };
    let call =
        Call { method: method.to_owned(), path: "/rooms".to_owned(), caller: from(peer), thread, ..Call::default() };
    host.invoke(call, "test").await
}

fn is_answered(invoked: Result<InvokeOutcome, Error>) -> bool {
    matches!(invoked, Ok(InvokeOutcome::Answered(_)))
}

fn is_too_often(invoked: Result<InvokeOutcome, Error>) -> bool {
    matches!(invoked, Ok(InvokeOutcome::Refused(part)) if matches!(part.kind, RefusalKind::TooManyRequests { .. }))
}

#[tokio::test]
async fn what_the_contract_refuses_is_an_outcome() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let Ok(InvokeOutcome::Answered(outcome)) = call(&host, "QEURY", None, "192.0.2.1").await else { panic!() };
    assert!(matches!(outcome.answer, Err(Refusal::Method { .. })));
    let Ok(InvokeOutcome::Answered(outcome)) = call(&host, "QUERY", None, "192.0.2.1").await else { panic!() };
    assert!(matches!(outcome.answer, Err(Refusal::NotFound(_))));
}

#[tokio::test]
async fn calls_count_against_their_address_and_their_session() {
    let limits = LimitSettings { per_address: rate(2), ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await;
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_too_often(call(&host, "QUERY", None, "192.0.2.1").await));
    assert!(is_answered(call(&host, "QUERY", None, "192.0.2.2").await));

    let limits = LimitSettings { per_session: rate(1), ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await;
    assert!(is_answered(call(&host, "QUERY", Some("s"), "192.0.2.1").await));
    assert!(is_too_often(call(&host, "QUERY", Some("s"), "192.0.2.2").await));
    assert!(is_answered(call(&host, "QUERY", Some("t"), "192.0.2.1").await));
}

#[tokio::test]
async fn calls_that_lead_to_each_other_come_to_an_end() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let at = |depth| Call { method: "QUERY".to_owned(), path: "/rooms".to_owned(), depth, ..Call::default() };
    assert!(is_answered(host.invoke(at(HOPS_MAX - 1), "test").await));
    assert!(matches!(host.invoke(at(HOPS_MAX), "test").await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn a_host_that_drains_takes_no_call() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    host.drain(Duration::ZERO).await;
    assert!(matches!(call(&host, "QUERY", None, "192.0.2.1").await, Err(Error::Unavailable { .. })));
}

/// Answers at once or never.
struct Root;

impl Native for Root {
    fn answer(&self, call: Call, _: CallTarget) -> BoxFuture<'_, Result<Value, Refusal>> {
        match call.query {
            Some(_) => pending().boxed(),
            None => async { Ok(json!({})) }.boxed(),
        }
    }
}

impl HostApi for Root {
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        let services = Arc::new(HostServices::default());
        services.publish_native(self);
        Some(services)
    }
}

#[tokio::test]
async fn calls_in_the_making_are_bounded() {
    let limits = LimitSettings { replies_running_max: 1, queue_seconds: 0, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await;
    let root = Arc::new(Root);
    host.contract().host.bind(&root);
    let caller = Caller { identity: Identity::Recognised, ..from("192.0.2.1") };
    let ask = |query: Option<&str>| Call {
        method: "NOTIFY".to_owned(),
        path: "/".to_owned(),
        query: query.map(str::to_owned),
        caller: caller.clone(),
        ..Call::default()
    };
    let stays = ask(Some(""));
    let mut first = Box::pin(host.invoke(stays, "test"));
    assert!(futures::poll!(first.as_mut()).is_pending());
    let Ok(InvokeOutcome::Refused(refusal)) = host.invoke(ask(None), "test").await else { panic!("no room") };
    assert!(refusal.message.contains("limits.replies_running_max"), "{}", refusal.message);
    drop(first);
    assert!(is_answered(host.invoke(ask(None), "test").await));
}

/// Somebody whose proof grants these scopes, and who is this agent.
fn granted(scope: &str, agent: Option<&str>) -> Sender {
    let evidence: IdentityEvidence = serde_json::from_value(json!({
        "subject": "ann", "issuer": "login.example", "method": "urn:m", "assurance": "user", "audience": "demo",
        "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "bearer-token"}, "claims": {"scope": scope},
    }))
    .unwrap();
    let identities = vec![evidence];
    let authority = Authority::of_evidence(&identities);
    let agent = agent.map(|agent| Handle::parse(agent).unwrap());
    Sender { verified: true, identities, authority, agent, ..Sender::anonymous() }
}

#[tokio::test]
async fn base_7_a_caller_holds_what_its_proof_grants_and_without_proof_nothing() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let held = async |sender: Sender| host.caller(sender).await.unwrap().authority().clone();
    let scopes = |list: &str| ScopeSet::parse_list(list).unwrap();
    let proven = held(granted("booking:room documents:query", None)).await;
    assert_eq!(proven.held(), scopes("booking:room,documents:query"));
    assert_eq!(proven.claimed(), Some(&proven.held()), "and claims it, since its protocol has no word for claims");
    let narrowed = granted("booking:room documents:query", None);
    let narrowed = Sender { authority: narrowed.authority.clone().within(&scopes("documents:*")), ..narrowed };
    assert_eq!(held(narrowed).await.in_use(), scopes("documents:query"));
    let unproven = Sender { verified: false, ..granted("booking:room", None) };
    assert!(held(unproven).await.held().is_empty());
}

#[tokio::test]
async fn base_3_2_an_agent_out_of_service_calls_nothing_over_any_protocol() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let root = Arc::new(Root);
    host.contract().host.bind(&root);
    let bot = crate::support::handle();
    let standing = async || host.caller(granted("booking:room", Some("bot"))).await.unwrap().standing;
    assert_eq!(standing().await, LifecycleState::Active);
    for to in [LifecycleState::Suspended, LifecycleState::Retired] {
        let wish = LifecycleChange { to, ..LifecycleChange::default() };
        host.operator().change_lifecycle(&bot, &wish, &|_| None).await.unwrap();
        assert_eq!(standing().await, to);
        let caller = host.caller(granted("booking:room", Some("bot"))).await.unwrap();
        let call = Call { method: "QUERY".into(), path: "/".into(), caller, ..Call::default() };
        let Ok(InvokeOutcome::Answered(outcome)) = host.invoke(call, "test").await else { panic!("not answered") };
        let refused = matches!(&outcome.answer, Err(Refusal::Standing { is_final, .. }) if *is_final == (to == LifecycleState::Retired));
        assert!(refused, "{:?}", outcome.answer);
    }
}
