//! The bus or the store away for half a minute: honest answers meanwhile, and all well by itself afterwards.

use std::sync::Arc;

use forecourt_host::{OnLost, TaskName};

use super::*;

const OUTAGE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn the_bus_away_for_half_a_minute_delays_and_loses_nothing() {
    let cluster = Cluster::new();
    let steps = vec![text("a"), Step::Wait(Duration::from_secs(20)), text("b"), Step::Wait(OUTAGE), complete()];
    let (one, two) = (cluster.node(ScriptedAgent::new(steps)).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    pass(LEASE).await;
    cluster.bus.is_away.store(true, Ordering::SeqCst);
    let id = begin(&one).await;
    let outage = async {
        pass(OUTAGE).await;
        for node in [&one, &two] {
            node.host.ready().await.unwrap();
            assert!(node.host.notes()[0].contains("the bus is away"), "{:?}", node.host.notes());
        }
        cluster.bus.is_away.store(false, Ordering::SeqCst);
        pass(OUTAGE).await;
        assert_eq!(two.host.notes(), Vec::<String>::new());
    };
    let (events, ()) = tokio::join!(follow(&two, &id, 0), outage);
    assert_eq!(events.len(), 3);
    assert_eq!(state(&two, &id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_store_away_for_half_a_minute_ends_nobodys_work_and_all_is_well_by_itself() {
    let cluster = Cluster::new();
    let agent = ScriptedAgent::new(vec![text("a"), Step::Wait(OUTAGE / 2), text("b"), text("c"), complete()]);
    let (one, two) = (cluster.node(agent.clone()).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    pass(LEASE).await;
    let id = begin(&one).await;
    let nodes = [one.host.node(), two.host.node()];
    let outage = async {
        pass(Duration::from_secs(5)).await;
        cluster.store.set_away(true);
        pass(Duration::from_secs(1)).await;
        for node in [&one, &two] {
            for run in [Run::in_background(None), Run::task_unless_message(Duration::ZERO)] {
                let refused = node.host.receive(message("more"), run).await.err();
                let Some(Error::Unavailable { retry_after }) = refused else { panic!("{refused:?}") };
                assert!(!retry_after.is_zero());
            }
            assert!(node.host.ready().await.is_err());
        }
        pass(OUTAGE).await;
        cluster.store.set_away(false);
        pass(LEASE).await;
        for node in [&one, &two] {
            node.host.ready().await.unwrap();
        }
    };
    let (events, ()) = tokio::join!(follow(&two, &id, 0), outage);
    let words: Vec<_> = events.iter().map(|(_, event)| event.clone()).collect();
    let said = |text: &str| Event::Text(text.to_owned());
    assert_eq!(words, [said("a"), said("b"), said("c"), Event::Ending(Ending::Complete)]);
    assert_eq!([one.host.node(), two.host.node()], nodes, "nobody was ended");
    assert!(!state(&one, &begin(&one).await).await.is_final());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_while_the_store_is_away_is_kept_once_it_is_back() {
    let setup = Setup::default();
    let store = Arc::new(FaultyStore::of(setup.store.clone()));
    let setup = Setup { store: store.clone(), ..setup };
    let host = setup.host(ScriptedAgent::new(vec![text("a"), Step::Wait(Duration::from_secs(1)), complete()])).await;
    let id = host.receive(message("work"), Run::in_background(None)).await.unwrap().task.unwrap();
    store.set_away(true);
    pass(OUTAGE).await;
    store.set_away(false);
    pass(Duration::from_secs(5)).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_stops_does_not_wait_for_a_store_that_is_away() {
    let setup = Setup::default();
    let store = Arc::new(FaultyStore::of(setup.store.clone()));
    let setup = Setup { store: store.clone(), ..setup };
    let host = setup.host(ScriptedAgent::new(vec![text("a"), Step::Wait(Duration::from_secs(1)), complete()])).await;
    host.receive(message("work"), Run::in_background(None)).await.unwrap();
    store.set_away(true);
    tokio::time::timeout(OUTAGE * 2, host.drain(OUTAGE)).await.expect("it ends");
}

#[tokio::test(start_paused = true)]
async fn work_that_was_written_though_the_store_did_not_say_so_is_stuck_nowhere() {
    let cluster = Cluster::new();
    let question = Question { text: "Which?".to_owned(), questions: Vec::new() };
    let one = cluster.node(ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Question(question)))])).await;
    let asks = begin(&one).await;
    pass(Duration::from_secs(1)).await;
    let permit = one.host.task(&asks, TaskAccess::ById).await.unwrap();
    one.store.set_mute(true);
    let refused = one.host.receive(message("work"), Run::in_background(None)).await.err();
    assert!(matches!(refused, Some(Error::Unavailable { .. })));
    pass(Duration::from_secs(1)).await;
    one.store.set_mute(false);
    pass(Duration::from_secs(5)).await;
    let unsettled = async || cluster.store.orphaned_tasks(9).await.unwrap().len();
    assert_eq!(unsettled().await, 0);
    // With its run gone, what it left unsettled would be an orphan: there is none.
    one.host.drain(Duration::from_secs(1)).await;
    one.stop.cancel();
    one.host.stopped().await;
    assert_eq!((unsettled().await, permit.reload().await.unwrap().state), (0, TaskState::InputRequired));
}

/// A message as its client sends it again.
pub(super) fn named(words: &str) -> Run {
    Run { name: Some(Arc::new(TaskName { key: "ann".into(), said: words.into() })), ..Run::in_background(None) }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_asked_once_hears_of_a_named_message_when_it_is_kept() {
    let unless_message = |words| Run { name: named(words).name, ..Run::task_unless_message(Duration::from_secs(1)) };
    for (asked_once, on_lost, heard) in
        [(false, OnLost::Fail, 1), (true, OnLost::Fail, 0), (false, OnLost::Restart, 1), (false, OnLost::Attach, 0)]
    {
        let mut cluster = Cluster::new();
        (cluster.setup.asked_once, cluster.setup.on_lost) = (asked_once, on_lost);
        let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(60)), complete()]);
        let one = cluster.node(agent.clone()).await;
        one.store.set_away(true);
        let refused = one.host.receive(message("work"), unless_message("a")).await.err();
        assert!(matches!(refused, Some(Error::Unavailable { .. })));
        assert_eq!(agent.heard().len(), heard, "{asked_once} {on_lost:?}");
        one.store.set_away(false);
        pass(Duration::from_secs(1)).await;
        let reply = one.host.receive(message("work"), unless_message("b")).await.unwrap();
        assert!(reply.task.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_message_that_was_written_though_the_store_did_not_say_so_is_begun_once() {
    let cluster = Cluster::new();
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(60)), complete()]);
    let [one, two] = [cluster.node(agent.clone()).await, cluster.node(agent.clone()).await];
    let first = one.host.receive(message("work"), named("a")).await.unwrap().task.unwrap();
    // The same on the other node, and on one that can't say what it did.
    let again = two.host.receive(message("work"), named("a")).await.unwrap().task.unwrap();
    assert_eq!(again, first);
    one.store.set_mute(true);
    let unsure = one.host.receive(message("work"), named("b")).await.err();
    assert!(matches!(unsure, Some(Error::Unavailable { .. })));
    one.store.set_mute(false);
    let b = one.host.receive(message("work"), named("b")).await.unwrap().task.unwrap();
    let c = two.host.receive(message("work"), named("b")).await.unwrap().task.unwrap();
    assert_eq!(b, c);
    assert_ne!(b, first);
    pass(Duration::from_secs(5)).await;
    assert_eq!(state(&two, &b).await, TaskState::Failed, "nobody works on it");
    pass(Duration::from_secs(1)).await;
    assert_eq!(agent.heard().len(), 1, "what nobody was told of is not begun either");
}

#[tokio::test(start_paused = true)]
async fn many_that_send_one_name_at_once_have_one_task() {
    let cluster = Cluster::new();
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(60)), complete()]);
    let [one, two] = [cluster.node(agent.clone()).await, cluster.node(agent.clone()).await];
    let all = (0..40).map(|at| [&one, &two][at % 2].host.receive(message("work"), named("a")));
    let tasks: Vec<_> = futures::future::join_all(all).await.into_iter().map(|told| told.unwrap().task).collect();
    assert!(tasks.iter().all(|task| *task == tasks[0]));
    pass(Duration::from_secs(1)).await;
    assert_eq!(agent.heard().len(), 1);
}
