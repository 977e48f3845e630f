//! Questions to the operator: asked once, answered once, and bounded.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Error;
use forecourt_host::{
    Answer, Answered, Decision, Host, Inquiry, QUEUE_TTL, QUEUE_WAITING_MAX, QUEUE_WAITING_PER_CALLER_MAX,
};
use forecourt_testkit::Scripted;
use serde_json::json;

use crate::support::Setup;

fn inquiry(by: &str, subject: &str) -> Inquiry {
    Inquiry {
        by: Some(by.to_owned()),
        agent: None,
        subject: subject.to_owned(),
        reason: "ambiguous_instruction".to_owned(),
        urgency: "normal".to_owned(),
        context: json!({"question": "Which room?"}),
        due: None,
    }
}

fn answer(host: &Host, decision: Decision) -> Answer {
    Answer { decision, reason: None, by: "operator".to_owned(), at: host.clock().now() }
}

async fn host() -> Arc<Host> {
    Setup::default().host(Scripted::saying(["answer"])).await
}

#[tokio::test]
async fn a_question_that_nobody_asked_is_unknown() {
    let host = host().await;
    assert_eq!(host.question("x").await.unwrap(), None);
    assert_eq!(host.answer_question("x", answer(&host, Decision::Accepted)).await.unwrap(), Answered::Unknown);
}

#[tokio::test]
async fn the_same_question_waits_once() {
    let host = host().await;
    let first = host.ask_operator(inquiry("ann", "t1")).await.unwrap();
    assert_eq!(host.ask_operator(inquiry("ann", "t1")).await.unwrap(), first);
    for other in [inquiry("bob", "t1"), inquiry("ann", "t2")] {
        assert_ne!(host.ask_operator(other).await.unwrap().id, first.id);
    }
    assert_eq!(host.questions().await.unwrap().len(), 3);
}

#[tokio::test]
async fn an_answer_stays_and_a_deferred_question_waits_on() {
    let host = host().await;
    let id = host.ask_operator(inquiry("ann", "t1")).await.unwrap().id;
    for decision in [Decision::Deferred, Decision::Rejected] {
        assert!(host.question(&id).await.unwrap().unwrap().waits());
        let answered = host.answer_question(&id, answer(&host, decision)).await.unwrap();
        assert!(matches!(answered, Answered::Now(_)));
    }
    let late = host.answer_question(&id, answer(&host, Decision::Accepted)).await.unwrap();
    let Answered::Before(asked) = late else { panic!("{late:?}") };
    assert_eq!(asked.answer.unwrap().decision, Decision::Rejected);
}

#[tokio::test]
async fn of_many_answers_at_once_one_counts() {
    let host = host().await;
    let id = host.ask_operator(inquiry("ann", "t1")).await.unwrap().id;
    let answers = (0..8).map(|_| host.answer_question(&id, answer(&host, Decision::Accepted)));
    let answers = futures::future::join_all(answers).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Answered::Now(_)))).count(), 1);
}

#[tokio::test]
async fn a_caller_has_a_bounded_number_of_questions_waiting() {
    let host = host().await;
    for n in 0..QUEUE_WAITING_PER_CALLER_MAX {
        host.ask_operator(inquiry("ann", &n.to_string())).await.unwrap();
    }
    assert!(matches!(host.ask_operator(inquiry("ann", "one more")).await, Err(Error::Unavailable { .. })));
    let first = host.questions().await.unwrap().remove(0);
    let _ = host.answer_question(&first.id, answer(&host, Decision::Accepted)).await.unwrap();
    host.ask_operator(inquiry("ann", "one more")).await.unwrap();
}

#[tokio::test]
async fn all_callers_together_have_too() {
    let host = host().await;
    for n in 0..QUEUE_WAITING_MAX {
        host.ask_operator(inquiry(&(n / 20).to_string(), &n.to_string())).await.unwrap();
    }
    assert!(matches!(host.ask_operator(inquiry("ann", "one more")).await, Err(Error::Unavailable { .. })));
}

#[tokio::test]
async fn questions_survive_a_restart_and_expire() {
    let setup = Setup::default();
    let again = Setup { store: setup.store.clone(), clock: setup.clock.clone(), ..Setup::default() };
    let clock = setup.clock.clone();
    let asked = setup.host(Scripted::saying(["a"])).await.ask_operator(inquiry("ann", "t1")).await.unwrap();
    let host = again.host(Scripted::saying(["a"])).await;
    clock.advance(QUEUE_TTL - Duration::from_secs(1));
    assert_eq!(host.question(&asked.id).await.unwrap(), Some(asked.clone()));
    clock.advance(Duration::from_secs(1));
    assert_eq!(host.question(&asked.id).await.unwrap(), None);
}
