//! Several hosts that share a store and a bus, each with a clock of its own: what one begins, every one can follow,
//! cancel and go on with, and nobody ends the living work of another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::reply::Question;
use forecourt_core::{Agent, Bus, Ending, Error, Event, Message, NoBus, Part, Store, TaskId, TaskState, ThreadId};
use forecourt_host::{FollowUntil, Host, LEASE, LeaseSettings, LifecycleChange, Run, TaskAccess};
use forecourt_store::Memory;
use forecourt_testkit::{HandClock, ScriptedAgent, Step};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::faulty::FaultyStore;
use crate::support::{Setup, handle, in_thread, message};

mod limits;
mod lost;
mod noted;
mod once;
mod outage;
mod sqlite;

/// A bus within the test, that can be taken away.
#[derive(Default)]
pub(super) struct TestBus {
    heard: Mutex<Vec<(String, futures::channel::mpsc::UnboundedSender<Bytes>)>>,
    pub(super) is_away: AtomicBool,
}

impl Bus for TestBus {
    fn publish(&self, topic: &str, message: Bytes) {
        if self.fault().is_none() {
            let mut heard = self.heard.lock();
            heard.retain(|(of, heard)| of != topic || heard.unbounded_send(message.clone()).is_ok());
        }
    }

    fn subscribe(&self, topic: &str) -> futures::stream::BoxStream<'static, Bytes> {
        let (send, heard) = futures::channel::mpsc::unbounded();
        self.heard.lock().push((topic.to_owned(), send));
        heard.boxed()
    }

    fn fault(&self) -> Option<String> {
        self.is_away.load(Ordering::SeqCst).then(|| "the bus is away".to_owned())
    }
}

/// Hosts beside one another.
pub(super) struct Cluster {
    pub(super) setup: Setup,
    pub(super) store: Arc<FaultyStore>,
    pub(super) bus: Arc<TestBus>,
}

/// One of them.
pub(super) struct Node {
    pub(super) host: Arc<Host>,
    pub(super) clock: Arc<HandClock>,
    /// Ends what it does for its lease, and nothing else: as when its process stands still.
    pub(super) stop: CancellationToken,
    /// Its own way to the store.
    pub(super) store: Arc<FaultyStore>,
}

impl Cluster {
    pub(super) fn new() -> Self {
        Self::on(Arc::new(Memory::new()))
    }

    pub(super) fn on(store: Arc<dyn Store>) -> Self {
        let store = Arc::new(FaultyStore::of(store));
        Self { setup: Setup { alone: false, ..Setup::default() }, store, bus: Arc::default() }
    }

    pub(super) async fn node(&self, agent: Arc<dyn Agent>) -> Node {
        let (clock, stop) = (Arc::new(HandClock::new()), CancellationToken::new());
        let store = Arc::new(FaultyStore::of(self.store.clone()));
        let (limits, rules) = (self.setup.limits.clone(), self.setup.rules.clone());
        let setup = Setup {
            store: store.clone(),
            bus: self.bus.clone(),
            alone: false,
            stop: stop.clone(),
            remembers: self.setup.remembers,
            on_lost: self.setup.on_lost,
            asked_once: self.setup.asked_once,
            limits,
            rules,
            ..Setup::default()
        };
        let entropy = Arc::new(forecourt_host::SystemEntropy);
        let host = setup.host_with(agent, clock.clone(), entropy).await;
        Node { host, clock, stop, store }
    }
}

/// Lets so much time pass, as a beat at a time: what waits for a moment in between finds it.
pub(super) async fn pass(time: Duration) {
    let step = LeaseSettings::default().beat_every / 3;
    let mut left = time;
    while !left.is_zero() {
        let now = left.min(step);
        tokio::time::advance(now).await;
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        left -= now;
    }
}

pub(super) fn text(text: &str) -> Step {
    Step::Do(Event::Text(text.to_owned()))
}

pub(super) fn complete() -> Step {
    Step::Do(Event::Ending(Ending::Complete))
}

