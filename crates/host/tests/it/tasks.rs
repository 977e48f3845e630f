//! Tasks: they outlive connections, and end exactly once.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::store::TaskChange;
use forecourt_core::{Ending, Error, Event, FailureCause, File, FileSource, Part, Task, TaskId, TaskState, Timestamp};
use forecourt_host::{Host, Run, TaskAccess};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use crate::support::{Setup, message};

async fn begin(host: &Host) -> TaskId {
    let reply = host.receive(message("work"), Run::in_background(None)).await.unwrap();
    reply.task.unwrap()
}

async fn ended(host: &Host, id: &TaskId) -> Task {
    let mut events = host.task(id, TaskAccess::ById).await.unwrap().subscribe(0);
    while events.next().await.is_some() {}
    loop {
        let task = host.task(id, TaskAccess::ById).await.unwrap();
        if task.state.is_settled() {
            return task.task().clone();
        }
        tokio::task::yield_now().await;
    }
}

fn text(text: &str) -> Step {
    Step::Do(Event::Text(text.to_owned()))
}

fn complete() -> Step {
    Step::Do(Event::Ending(Ending::Complete))
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_on_without_its_caller_and_can_be_read() {
    let agent = ScriptedAgent::new(vec![text("a"), Step::Wait(Duration::from_secs(3)), text("b"), complete()]);
    let host = Setup::default().host(agent).await;
    let id = begin(&host).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Working);
    let task = ended(&host, &id).await;
    assert_eq!(task.state, TaskState::Completed);
    assert_eq!(task.outcome.unwrap().text(), "ab");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_resumes_after_any_event_and_loses_none() {
    let steps = vec![text("a"), Step::Wait(Duration::from_secs(1)), text("b"), text("c"), complete()];
    let host = Setup::default().host(ScriptedAgent::new(steps)).await;
    let id = begin(&host).await;
    let all: Vec<Event> = host.task(&id, TaskAccess::ById).await.unwrap().subscribe(0).collect().await;
    assert_eq!(all.len(), 4);
    for after in 0..4 {
        let rest: Vec<Event> = host.task(&id, TaskAccess::ById).await.unwrap().subscribe(after).collect().await;
        assert_eq!(rest, all[after as usize..], "after {after}");
    }
}

#[tokio::test]
async fn a_file_becomes_an_artifact_of_its_task() {
    let file = File::inline("image/png", Some("a.png".into()), bytes::Bytes::from_static(b"png"));
    let host =
        Setup::default().host(ScriptedAgent::new(vec![Step::Do(Event::Part(Part::File(file))), complete()])).await;
    let id = begin(&host).await;
    let task = ended(&host, &id).await;
    let Part::File(kept) = &task.outcome.unwrap().parts[0] else { panic!("no file") };
    assert_eq!(kept.source, FileSource::Kept);
    let artifact = host.task(&id, TaskAccess::ById).await.unwrap().artifact(kept.id.as_deref().unwrap()).await.unwrap();
    assert_eq!(&artifact.bytes[..], b"png");
    let other = begin(&host).await;
    ended(&host, &other).await;
    assert!(host.task(&other, TaskAccess::ById).await.unwrap().artifact("artifact-9").await.is_err());
}

#[tokio::test]
async fn cancelling_reaches_the_agent_and_is_final() {
    let agent = ScriptedAgent::new(vec![text("a"), Step::Hang]);
    let host = Setup::default().host(agent.clone()).await;
    let id = begin(&host).await;
    let task = host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    assert_eq!(task.state, TaskState::Canceled);
    while agent.begun_and_left().1 == 0 {
        tokio::task::yield_now().await;
    }
    let error = host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap_err();
    assert!(matches!(error, Error::Conflict { state: TaskState::Canceled, .. }));
}

#[tokio::test]
async fn s5_4_1_a_task_is_gone_after_an_hour() {
    let setup = Setup::default();
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    let id = begin(&host).await;
    ended(&host, &id).await;
    setup.clock.advance(TASK_TTL - Duration::from_secs(1));
    host.task(&id, TaskAccess::ById).await.unwrap();
    setup.clock.advance(Duration::from_secs(1));
    assert!(matches!(host.task(&id, TaskAccess::ById).await.unwrap_err(), Error::NotFound { .. }));
}

#[tokio::test]
async fn a_task_of_a_run_that_died_is_found_at_start_and_ends_as_failed() {
    let setup = Setup::default();
    let before = setup.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let id = begin(&before).await;
    let after = setup.host(ScriptedAgent::saying(["x"])).await;
    let task = after.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!(task.state, TaskState::Failed);
    assert_eq!(
        task.outcome.clone().unwrap().ending,
        FailureCause::NodeLost.ending("The host stopped while this was running.")
    );
    let rest: Vec<Event> = task.subscribe(0).collect().await;
    assert!(matches!(rest.last(), Some(Event::Ending(Ending::Failed { .. }))));
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_work_and_ends_what_is_left_with_a_reason() {
    let quick = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(5)), complete()]);
    let host = Setup::default().host(quick).await;
    let id = begin(&host).await;
    host.drain(Duration::from_secs(30)).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Completed);

    let host = Setup::default().host(ScriptedAgent::new(vec![Step::Hang])).await;
    let id = begin(&host).await;
    host.drain(Duration::from_secs(30)).await;
    let task = host.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!(task.state, TaskState::Failed);
    assert_eq!(
        task.outcome.clone().unwrap().ending,
        FailureCause::NodeLost.ending("The host was shut down before this was done.")
    );
}

#[tokio::test]
async fn a_refused_background_task_ends_as_its_refusal_says() {
    let part = forecourt_core::PolicyPart::new(forecourt_core::policy::RefusalKind::Forbidden, "no");
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Refused(Box::new(part))))]);
    let host = Setup::default().host(agent).await;
    let id = begin(&host).await;
    assert_eq!(ended(&host, &id).await.state, TaskState::Rejected);
}

#[tokio::test]
async fn an_end_that_came_first_stands() {
    let setup = Setup::default();
    let host = setup.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let id = begin(&host).await;
    let run = host.task(&id, TaskAccess::ById).await.unwrap().run.clone();
    let change = |to| TaskChange {
        from: TaskState::Working,
        run: run.clone(),
        to,
        outcome: None,
        at: Timestamp::UNIX_EPOCH,
        resume: None,
    };
    let store: &Arc<dyn forecourt_core::Store> = &setup.store;
    assert!(store.advance_task(&id, change(TaskState::Completed)).await.unwrap());
    assert!(!store.advance_task(&id, change(TaskState::Failed)).await.unwrap());
}
