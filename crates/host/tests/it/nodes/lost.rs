//! Nodes that are lost while they work for agents whose tasks go on elsewhere: once, from what was kept, and for those
//! who follow as one stream.

use forecourt_core::{Sender, Turn};
use forecourt_host::{JOURNAL_BYTES_MAX, OnLost, TaskName, WORK_TRIES_MAX};
use serde_json::json;

use super::outage::named;
use super::*;

fn restarting() -> Cluster {
    of(OnLost::Restart)
}

pub(super) fn of(on_lost: OnLost) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.setup.on_lost = on_lost;
    cluster
}

/// Loses a node: it does not reach the store any more, and its lease runs out.
pub(super) async fn lose(node: &Node) {
    node.store.set_away(true);
    pass(LEASE * 2).await;
}

fn texts(events: &[(u64, Event)]) -> String {
    let text = |(_, event): &(u64, Event)| match event {
        Event::Text(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn notes(events: &[(u64, Event)]) -> usize {
    events.iter().filter(|(_, event)| matches!(event, Event::Progress(_))).count()
}

pub(super) fn failure(events: &[(u64, Event)]) -> String {
    match events.last() {
        Some((_, Event::Ending(Ending::Failed { reason, .. }))) => reason.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_lost_node_is_begun_anew_by_one_of_two_and_followed_as_one_stream() {
    let cluster = restarting();
    let dead = cluster.node(ScriptedAgent::new(vec![text("Once "), text("upon"), Step::Hang])).await;
    let again = ScriptedAgent::new(vec![text("Once upon a "), Step::Wait(LEASE), text("time"), complete()]);
    let (two, three) = (cluster.node(again.clone()).await, cluster.node(again.clone()).await);
    let mut asked = message("work");
    asked.sender = Sender { address: "@ann@demo.localhost".to_owned(), verified: true, ..asked.sender };
    asked.hop = 2;
    asked.metadata.insert("tone".to_owned(), json!("dry"));
    asked.history = vec![Turn::text(forecourt_core::Role::User, "before")].into();
    let reply = dead.host.receive(asked.clone(), Run::in_background(None)).await.unwrap();
    let id = reply.task.unwrap();
    pass(Duration::from_secs(1)).await;
    let ((on_two, on_three), ()) =
        tokio::join!(async { tokio::join!(follow(&two, &id, 0), follow(&three, &id, 2)) }, lose(&dead));
    assert_eq!(again.begun_and_left(), (1, 1), "one of the two nodes has begun it");
    assert_eq!(texts(&on_two), "Once upon a time");
    assert_eq!(
        on_two.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        (1..=on_two.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(notes(&on_two), 1, "a sign that another node goes on");
    assert_eq!(on_three, on_two[2..]);
    let ended = two.host.task(&id, TaskAccess::Operator).await.unwrap();
    assert_eq!(
        (ended.state, ended.outcome.as_ref().unwrap().text()),
        (TaskState::Completed, "Once upon a time".into())
    );
    let heard = again.heard().remove(0);
    assert_eq!((heard.text(), heard.sender, heard.hop), (asked.text(), asked.sender, 2));
    assert_eq!((heard.metadata, heard.history, heard.received_via), (asked.metadata, asked.history, "test"));
    pass(LEASE * 4).await;
    assert_eq!(again.heard().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_later_try_that_says_something_else_is_told_behind_a_sign_and_is_the_whole_answer() {
    let cluster = restarting();
    let dead = cluster.node(ScriptedAgent::new(vec![text("Soup"), Step::Hang])).await;
    let two = cluster.node(ScriptedAgent::saying(["Salad"])).await;
    let id = begin(&dead).await;
    pass(Duration::from_secs(1)).await;
    lose(&dead).await;
    let events = follow(&two, &id, 0).await;
    assert_eq!((texts(&events).as_str(), notes(&events)), ("Soup\n\nSalad", 2));
    let ended = two.host.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!(ended.outcome.as_ref().unwrap().text(), "Salad");
}

#[tokio::test(start_paused = true)]
async fn what_kills_its_node_is_begun_three_times_and_then_ends_with_its_cause() {
    assert_eq!(WORK_TRIES_MAX, 3);
    let cluster = restarting();
    let deadly = ScriptedAgent::new(vec![text("a"), Step::Hang]);
    let mut id = None;
    for tries in 1..=WORK_TRIES_MAX as usize {
        let node = cluster.node(deadly.clone()).await;
        let id = match &id {
            Some(id) => id,
            None => &*id.insert(begin(&node).await),
        };
        pass(LEASE * 2).await;
        assert_eq!((deadly.begun_and_left().0, state(&node, id).await), (tries, TaskState::Working));
        node.store.set_away(true);
        node.stop.cancel();
        if tries < WORK_TRIES_MAX as usize {
            continue;
        }
        // The fourth time is none.
        let last = cluster.node(deadly.clone()).await;
        pass(LEASE * 2).await;
        assert_eq!(deadly.begun_and_left().0, 3);
        let events = follow(&last, id, 0).await;
        assert!(failure(&events).contains("3 times"), "{events:?}");
        assert_eq!(texts(&events), "a");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_cancelled_while_its_node_was_lost_is_not_begun_anew_and_one_that_was_taken_up_stops() {
    for is_taken_up in [false, true] {
        let cluster = restarting();
        let dead = cluster.node(ScriptedAgent::new(vec![text("a"), Step::Hang])).await;
        let again = ScriptedAgent::new(vec![text("a"), Step::Hang]);
        let two = cluster.node(again.clone()).await;
        let id = begin(&dead).await;
        pass(Duration::from_secs(1)).await;
        match is_taken_up {
            true => lose(&dead).await,
            false => dead.store.set_away(true),
        }
        let permit = two.host.task(&id, TaskAccess::ById).await.unwrap();
        assert_eq!(permit.cancel().await.unwrap().state, TaskState::Canceled);
        pass(LEASE * 2).await;
        assert_eq!(again.begun_and_left(), if is_taken_up { (1, 1) } else { (0, 0) });
        let events = follow(&two, &id, 0).await;
        assert_eq!(events.last().unwrap().1, Event::Ending(Ending::Canceled));
        assert_eq!(events.iter().filter(|(_, event)| matches!(event, Event::Ending(_))).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_goes_on_after_a_question_is_asked_its_last_turn_again() {
    // A message that answers a question may have a name as well, as each of A2A has.
    for name in [None, named("m2").name] {
        goes_on_after_a_question(name).await;
    }
}

async fn goes_on_after_a_question(name: Option<Arc<TaskName>>) {
    let cluster = restarting();
    let question = Question { text: "Which?".to_owned(), questions: Vec::new() };
    let asks = ScriptedAgent::new(vec![text("Well."), Step::Do(Event::Ending(Ending::Question(question)))]);
    let one = cluster.node(asks).await;
    let id = begin(&one).await;
    pass(Duration::from_secs(1)).await;
    let dead = cluster.node(ScriptedAgent::new(vec![text("This "), Step::Hang])).await;
    let permit = dead.host.task(&id, TaskAccess::ById).await.unwrap();
    let next = Message { id: forecourt_core::MessageId::parse("m2").unwrap(), ..message("this one") };
    let run = Run { name, ..Run::next_turn(permit, Duration::ZERO) };
    drop(dead.host.receive(next, run).await.unwrap());
    pass(Duration::from_secs(1)).await;
    one.host.drain(Duration::from_secs(1)).await;
    one.stop.cancel();
    let again = ScriptedAgent::saying(["This one."]);
    let two = cluster.node(again.clone()).await;
    lose(&dead).await;
    let heard = again.heard().remove(0);
    assert_eq!((heard.id.as_str(), heard.text().as_str(), heard.history.len()), ("m2", "this one", 2));
    let events = follow(&two, &id, 0).await;
    assert_eq!((texts(&events).as_str(), notes(&events)), ("Well.This one.", 1));
    let ended = two.host.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!((ended.turns.len(), ended.outcome.as_ref().unwrap().text()), (3, "This one.".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_in_order_leaves_its_work_to_another_and_that_is_no_try() {
    let cluster = restarting();
    let slow = ScriptedAgent::new(vec![text("a"), Step::Hang]);
    let mut node = cluster.node(slow.clone()).await;
    let id = begin(&node).await;
    for round in 1..=WORK_TRIES_MAX as usize + 2 {
        pass(Duration::from_secs(1)).await;
        let next = cluster.node(slow.clone()).await;
        node.host.drain(Duration::from_secs(1)).await;
        assert_eq!(state(&node, &id).await, TaskState::Working);
        node.stop.cancel();
        node.host.stopped().await;
        pass(LEASE / 5).await;
        assert_eq!(slow.begun_and_left(), (round + 1, round));
        node = next;
    }
    node.host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    assert_eq!(texts(&follow(&node, &id, 0).await), "a");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_as_many_bytes_as_are_kept_is_asked_again_and_a_larger_one_ends_with_its_node() {
    // What stands around the words as they are kept is found out by the store.
    let around = {
        let cluster = restarting();
        let one = cluster.node(ScriptedAgent::new(vec![Step::Hang])).await;
        let id = begin(&one).await;
        let stream = format!("host:work:{}", forecourt_host::topics::task(&id).strip_prefix("task.").unwrap());
        let span = forecourt_core::store::Span::After(0);
        let entries = cluster.store.entries(&stream, span, 9, forecourt_core::Timestamp::UNIX_EPOCH).await.unwrap();
        serde_json::to_vec(&entries[0].1.body).unwrap().len()
    };
    // The words are written twice in a part of text.
    let fitting = (JOURNAL_BYTES_MAX - around) / 2 + "work".len();
    for (words, goes_on) in [(fitting, true), (fitting + 1, false)] {
        let cluster = restarting();
        let dead = cluster.node(ScriptedAgent::new(vec![Step::Hang])).await;
        let two = cluster.node(ScriptedAgent::saying(["done"])).await;
        let reply = dead.host.receive(message(&"x".repeat(words)), Run::in_background(None)).await.unwrap();
        let id = reply.task.unwrap();
        pass(Duration::from_secs(1)).await;
        lose(&dead).await;
        let wanted = if goes_on { TaskState::Completed } else { TaskState::Failed };
        assert_eq!(state(&two, &id).await, wanted, "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_with_no_place_for_it_leaves_work_until_there_is_one() {
    let mut cluster = restarting();
    let dead = cluster.node(ScriptedAgent::new(vec![Step::Hang])).await;
    let ids = [begin(&dead).await, begin(&dead).await];
    cluster.setup.limits.tasks_running_max = 1;
    let again = ScriptedAgent::new(vec![Step::Wait(LEASE), complete()]);
    let two = cluster.node(again.clone()).await;
    lose(&dead).await;
    assert_eq!(again.heard().len(), 1);
    pass(LEASE * 3).await;
    for id in &ids {
        assert_eq!(state(&two, id).await, TaskState::Completed);
    }
    assert_eq!(again.heard().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_an_earlier_try_made_is_told_once_and_another_one_of_its_name_is_another() {
    use forecourt_core::{File, FileSource};
    let file = |bytes: &'static [u8]| {
        let file = File::inline("text/plain".to_owned(), Some("list".to_owned()), Bytes::from_static(bytes));
        Step::Do(Event::Part(Part::File(file)))
    };
    for (later, files) in [(&b"eggs"[..], 1), (b"milk", 2)] {
        let cluster = restarting();
        let dead = cluster.node(ScriptedAgent::new(vec![file(b"eggs"), Step::Hang])).await;
        let two = cluster.node(ScriptedAgent::new(vec![file(later), complete()])).await;
        let id = begin(&dead).await;
        pass(Duration::from_secs(1)).await;
        lose(&dead).await;
        let events = follow(&two, &id, 0).await;
        assert_eq!(events.iter().filter(|(_, event)| matches!(event, Event::Part(_))).count(), files);
        let permit = two.host.task(&id, TaskAccess::ById).await.unwrap();
        let [Part::File(kept)] = &permit.outcome.as_ref().unwrap().parts[..] else { panic!("{events:?}") };
        assert_eq!(kept.source, FileSource::Kept);
        assert_eq!(permit.artifact(kept.id.as_deref().unwrap()).await.unwrap().bytes, later);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_kept_for_as_long_as_its_task_and_not_at_all_where_lost_tasks_fail() {
    for (on_lost, is_kept) in [(OnLost::Fail, false), (OnLost::Restart, true)] {
        let cluster = of(on_lost);
        let one = cluster.node(ScriptedAgent::new(vec![Step::Hang])).await;
        let id = begin(&one).await;
        pass(Duration::from_secs(1)).await;
        let stream = format!("host:work:{}", forecourt_host::topics::task(&id).strip_prefix("task.").unwrap());
        let span = forecourt_core::store::Span::After(0);
        let entries = cluster.store.entries(&stream, span, 9, forecourt_core::Timestamp::UNIX_EPOCH).await.unwrap();
        assert_eq!(entries.len(), usize::from(is_kept));
        let task = one.host.task(&id, TaskAccess::ById).await.unwrap();
        assert!(entries.iter().all(|(_, entry)| entry.expires_at == Some(task.expires_at)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_host_goes_on_with_what_its_last_run_left_as_it_has_places_for_it() {
    let setup = Setup { on_lost: OnLost::Restart, ..Setup::default() };
    let entropy = || Arc::new(forecourt_host::SystemEntropy);
    let stopped =
        setup.host_with(ScriptedAgent::new(vec![text("a"), Step::Hang]), setup.clock.clone(), entropy()).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(stopped.receive(message("work"), Run::in_background(None)).await.unwrap().task.unwrap());
    }
    pass(Duration::from_secs(1)).await;
    let mut next = Setup { on_lost: OnLost::Restart, store: setup.store.clone(), ..Setup::default() };
    next.limits.tasks_running_max = 1;
    let again = ScriptedAgent::new(vec![text("a"), Step::Wait(Duration::from_secs(1)), complete()]);
    let host = next.host_with(again.clone(), next.clock.clone(), entropy()).await;
    pass(LEASE * 2).await;
    for id in &ids {
        assert_eq!(host.task(id, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
    }
    assert_eq!(again.begun_and_left(), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_takes_a_task_over_and_does_not_say_so_leaves_it_stuck_nowhere() {
    let cluster = restarting();
    let dead = cluster.node(ScriptedAgent::new(vec![text("a"), Step::Hang])).await;
    let again = ScriptedAgent::saying(["a", "b"]);
    let two = cluster.node(again.clone()).await;
    let id = begin(&dead).await;
    pass(Duration::from_secs(1)).await;
    dead.store.set_away(true);
    two.store.mute_moves(2);
    pass(LEASE * 2).await;
    assert_eq!(state(&two, &id).await, TaskState::Completed);
    assert_eq!(texts(&follow(&two, &id, 0).await), "ab");
}

#[tokio::test(start_paused = true)]
async fn work_of_an_earlier_run_waits_until_its_agent_can_reach_what_it_needs() {
    let setup = Setup { on_lost: OnLost::Restart, ..Setup::default() };
    let entropy = || Arc::new(forecourt_host::SystemEntropy);
    let stopped = setup.host_with(ScriptedAgent::new(vec![Step::Hang]), setup.clock.clone(), entropy()).await;
    let [goes_on, is_cancelled] = [0, 1].map(|_| stopped.receive(message("work"), Run::in_background(None)));
    let (goes_on, is_cancelled) = (goes_on.await.unwrap().task.unwrap(), is_cancelled.await.unwrap().task.unwrap());
    pass(Duration::from_secs(1)).await;
    let next = Setup { on_lost: OnLost::Restart, opens_later: true, store: setup.store.clone(), ..Setup::default() };
    let again = ScriptedAgent::saying(["done"]);
    let host = next.host_with(again.clone(), next.clock.clone(), entropy()).await;
    pass(LEASE).await;
    assert_eq!(again.heard().len(), 0);
    host.task(&is_cancelled, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    host.open();
    pass(Duration::from_secs(1)).await;
    assert_eq!(host.task(&goes_on, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
    assert_eq!(host.task(&is_cancelled, TaskAccess::ById).await.unwrap().state, TaskState::Canceled);
    assert_eq!(again.heard().len(), 1);
}