pub(super) async fn begin(node: &Node) -> TaskId {
    let reply = node.host.receive(message("work"), Run::in_background(None)).await.unwrap();
    reply.task.unwrap()
}

pub(super) async fn state(node: &Node, id: &TaskId) -> TaskState {
    node.host.task(id, TaskAccess::ById).await.unwrap().state
}

async fn follow(node: &Node, id: &TaskId, after: u64) -> Vec<(u64, Event)> {
    node.host.task(id, TaskAccess::ById).await.unwrap().follow(after, FollowUntil::End).collect().await
}

#[tokio::test(start_paused = true)]
async fn a_task_is_followed_on_every_node_from_any_event_on() {
    let steps =
        vec![text("a"), Step::Wait(Duration::from_secs(20)), text("b"), Step::Wait(LEASE * 2), text("c"), complete()];
    let cluster = Cluster::new();
    let (one, two) = (cluster.node(ScriptedAgent::new(steps)).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    let three = cluster.node(ScriptedAgent::saying(["x"])).await;
    let id = begin(&one).await;
    let all = follow(&one, &id, 0);
    let (all, on_two, on_three) = tokio::join!(all, follow(&two, &id, 0), follow(&three, &id, 2));
    assert_eq!(all.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(all.last().unwrap().1, Event::Ending(Ending::Complete));
    assert_eq!(on_two, all);
    assert_eq!(on_three, all[2..]);
    assert_eq!(two.host.nodes().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn news_of_another_node_is_there_at_once_and_without_a_bus_after_a_look() {
    for (is_away, most) in [(false, Duration::from_millis(100)), (true, Duration::from_millis(2_100))] {
        let cluster = Cluster::new();
        cluster.bus.is_away.store(is_away, Ordering::SeqCst);
        let steps = vec![text("a"), Step::Wait(Duration::from_millis(6_500)), text("b"), complete()];
        let (one, two) =
            (cluster.node(ScriptedAgent::new(steps)).await, cluster.node(ScriptedAgent::saying(["x"])).await);
        let begun = tokio::time::Instant::now();
        let id = begin(&one).await;
        let events = follow(&two, &id, 0).await;
        assert_eq!(events.len(), 3);
        let late = begun.elapsed() - Duration::from_millis(6_500);
        assert!(late < most, "away: {is_away}, {late:?} late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_falls_silent_loses_its_tasks_once_and_a_follower_hears_of_it() {
    let cluster = Cluster::new();
    let dead = cluster.node(ScriptedAgent::new(vec![text("a"), Step::Hang])).await;
    let (two, three) =
        (cluster.node(ScriptedAgent::saying(["x"])).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    let id = begin(&dead).await;
    pass(LEASE).await;
    assert_eq!(state(&two, &id).await, TaskState::Working, "it lives");
    dead.store.set_away(true);
    let ((on_two, on_three), ()) =
        tokio::join!(async { tokio::join!(follow(&two, &id, 0), follow(&three, &id, 1)) }, pass(LEASE * 2));
    assert_eq!(on_two.len(), 2);
    assert!(matches!(on_two[1], (2, Event::Ending(Ending::Failed { .. }))), "{on_two:?}");
    assert_eq!(on_three, on_two[1..]);
    assert_eq!(follow(&three, &id, 0).await, on_two, "it ended once");
    assert_eq!(two.host.nodes().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn clocks_an_hour_apart_end_nobodys_work() {
    let cluster = Cluster::new();
    let hour = Duration::from_secs(3_600);
    let one = cluster.node(ScriptedAgent::new(vec![text("a"), Step::Wait(LEASE * 4), complete()])).await;
    let two = cluster.node(ScriptedAgent::saying(["x"])).await;
    // Half an hour each way, and a task is kept for an hour.
    one.clock.advance(hour);
    two.clock.advance(hour / 2);
    let id = begin(&one).await;
    let three = cluster.node(ScriptedAgent::saying(["x"])).await;
    let (events, ()) = tokio::join!(follow(&two, &id, 0), pass(LEASE * 5));
    assert_eq!(events.last().unwrap().1, Event::Ending(Ending::Complete));
    assert_eq!(state(&three, &id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn who_lost_its_lease_writes_nothing_more_stops_its_work_and_goes_on_as_another() {
    let cluster = Cluster::new();
    let agent = ScriptedAgent::new(vec![text("a"), Step::Wait(LEASE * 3), text("late"), complete()]);
    let (one, two) = (cluster.node(agent.clone()).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    let id = begin(&one).await;
    pass(LEASE / 5).await;
    let before = one.host.node();
    one.store.set_away(true);
    pass(LEASE / 5).await;
    assert!(one.host.receive(message("work"), Run::in_background(None)).await.is_err(), "the store is away");
    pass(LEASE / 2).await;
    assert!(matches!(one.host.ready().await, Err(Error::Unavailable { .. })), "half a lease is over");
    one.store.set_away(false);
    let refused = one.host.receive(message("work"), Run::in_background(None)).await.err();
    assert!(matches!(refused, Some(Error::Unavailable { .. })), "the store is there, and the lease is not safe yet");
    one.store.set_away(true);
    pass(LEASE).await;
    assert_eq!(state(&two, &id).await, TaskState::Failed);
    one.store.set_away(false);
    pass(LEASE / 5 * 2).await;
    assert_eq!(agent.begun_and_left(), (1, 1), "its work was stopped");
    assert_ne!(one.host.node(), before);
    let log = follow(&two, &id, 0).await;
    pass(LEASE * 3).await;
    assert_eq!(follow(&two, &id, 0).await, log, "nothing was written behind the end");
    assert!(matches!(log.last(), Some((2, Event::Ending(Ending::Failed { .. })))), "{log:?}");
    one.host.ready().await.unwrap();
    let id = begin(&one).await;
    pass(LEASE * 4).await;
    assert_eq!(state(&two, &id).await, TaskState::Completed, "what it begins now is its own");
}

#[tokio::test(start_paused = true)]
async fn cancelling_on_any_node_stops_the_work_at_once_and_without_a_bus_with_the_next_beat() {
    for (is_away, wait) in [(false, Duration::ZERO), (true, LEASE / 5)] {
        let cluster = Cluster::new();
        cluster.bus.is_away.store(is_away, Ordering::SeqCst);
        let agent = ScriptedAgent::new(vec![text("a"), Step::Hang]);
        let (one, two) = (cluster.node(agent.clone()).await, cluster.node(ScriptedAgent::saying(["x"])).await);
        let id = begin(&one).await;
        pass(LEASE).await;
        let cancelled = two.host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
        assert_eq!(cancelled.state, TaskState::Canceled);
        pass(wait + Duration::from_millis(1)).await;
        assert_eq!(agent.begun_and_left(), (1, 1), "away: {is_away}");
        let log = follow(&one, &id, 0).await;
        assert_eq!(log.last().unwrap(), &(2, Event::Ending(Ending::Canceled)));
        assert_eq!(log.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_word_on_the_bus_alone_cancels_nothing() {
    let cluster = Cluster::new();
    let agent = ScriptedAgent::new(vec![text("a"), Step::Wait(LEASE), complete()]);
    let one = cluster.node(agent.clone()).await;
    let id = begin(&one).await;
    let hash = forecourt_host::topics::task(&id).strip_prefix("task.").unwrap().to_owned();
    for foreign in [hash.as_str(), "", "x", "0000"] {
        cluster.bus.publish(forecourt_host::topics::CANCEL, Bytes::copy_from_slice(foreign.as_bytes()));
    }
    for topic in ["rates", "lifecycle", "cancel"] {
        cluster.bus.publish(topic, Bytes::from_static(b"\xff\x00 nonsense"));
        cluster.bus.publish(topic, vec![0; 40].into());
    }
    pass(LEASE * 2).await;
    assert_eq!(state(&one, &id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_on_another_node_and_followed_on_a_third() {
    let cluster = Cluster::new();
    let question = Question { text: "Which?".to_owned(), questions: Vec::new() };
    let asks = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Question(question)))]);
    let (one, two) = (cluster.node(asks).await, cluster.node(ScriptedAgent::saying(["done"])).await);
    let three = cluster.node(ScriptedAgent::saying(["x"])).await;
    let id = begin(&one).await;
    let followed = follow(&three, &id, 0);
    let answered = async {
        pass(Duration::from_secs(5)).await;
        assert_eq!(state(&two, &id).await, TaskState::InputRequired);
        let permit = two.host.task(&id, TaskAccess::ById).await.unwrap();
        let next = Message { parts: vec![Part::text("this one")], ..message("") };
        two.host.receive(next, Run::next_turn(permit, Duration::from_secs(9))).await.unwrap();
    };
    let (events, ()) = tokio::join!(followed, answered);
    let last = events.last().unwrap();
    assert_eq!((last.1.clone(), events.len()), (Event::Ending(Ending::Complete), 3), "{events:?}");
    assert_eq!(state(&one, &id).await, TaskState::Completed);
    // The node that asked goes: the task is not its any more.
    one.stop.cancel();
    pass(LEASE * 2).await;
    assert_eq!(state(&three, &id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_agent_answers_on_no_node_from_that_moment_on() {
    let cluster = Cluster::new();
    let (one, two) =
        (cluster.node(ScriptedAgent::saying(["x"])).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    let change = LifecycleChange { to: forecourt_core::LifecycleState::Suspended, ..LifecycleChange::default() };
    one.host.operator().change_lifecycle(&handle(), &change, &|_| None).await.unwrap();
    pass(Duration::from_millis(1)).await;
    let reply = two.host.receive(message("hi"), Run::without_task()).await.unwrap();
    let events: Vec<Event> = reply.events.collect().await;
    assert!(matches!(&events[..], [Event::Ending(Ending::Refused(_))]), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_wherever_its_next_turn_comes() {
    let mut cluster = Cluster::new();
    cluster.setup.remembers = true;
    let agents = [ScriptedAgent::saying(["one"]), ScriptedAgent::saying(["two"])];
    let nodes = [cluster.node(agents[0].clone()).await, cluster.node(agents[1].clone()).await];
    let mut thread: Option<ThreadId> = None;
    for turn in 0..6 {
        let reply =
            nodes[turn % 2].host.receive(in_thread("go on", thread.clone()), Run::without_task()).await.unwrap();
        let named = reply.thread.clone();
        assert!(thread.is_none() || thread == named, "turn {turn} began another conversation");
        thread = named;
        let _: Vec<Event> = reply.events.collect().await;
        let heard = agents[turn % 2].heard();
        assert_eq!(heard.last().unwrap().history.len(), 2 * turn, "turn {turn}");
        pass(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_in_order_is_missed_at_once() {
    let cluster = Cluster::new();
    let (one, two) =
        (cluster.node(ScriptedAgent::saying(["x"])).await, cluster.node(ScriptedAgent::saying(["x"])).await);
    pass(LEASE).await;
    assert_eq!(two.host.nodes().len(), 2);
    one.host.drain(Duration::from_secs(1)).await;
    one.stop.cancel();
    one.host.stopped().await;
    pass(LEASE / 5).await;
    assert_eq!(two.host.nodes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_bus_at_all_everything_is_found_in_the_store() {
    let mut setup = Setup { alone: false, ..Setup::default() };
    setup.bus = Arc::new(NoBus);
    let steps = vec![text("a"), Step::Wait(LEASE * 2), complete()];
    let one = setup.host(ScriptedAgent::new(steps)).await;
    let two = setup.host(ScriptedAgent::saying(["x"])).await;
    let id = one.receive(message("work"), Run::in_background(None)).await.unwrap().task.unwrap();
    let events: Vec<_> = two.task(&id, TaskAccess::ById).await.unwrap().follow(0, FollowUntil::End).collect().await;
    assert_eq!(events.len(), 2);
}
