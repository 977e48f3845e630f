//! Bounds on stored bytes, as whoever asks meets them. Design 36.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::message::text_of;
use forecourt_core::policy::RefusalKind;
use forecourt_core::store::TaskFilter;
use forecourt_core::{CallerBounds, Clock, Ending, Error, Event, Message, QuotaBound, Sender, TaskState, ThreadId};
use forecourt_host::{Host, Run, TaskAccess};
use forecourt_store::{Memory, Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::quota::noise;
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use crate::support::{Setup, handle, in_thread, message};

/// Bytes that one caller may store.
const MAX: u64 = 64 * 1024;
/// More than that.
const LONG: usize = 128 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

fn setup() -> Setup {
    Setup { store: Arc::new(Memory::bounded(CallerBounds::of_caller(MAX))), remembers: true, ..Setup::default() }
}

fn words(len: usize) -> String {
    "soup ".repeat(len / 5)
}

fn from(peer: &str, message: Message) -> Message {
    Message { sender: Sender { peer: Some(peer.parse().unwrap()), ..Sender::anonymous() }, ..message }
}

async fn tasks(setup: &Setup) -> u64 {
    let filter = TaskFilter { limit: 9, ..TaskFilter::default() };
    setup.store.tasks(filter, setup.clock.now()).await.unwrap().total
}

/// How the task of a message ends, as it is kept.
async fn ended(host: &Host, message: Message) -> (TaskState, Ending) {
    let reply = host.receive(message, Run::in_background(None)).await.unwrap();
    let id = reply.task.clone().unwrap();
    let last = reply.events.collect::<Vec<_>>().await.pop();
    let task = host.task(&id, TaskAccess::ById).await.unwrap();
    let ending = task.outcome.clone().expect("it has ended").ending;
    assert_eq!(last, Some(Event::Ending(ending.clone())));
    (task.state, ending)
}

#[tokio::test]
async fn design_36_a_task_that_there_is_no_room_for_is_an_error_that_names_the_bound() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    for run in [Run::in_background(None), Run::task_unless_message(Duration::ZERO)] {
        let error = host.receive(message(&words(LONG)), run).await.err();
        assert!(matches!(error, Some(Error::Full { bound: QuotaBound::Caller { max: MAX } })), "{error:?}");
    }
    assert_eq!(tasks(&setup).await, 0);
    assert_eq!(ended(&host, message("Dinner?")).await, (TaskState::Completed, Ending::Complete));
}

#[tokio::test]
async fn an_agent_is_not_asked_again_and_again_by_messages_that_a_full_store_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { database_bytes_max: 1024 * 1024, ..SqliteOptions::default() };
    let store = Sqlite::open(&folder.path().join("forecourt.db"), options).unwrap();
    let agent = ScriptedAgent::saying(["Soup."]);
    let host = Setup { store, ..Setup::default() }.host(agent.clone()).await;
    let long = || from("192.0.2.1", message(&noise(LONG)));
    let ask = async || host.receive(long(), Run::task_unless_message(Duration::ZERO)).await.err();
    let mut asked = 0;
    let first = loop {
        asked += 1;
        if let Some(error) = ask().await {
            break error;
        }
        assert!(asked < 100, "the store is full at last");
    };
    for error in [first, ask().await.unwrap(), ask().await.unwrap(), ask().await.unwrap()] {
        assert!(matches!(error, Error::Full { bound: QuotaBound::Store { .. } }), "{error:?}");
    }
    assert_eq!(agent.heard().len(), asked, "whoever tries again is refused before anything is done");
}

#[tokio::test]
async fn design_36_of_200_messages_at_once_each_that_is_acknowledged_has_its_answer() {
    let callers = CallerBounds { answer_wanted: 8 * 1024, ..CallerBounds::of_caller(MAX) };
    let setup = Setup { store: Arc::new(Memory::bounded(callers)), remembers: true, ..Setup::default() };
    let answer = words(700);
    let host = setup.host(ScriptedAgent::saying([&answer])).await;
    let ask = || host.receive(from("192.0.2.1", message("Dinner?")), Run::in_background(None));
    let (mut kept, mut refused) = (0, 0);
    for reply in futures::future::join_all((0..200).map(|_| ask())).await {
        match reply {
            Ok(reply) => {
                let id = reply.task.clone().unwrap();
                let _events = reply.events.collect::<Vec<_>>().await;
                let task = host.task(&id, TaskAccess::ById).await.unwrap();
                let said = task.outcome.clone().expect("it has ended");
                assert_eq!((task.state, text_of(&said.parts)), (TaskState::Completed, answer.clone()));
                kept += 1;
            }
            Err(Error::Full { bound: QuotaBound::Caller { max: MAX } }) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(kept >= 6 && refused > 0, "{kept} were kept, {refused} refused");
}

#[tokio::test(start_paused = true)]
async fn design_36_a_slow_answer_that_there_is_no_room_for_is_refused_by_the_name_of_the_bound() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::new(vec![Step::Wait(PATIENCE * 2)])).await;
    let reply = host.receive(message(&words(LONG)), Run::task_if_slow(PATIENCE)).await.unwrap();
    let events = reply.events.collect::<Vec<_>>().await;
    let [Event::Ending(Ending::Refused(part))] = &events[..] else { panic!("{events:?}") };
    assert!(matches!(part.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(_) }));
    assert!(part.message.contains("limits.stored_bytes_per_caller"), "{}", part.message);
    assert_eq!(tasks(&setup).await, 0);
}

/// By events that don't fit, and by an outcome that doesn't.
#[tokio::test]
async fn design_36_a_task_whose_answer_does_not_fit_ends_and_names_the_bound() {
    for len in [LONG, MAX as usize * 2 / 3] {
        let host = setup().host(ScriptedAgent::saying([&words(len)])).await;
        let (state, ending) = ended(&host, message("Dinner?")).await;
        let Ending::Failed { reason, .. } = ending else { panic!("{ending:?}") };
        assert_eq!(state, TaskState::Failed);
        assert!(reason.contains("limits.stored_bytes_per_caller"), "{reason}");
    }
}

#[tokio::test]
async fn design_36_a_conversation_counts_for_its_caller_and_keeps_no_address() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let ask = async |peer: &str, text: &str, thread: Option<ThreadId>| {
        let reply = host.receive(from(peer, in_thread(text, thread)), Run::without_task()).await.unwrap();
        let thread = reply.thread.clone().unwrap();
        let _events = reply.events.collect::<Vec<_>>().await;
        host.write_conversations().await;
        let kept = setup.store.thread(&thread, &handle(), setup.clock.now()).await.unwrap();
        (thread, kept.map(|kept| kept.turns).unwrap_or_default())
    };
    let half = words(MAX as usize / 2);
    let (_, turns) = ask("192.0.2.1", &half, None).await;
    assert_eq!(turns.iter().map(|turn| text_of(&turn.parts)).collect::<Vec<_>>(), [half.as_str(), "Soup."]);
    assert!(turns.iter().all(|turn| turn.sender.peer.is_none()));
    let (_, turns) = ask("192.0.2.1", &half, None).await;
    assert_eq!(turns, [], "there is no room for it");
    let (_, turns) = ask("192.0.2.2", &half, None).await;
    assert_eq!(turns.len(), 2, "another caller has room of its own");
}
