//! The trip: found, admitted, answered; and every way in which it ends early.

use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Error, Event, FailureCause, Handle, Noun, PolicyPart};
use forecourt_host::Run;
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use crate::support::{Setup, message};

#[tokio::test]
async fn an_answer_comes_back() {
    let host = Setup::default().host(ScriptedAgent::saying(["hel", "lo"])).await;
    let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
    assert_eq!((answer.text().as_str(), answer.ending), ("hello", Ending::Complete));
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let host = Setup::default().host(ScriptedAgent::saying([])).await;
    let mut message = message("hi");
    message.recipient = Handle::parse("nobody").unwrap();
    let error = host.receive(message, Run::without_task()).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { what: Noun::Agent }));
}

#[tokio::test]
async fn an_agent_that_panics_has_failed_and_the_next_message_works() {
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Text("so far".into())), Step::Panic]);
    let host = Setup::default().host(agent).await;
    for _ in 0..2 {
        let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
        assert!(matches!(answer.ending, Ending::Failed { .. }));
        assert_eq!(answer.text(), "so far");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_fails_at_its_deadline() {
    let setup = Setup { time_max: Duration::from_secs(7), ..Setup::default() };
    let host = setup.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let before = tokio::time::Instant::now();
    let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
    assert_eq!(before.elapsed(), Duration::from_secs(7));
    assert_eq!(answer.ending, FailureCause::TimedOut.ending("The agent did not finish within 7 s."));
}

#[tokio::test]
async fn dropping_an_attached_reply_stops_the_agent() {
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Text("a".into())), Step::Hang]);
    let host = Setup::default().host(agent.clone()).await;
    let mut reply = host.receive(message("hi"), Run::without_task()).await.unwrap();
    reply.events.next().await;
    assert_eq!(agent.begun_and_left(), (1, 0));
    drop(reply);
    assert_eq!(agent.begun_and_left(), (1, 1));
}

#[tokio::test]
async fn a_malformed_refusal_of_an_agent_is_a_failure() {
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "no");
    part.url = Some("https://evil.example/".into());
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Refused(Box::new(part))))]);
    let host = Setup::default().host(agent).await;
    let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
    assert!(matches!(answer.ending, Ending::Failed { .. }), "{:?}", answer.ending);
}

#[tokio::test]
async fn a_draining_host_takes_nothing_more() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    host.drain(Duration::from_secs(1)).await;
    let error = host.receive(message("hi"), Run::without_task()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }));
    assert!(host.ready().await.is_err());
}
