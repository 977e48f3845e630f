//! Conversations: recalled, kept, and never adopted.

use std::time::Duration;

use forecourt_core::limits::THREAD_TTL;
use forecourt_core::{Ending, Event, Part, ThreadId, Turn};
use forecourt_host::Run;
use forecourt_testkit::{CountedEntropy, Scripted, Step};

use crate::support::{Setup, in_thread, message};

fn setup() -> Setup {
    Setup { remembers: true, ..Setup::default() }
}

fn texts(history: &[Turn]) -> Vec<&str> {
    history.iter().flat_map(|turn| turn.parts.iter().filter_map(Part::as_text)).collect()
}

#[tokio::test]
async fn s6_a_follow_up_hears_what_was_said_before() {
    let agent = Scripted::saying(["answer"]);
    let host = setup().host(agent.clone()).await;
    let first = host.receive(message("one"), Run::Attached).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    let second = host.receive(in_thread("two", thread.clone()), Run::Attached).await.unwrap();
    assert_eq!(second.thread, thread);
    second.collect().await;
    host.receive(in_thread("three", thread), Run::Attached).await.unwrap().collect().await;
    let heard = agent.heard();
    assert_eq!(texts(&heard[0].history), [""; 0]);
    assert_eq!(texts(&heard[1].history), ["one", "answer"]);
    assert_eq!(texts(&heard[2].history), ["one", "answer", "two", "answer"]);
}

#[tokio::test]
async fn s6_a_token_that_is_not_ours_begins_afresh_and_is_not_adopted() {
    let host = setup().host(Scripted::saying(["answer"])).await;
    let foreign = ThreadId::mint(&CountedEntropy::default());
    let reply = host.receive(in_thread("hi", Some(foreign.clone())), Run::Attached).await.unwrap();
    assert!(reply.thread.is_some());
    assert_ne!(reply.thread, Some(foreign));
}

#[tokio::test]
async fn s6_a_conversation_ends_with_its_time() {
    let setup = setup();
    let agent = Scripted::saying(["answer"]);
    let host = setup.host(agent.clone()).await;
    let first = host.receive(message("one"), Run::Attached).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    setup.clock.advance(THREAD_TTL - Duration::from_secs(1));
    host.receive(in_thread("two", thread.clone()), Run::Attached).await.unwrap().collect().await;
    setup.clock.advance(THREAD_TTL);
    host.receive(in_thread("three", thread), Run::Attached).await.unwrap().collect().await;
    let heard = agent.heard();
    assert_eq!(heard[1].history.len(), 2);
    assert_eq!(heard[2].history.len(), 0);
}

#[tokio::test]
async fn history_that_came_with_the_message_stands_instead_of_ours() {
    let agent = Scripted::saying(["answer"]);
    let host = setup().host(agent.clone()).await;
    let first = host.receive(message("one"), Run::Attached).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    let mut next = in_thread("two", thread);
    next.history = vec![Turn::text(forecourt_core::Role::User, "brought along")];
    host.receive(next, Run::Attached).await.unwrap().collect().await;
    assert_eq!(texts(&agent.heard()[1].history), ["brought along"]);
}

#[tokio::test]
async fn a_failed_answer_leaves_no_trace() {
    let failing = Scripted::new(vec![Step::Do(Event::Ending(Ending::Failed { reason: "no".into() }))]);
    let host = setup().host(failing.clone()).await;
    let first = host.receive(message("one"), Run::Attached).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    host.receive(in_thread("two", thread), Run::Attached).await.unwrap().collect().await;
    assert_eq!(failing.heard()[1].history.len(), 0);
}

#[tokio::test]
async fn an_agent_without_a_memory_gives_no_token() {
    let host = Setup::default().host(Scripted::saying(["x"])).await;
    assert_eq!(host.receive(message("hi"), Run::Attached).await.unwrap().thread, None);
}

#[tokio::test]
async fn a_name_that_a_client_made_up_is_adopted_for_its_owner() {
    let agent = Scripted::saying(["ok"]);
    let setup = Setup { remembers: true, ..Setup::default() };
    let host = setup.host(agent.clone()).await;
    let adopt = |owner| ThreadId::adopt("ctx-1", owner);
    for (owner, text) in [(Some("ann"), "one"), (Some("ann"), "two"), (Some("bob"), "three"), (None, "four")] {
        let reply = host.receive(in_thread(text, adopt(owner)), Run::Attached).await.unwrap();
        assert_eq!(reply.thread, adopt(owner));
        assert_eq!(reply.thread.as_ref().map(ThreadId::expose), Some("ctx-1"));
        reply.collect().await;
    }
    let lengths: Vec<usize> = agent.heard().iter().map(|message| message.history.len()).collect();
    assert_eq!(lengths, [0, 2, 0, 0]);
}

#[tokio::test]
async fn an_adopted_name_stays_with_an_agent_that_remembers_nothing() {
    let agent = Scripted::saying(["ok"]);
    let host = Setup::default().host(agent.clone()).await;
    let named = ThreadId::adopt("ctx-1", None);
    for run in [Run::Attached, Run::Tracked { webhook: None, continues: None, patience: Duration::ZERO }] {
        let reply = host.receive(in_thread("x", named.clone()), run).await.unwrap();
        assert_eq!(reply.thread, named);
        if let Some(task) = &reply.task {
            assert_eq!(host.task(task).await.unwrap().thread, named);
        }
        reply.collect().await;
    }
    assert!(agent.heard().iter().all(|message| message.history.is_empty()));
}
