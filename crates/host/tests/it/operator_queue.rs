//! Questions to the operator: asked once, answered once, and bounded.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use forecourt_core::store::TaskFilter;
use forecourt_core::{Clock, Error, Timestamp};
use forecourt_egress::signature;
use forecourt_host::{
    Host, OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorInquiry, OperatorWebhook, QUESTION_RETRIES,
    QUEUE_TTL, QUEUE_WAITING_MAX, QUEUE_WAITING_PER_CALLER_MAX,
};
use forecourt_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::deliver::{open_to_loopback, receiver};
use crate::support::Setup;

const SECRET: &str = "a-secret-of-the-operator";

fn inquiry(by: &str, subject: &str) -> OperatorInquiry {
    OperatorInquiry {
        by: Some(by.to_owned()),
        agent: None,
        subject: subject.to_owned(),
        reason: "ambiguous_instruction".to_owned(),
        urgency: "normal".to_owned(),
        context: json!({"question": "Which room?"}),
        due: None,
    }
}

fn answer(host: &Host, decision: OperatorDecision) -> OperatorAnswer {
    OperatorAnswer { decision, reason: None, by: "operator".to_owned(), at: host.clock().now() }
}

async fn host() -> Arc<Host> {
    Setup::default().host(ScriptedAgent::saying(["answer"])).await
}

#[tokio::test]
async fn a_question_that_nobody_asked_is_unknown() {
    let host = host().await;
    assert_eq!(host.operator().question("x").await.unwrap(), None);
    assert_eq!(
        host.operator().answer("x", answer(&host, OperatorDecision::Accepted)).await.unwrap(),
        OperatorAnswerOutcome::Unknown
    );
}

#[tokio::test]
async fn the_same_question_waits_once() {
    let host = host().await;
    let first = host.inquiries().ask(inquiry("ann", "t1")).await.unwrap();
    assert_eq!(host.inquiries().ask(inquiry("ann", "t1")).await.unwrap(), first);
    for other in [inquiry("bob", "t1"), inquiry("ann", "t2")] {
        assert_ne!(host.inquiries().ask(other).await.unwrap().id, first.id);
    }
    assert_eq!(host.operator().questions().await.unwrap().len(), 3);
}

#[tokio::test]
async fn an_answer_stays_and_a_deferred_question_waits_on() {
    let host = host().await;
    let id = host.inquiries().ask(inquiry("ann", "t1")).await.unwrap().id;
    for decision in [OperatorDecision::Deferred, OperatorDecision::Rejected] {
        assert!(host.operator().question(&id).await.unwrap().unwrap().waits());
        let answered = host.operator().answer(&id, answer(&host, decision)).await.unwrap();
        assert!(matches!(answered, OperatorAnswerOutcome::Now(_)));
    }
    let late = host.operator().answer(&id, answer(&host, OperatorDecision::Accepted)).await.unwrap();
    let OperatorAnswerOutcome::Before(asked) = late else { panic!("{late:?}") };
    assert_eq!(asked.answer.unwrap().decision, OperatorDecision::Rejected);
}

#[tokio::test]
async fn of_many_answers_at_once_one_counts() {
    let host = host().await;
    let id = host.inquiries().ask(inquiry("ann", "t1")).await.unwrap().id;
    let answers = (0..8).map(|_| host.operator().answer(&id, answer(&host, OperatorDecision::Accepted)));
    let answers = futures::future::join_all(answers).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(OperatorAnswerOutcome::Now(_)))).count(), 1);
}

#[tokio::test]
async fn a_caller_has_a_bounded_number_of_questions_waiting() {
    let host = host().await;
    for n in 0..QUEUE_WAITING_PER_CALLER_MAX {
        host.inquiries().ask(inquiry("ann", &n.to_string())).await.unwrap();
    }
    assert!(matches!(host.inquiries().ask(inquiry("ann", "one more")).await, Err(Error::Unavailable { .. })));
    let first = host.operator().questions().await.unwrap().remove(0);
    let _ = host.operator().answer(&first.id, answer(&host, OperatorDecision::Accepted)).await.unwrap();
    host.inquiries().ask(inquiry("ann", "one more")).await.unwrap();
}

#[tokio::test]
async fn all_callers_together_have_too() {
    let host = host().await;
    for n in 0..QUEUE_WAITING_MAX {
        host.inquiries().ask(inquiry(&(n / 20).to_string(), &n.to_string())).await.unwrap();
    }
    assert!(matches!(host.inquiries().ask(inquiry("ann", "one more")).await, Err(Error::Unavailable { .. })));
}

