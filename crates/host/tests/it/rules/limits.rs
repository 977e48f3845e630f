//! `limit` and `overload`, which need a host to count in.

use std::net::IpAddr;
use std::time::Duration;

use forecourt_core::ThreadId;
use forecourt_core::message::GateNotes;
use forecourt_host::Host;
use forecourt_testkit::Step;

use super::*;

/// A host behind one list of rules, which it counts for.
async fn host(list: Value, agent: Arc<ScriptedAgent>) -> Arc<Host> {
    let place = Place::default();
    let services = place.services.clone();
    let setup = Setup { rules: place.rules(list).unwrap(), services, remembers: true, ..Setup::default() };
    setup.host(agent).await
}

/// Asks, and gives the kind of the refusal, and how long to wait.
async fn ask(host: &Host, message: Message) -> Option<(String, Option<u64>)> {
    let answer = host.receive(message, Run::without_task()).await.unwrap().collect().await;
    match answer.ending {
        Ending::Refused(part) => Some((part.kind().to_owned(), part.kind.retry_after_seconds())),
        _ => None,
    }
}

fn at(peer: &str) -> Message {
    from(Sender { peer: Some(peer.parse::<IpAddr>().unwrap()), ..Sender::anonymous() })
}

#[tokio::test(start_paused = true)]
async fn rest8_4_the_request_over_the_limit_is_refused_with_seconds_to_wait() {
    let list = json!([{"kind": "limit", "by": "address", "requests": 2, "per": "minute"}]);
    let host = host(list, ScriptedAgent::saying(["hi"])).await;
    assert_eq!(ask(&host, at("192.0.2.1")).await, None);
    assert_eq!(ask(&host, at("192.0.2.1")).await, None);
    assert_eq!(ask(&host, at("192.0.2.1")).await, Some(("too_many_requests".into(), Some(30))));
    assert_eq!(ask(&host, at("192.0.2.2")).await, None, "another address has its own bucket");
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(ask(&host, at("192.0.2.1")).await, None);
}

#[tokio::test(start_paused = true)]
async fn sec12_an_ipv6_network_and_mapped_addresses_are_one_caller() {
    let list = json!([{"kind": "limit", "by": "address", "requests": 1, "per": "1h"}]);
    let host = host(list, ScriptedAgent::saying(["hi"])).await;
    for (first, second) in [("2001:db8::1", "2001:db8::2:1"), ("192.0.2.1", "::ffff:192.0.2.1")] {
        assert_eq!(ask(&host, at(first)).await, None);
        assert!(ask(&host, at(second)).await.is_some(), "{second}");
    }
}

#[tokio::test(start_paused = true)]
async fn sec12_a_fresh_session_is_not_a_fresh_bucket() {
    let list = json!([{"kind": "limit", "by": "session", "requests": 2, "per": "1h"}]);
    let host = host(list, ScriptedAgent::saying(["hi"])).await;
    let begun = host.receive(at("192.0.2.1"), Run::without_task()).await.unwrap();
    let thread = begun.thread.clone();
    begun.collect().await;
    for made_up in ["a", "b"] {
        let fresh = Message { thread: ThreadId::parse(made_up), ..at("192.0.2.1") };
        let refused = ask(&host, fresh).await.is_some();
        assert_eq!(refused, made_up == "b", "{made_up}");
    }
    // The conversation that is kept has its own.
    assert_eq!(ask(&host, Message { thread, ..at("192.0.2.1") }).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_subject_is_counted_wherever_it_asks_from_and_everybody_else_by_address() {
    let list = json!([{"kind": "limit", "by": "subject", "requests": 1, "per": "1h"}]);
    let host = host(list, ScriptedAgent::saying(["hi"])).await;
    let ada = |peer: &str| {
        let peer = Some(peer.parse().unwrap());
        from(Sender { peer, ..proven("a.example", "x:ada") })
    };
    assert_eq!(ask(&host, ada("192.0.2.1")).await, None);
    assert!(ask(&host, ada("192.0.2.2")).await.is_some());
    assert_eq!(ask(&host, at("192.0.2.2")).await, None);
    assert!(ask(&host, at("192.0.2.2")).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_before_a_limit_is_not_counted_and_what_is_refused_behind_it_is() {
    let limit = json!({"kind": "limit", "by": "address", "requests": 1, "per": "1h"});
    let identity = json!({"kind": "require_identity"});
    let behind = host(json!([identity, limit]), ScriptedAgent::saying(["hi"])).await;
    assert_eq!(ask(&behind, at("192.0.2.1")).await.unwrap().0, "unauthorized");
    assert_eq!(ask(&behind, at("192.0.2.1")).await.unwrap().0, "unauthorized");
    let before = host(json!([limit, identity]), ScriptedAgent::saying(["hi"])).await;
    assert_eq!(ask(&before, at("192.0.2.1")).await.unwrap().0, "unauthorized");
    assert_eq!(ask(&before, at("192.0.2.1")).await.unwrap().0, "too_many_requests");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_held_against_its_rules_again_is_counted_once() {
    let place = Place::default();
    let consent = json!({"kind": "require_consent", "text": "Yes?"});
    let limit = |requests: u32| json!({"kind": "limit", "by": "address", "requests": requests, "per": "1h"});
    let services = place.services.clone();
    let _host = Setup { services, ..Setup::default() }.host(ScriptedAgent::saying([])).await;
    let policy = Policy::new(place.rules(json!([limit(1), consent, limit(1)])).unwrap());
    let card = Arc::new(card("bot"));
    let (message, required) = policy.admit(card.clone(), message("hi"), &[]).await.unwrap_err();
    let Objection::Required(required) = required else { panic!() };
    let met = [*required];
    let admitted = policy.admit(card.clone(), message, &met).await.expect("counted once");
    let admitted = policy.admit(card.clone(), admitted.into_message(), &met).await.expect("counted once");
    // When it comes to a gate again over another agent, it is counted anew.
    let mut message = admitted.into_message();
    message.gate = GateNotes::arriving(false);
    let (_, again) = policy.admit(card, message, &met).await.unwrap_err();
    assert!(matches!(again, Objection::Refused(_)));
}

#[tokio::test(start_paused = true)]
async fn who_comes_while_more_replies_run_than_the_rule_says_is_told_to_come_back() {
    let agent = ScriptedAgent::new(vec![Step::Hang]);
    let host = host(json!([{"kind": "overload", "replies_running": 1, "retry_after_seconds": 7}]), agent).await;
    let first = host.receive(at("192.0.2.1"), Run::without_task()).await.unwrap();
    let second = host.receive(at("192.0.2.1"), Run::without_task()).await.unwrap();
    assert_eq!(ask(&host, at("192.0.2.2")).await, Some(("service_unavailable".into(), Some(7))));
    drop((first, second));
    tokio::task::yield_now().await;
    let third = host.receive(at("192.0.2.2"), Run::without_task()).await.unwrap();
    drop(third);
}
