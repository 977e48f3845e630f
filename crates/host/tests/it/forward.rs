//! Calls to servers behind the host, up to the server: limits, hops, rules by tool, and what is counted.

use std::sync::Arc;

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{AgentCard, Ending, Message, PolicyPart, Rule};
use forecourt_host::{Host, LimitSettings, Rate, ServerGate, ServerRule, Target};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;

use crate::support::{Setup, message};

/// Refuses everybody.
struct Never;

impl Rule for Never {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, Result<(), Objection>> {
        let part = PolicyPart::new(RefusalKind::Forbidden, "Not you.");
        Box::pin(async move { Err(Objection::from(part)) })
    }
}

fn gate(tools: &[&str]) -> ServerGate {
    let tools = tools.iter().map(|glob| glob.parse().unwrap()).collect();
    ServerGate::new(Arc::new(card("far")), vec![ServerRule { tools, rule: Arc::new(Never) }])
}

async fn host(limits: LimitSettings) -> Arc<Host> {
    Setup { limits, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await
}

/// The kind of refusal, or nothing.
async fn refused(host: &Host, gate: &ServerGate, target: Target<'_>) -> Option<String> {
    let passed = host.forward(gate, target, message("x")).await.unwrap();
    passed.err().map(|refusal| refusal.part.kind().to_owned())
}

#[tokio::test]
async fn a_rule_stands_before_the_tools_that_it_names_and_a_bare_one_before_everything() {
    let host = host(LimitSettings::default()).await;
    let some = gate(&["drop_*"]);
    assert_eq!(refused(&host, &some, Target::Tool("drop_all")).await.as_deref(), Some("forbidden"));
    assert_eq!(refused(&host, &some, Target::Tool("get")).await, None);
    assert_eq!(refused(&host, &some, Target::Other).await, None);
    let every = gate(&[]);
    assert_eq!(refused(&host, &every, Target::Tool("get")).await.as_deref(), Some("forbidden"));
    assert_eq!(refused(&host, &every, Target::Other).await.as_deref(), Some("forbidden"));
}

#[tokio::test]
async fn a_call_takes_one_of_its_callers_places_until_it_ends() {
    let limits = LimitSettings { replies_per_caller_max: 1, queue_seconds: 0, ..LimitSettings::default() };
    let limits = LimitSettings { replies_running_max: 1, ..limits };
    let host = host(limits).await;
    let gate = ServerGate::new(Arc::new(card("far")), Vec::new());
    let held = host.forward(&gate, Target::Other, message("x")).await.unwrap().ok().unwrap();
    assert_eq!(refused(&host, &gate, Target::Other).await.as_deref(), Some("too_many_requests"));
    held.end(Ending::Complete).await;
    assert_eq!(refused(&host, &gate, Target::Other).await, None);
}

#[tokio::test]
async fn a_call_counts_against_the_limit_of_its_address() {
    let rate = Rate { per_second: 1.try_into().unwrap(), burst: 2.try_into().unwrap() };
    let host = host(LimitSettings { per_address: rate, ..LimitSettings::default() }).await;
    let gate = ServerGate::new(Arc::new(card("far")), Vec::new());
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(refused(&host, &gate, Target::Other).await);
    }
    assert_eq!(kinds, [None, None, Some("too_many_requests".to_owned())]);
}

#[tokio::test]
async fn calls_that_lead_to_each_other_end() {
    let host = host(LimitSettings::default()).await;
    let gate = ServerGate::new(Arc::new(card("far")), Vec::new());
    let at = |hop| Message { hop, ..message("x") };
    assert!(host.forward(&gate, Target::Other, at(HOPS_MAX - 1)).await.unwrap().is_ok());
    assert!(host.forward(&gate, Target::Other, at(HOPS_MAX)).await.is_err());
}

#[tokio::test]
async fn what_became_of_calls_is_counted_under_the_servers_name() {
    let host = host(LimitSettings::default()).await;
    let gate = ServerGate::new(Arc::new(card("far")), Vec::new());
    let permit = host.forward(&gate, Target::Other, message("x")).await.unwrap().ok().unwrap();
    permit.end(Ending::failed("gone")).await;
    drop(host.forward(&gate, Target::Other, message("x")).await.unwrap().ok().unwrap());
    let activity = host.activity(gate.card().handle());
    assert_eq!(activity.failures.len(), 1, "{activity:?}");
    assert_eq!(activity.failures[0].reason, "gone");
}