#[tokio::test]
async fn questions_survive_a_restart_and_expire() {
    let setup = Setup::default();
    let again = Setup { store: setup.store.clone(), clock: setup.clock.clone(), ..Setup::default() };
    let clock = setup.clock.clone();
    let asked = setup.host(ScriptedAgent::saying(["a"])).await.inquiries().ask(inquiry("ann", "t1")).await.unwrap();
    let host = again.host(ScriptedAgent::saying(["a"])).await;
    clock.advance(QUEUE_TTL - Duration::from_secs(1));
    assert_eq!(host.operator().question(&asked.id).await.unwrap(), Some(asked.clone()));
    clock.advance(Duration::from_secs(1));
    assert_eq!(host.operator().question(&asked.id).await.unwrap(), None);
}

/// A host that tells of questions at this URL.
fn telling(url: &str) -> Setup {
    let operator = OperatorWebhook { url: url.to_owned(), secret: SECRET.to_owned() };
    Setup { operator: Some(operator), ..open_to_loopback() }
}

fn failed(host: &Host) -> bool {
    let mut registry = prometheus_client::registry::Registry::default();
    host.metrics().register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    text.contains("deliveries_total{of=\"operator\",outcome=\"failed\"}")
}

#[tokio::test]
async fn a_webhook_that_may_not_be_reached_keeps_nobody_from_asking() {
    let setup = Setup { egress: Default::default(), ..telling("http://127.0.0.1:9/hook") };
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    let asked = host.inquiries().ask(inquiry("ann", "t1")).await.unwrap();
    assert_eq!(host.operator().question(&asked.id).await.unwrap(), Some(asked));
    while !failed(&host) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_post_that_is_not_taken_waits_for_its_next_attempt() {
    let (url, mut received) = receiver(StatusCode::INTERNAL_SERVER_ERROR).await;
    let setup = telling(&url);
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    host.inquiries().ask(inquiry("ann", "t1")).await.unwrap();
    received.recv().await.unwrap();
    while !failed(&host) {
        tokio::task::yield_now().await;
    }
    setup.stop.cancel();
    host.stopped().await;
    let soon = setup.clock.now() + Duration::from_secs(60);
    let waiting = setup.store.claim_deliveries(soon, soon, 9).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].attempts, waiting[0].webhook.retries), (1, 1, QUESTION_RETRIES));
}

#[tokio::test]
async fn a_question_is_told_once_signed_and_without_what_is_secret() {
    let (url, mut received) = receiver(StatusCode::OK).await;
    let setup = telling(&url);
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    let due = Timestamp::from_second(2_000_000_000).unwrap();
    let inquiry = OperatorInquiry { due: Some(due), ..inquiry("ann", "the-name-of-a-task") };
    let asked = host.inquiries().ask(inquiry.clone()).await.unwrap();
    let (headers, body) = received.recv().await.unwrap();
    let signed = headers[signature::HEADER].to_str().unwrap();
    assert!(signature::verify(SECRET.as_bytes(), body.as_bytes(), signed));
    let told: Value = serde_json::from_str(&body).unwrap();
    let expected = json!({
        "event": "question", "id": asked.id, "by": "ann", "reason": "ambiguous_instruction", "urgency": "normal",
        "asked_at": asked.asked_at, "due": due,
    });
    assert_eq!(told, expected);
    assert!(!body.contains("the-name-of-a-task") && !body.contains("Which room?"));
    assert_eq!(host.inquiries().ask(inquiry).await.unwrap(), asked);
    assert!(received.try_recv().is_err(), "it waits already");
    let tasks = setup.store.tasks(TaskFilter { limit: 9, ..TaskFilter::default() }, setup.clock.now()).await.unwrap();
    let owners: Vec<_> = tasks.tasks.iter().map(|task| (&task.owner, &task.thread)).collect();
    assert!(owners.iter().all(|owner| *owner == (&None, &None)), "{owners:?}");
}

#[tokio::test]
async fn what_was_not_told_before_the_end_is_told_by_the_next_run() {
    let (url, mut received) = receiver(StatusCode::OK).await;
    let mut setup = telling(&url);
    setup.stop.cancel();
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    host.stopped().await;
    let asked = host.inquiries().ask(inquiry("ann", "t1")).await.unwrap();
    setup.stop = tokio_util::sync::CancellationToken::new();
    let _next = setup.host(ScriptedAgent::saying(["x"])).await;
    assert!(received.recv().await.unwrap().1.contains(&asked.id));
}

#[test]
fn a_webhook_of_the_operator_shows_nothing() {
    let webhook = OperatorWebhook { url: "https://hooks.example/T0PSECRET".to_owned(), secret: SECRET.to_owned() };
    let shown = format!("{webhook:?}");
    assert!(!shown.contains(SECRET) && !shown.contains("T0PSECRET"), "{shown}");
}
