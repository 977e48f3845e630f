//! Machines whose clocks are wrong, or are set while they work: nothing that was acknowledged goes before its time.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::{Clock, Error, MachineClock, Store, TaskId, TaskState, Timestamp};
use forecourt_host::{Host, LeaseSettings, Run, StoreClock, TaskAccess};
use forecourt_store::{Memory, Postgres, PostgresOptions, Sqlite, SqliteOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::{HandClock, HandMachine, ScriptedAgent};
use futures::StreamExt;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::faulty::FaultyStore;
use crate::nodes::TestBus;
use crate::support::{Setup, message};

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// A host, and the machine that it is on.
struct Node {
    host: Arc<Host>,
    machine: Arc<HandMachine>,
    store: Arc<FaultyStore>,
    stop: CancellationToken,
}

impl Node {
    async fn start(store: Arc<dyn Store>, machine: Arc<HandMachine>, bus: Option<Arc<TestBus>>) -> Self {
        let (store, stop) = (Arc::new(FaultyStore::of(store)), CancellationToken::new());
        let mut setup = Setup { store: store.clone(), stop: stop.clone(), alone: bus.is_none(), ..Setup::default() };
        setup.machine = Some(machine.clone());
        if let Some(bus) = bus {
            setup.bus = bus;
        }
        let entropy = Arc::new(forecourt_host::SystemEntropy);
        let host = setup.host_with(ScriptedAgent::saying(["done"]), setup.clock.clone(), entropy).await;
        Self { host, machine, store, stop }
    }

    /// Does a piece of work in the background to its end.
    async fn completed(&self) -> TaskId {
        let id = self.host.receive(message("work"), Run::in_background(None)).await.unwrap().task.unwrap();
        self.host.task(&id, TaskAccess::ById).await.unwrap().follow(0, forecourt_host::FollowUntil::End).count().await;
        id
    }

    /// The state of a task; `None` when there is none.
    async fn state(&self, id: &TaskId) -> Option<TaskState> {
        match self.host.task(id, TaskAccess::ById).await {
            Ok(task) => Some(task.state),
            Err(Error::NotFound { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }

    async fn is_ready(&self) -> bool {
        self.host.ready().await.is_ok()
    }
}

/// Lets time pass for everybody, a beat at a time.
async fn pass(time: Duration, clock: &HandClock, nodes: &[&Node]) {
    let step = LeaseSettings::default().beat_every;
    for _ in 0..time.as_secs().div_ceil(step.as_secs()) {
        clock.advance(step);
        nodes.iter().for_each(|node| node.machine.advance(step));
        tokio::time::advance(step).await;
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

/// Three nodes on a store with a clock of its own, two of whose machines are `skew` seconds ahead and behind.
async fn nothing_goes_early_on_three_nodes(skew: i64) {
    let kept: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(HandClock::new());
    let shared = Arc::new(FaultyStore::of(kept.clone()).with_clock(clock.clone()));
    let bus = Arc::<TestBus>::default();
    let mut nodes = Vec::new();
    for skew in [0, skew, -skew] {
        let machine = Arc::new(HandMachine::new(clock.now()));
        machine.jump(skew);
        nodes.push(Node::start(shared.clone(), machine, Some(bus.clone())).await);
    }
    let [right, ahead, behind] = <[Node; 3]>::try_from(nodes).ok().unwrap();
    let all = [&right, &ahead, &behind];
    let mut tasks = Vec::new();
    for node in all {
        for _ in 0..5 {
            tasks.push(node.completed().await);
        }
    }
    pass(TASK_TTL - Duration::from_secs(60), &clock, &all).await;
    for node in all {
        for task in &tasks {
            assert_eq!(node.state(task).await, Some(TaskState::Completed), "skew {skew}");
        }
    }
    assert!(right.is_ready().await && right.store.sweeps() > 50);
    for (node, side) in [(&ahead, "ahead of"), (&behind, "behind")] {
        assert!(!node.is_ready().await && node.store.sweeps() == 0, "{side}");
        let fault = node.host.clock_fault().unwrap();
        assert_eq!(fault, format!("the clock of this machine is {skew} s {side} the store's: set it by NTP"));
    }
    let mut registry = Registry::default();
    ahead.host.metrics().register(&mut registry);
    let mut metrics = String::new();
    prometheus_client::encoding::text::encode(&mut metrics, &registry).unwrap();
    assert!(metrics.contains(&format!("clock_skew_seconds {skew}.0")), "{metrics}");

    // Set right, a node is ready with its next beat; and what is over goes.
    ahead.machine.jump(-skew);
    behind.machine.jump(skew);
    pass(Duration::from_secs(180), &clock, &all).await;
    for node in all {
        assert!(node.is_ready().await && node.store.sweeps() > 0);
        assert_eq!(node.state(&tasks[0]).await, None);
    }
    assert!(kept.task(&tasks[0], Timestamp::MIN).await.unwrap().is_none(), "it was removed");
}

#[tokio::test(start_paused = true)]
async fn a_node_an_hour_off_is_not_ready_and_removes_nothing() {
    nothing_goes_early_on_three_nodes(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_a_day_off_is_not_ready_and_removes_nothing() {
    nothing_goes_early_on_three_nodes(DAY).await;
}

#[tokio::test(start_paused = true)]
async fn ten_seconds_are_no_wrong_clock_and_eleven_are() {
    let clock = Arc::new(HandClock::new());
    let shared = Arc::new(FaultyStore::of(Arc::new(Memory::new())).with_clock(clock.clone()));
    let machine = Arc::new(HandMachine::new(clock.now()));
    let node = Node::start(shared, machine, Some(Arc::default())).await;
    for (by, is_ready) in [(10, true), (1, false), (-1, true), (-20, true), (-1, false)] {
        node.machine.jump(by);
        pass(Duration::from_secs(6), &clock, &[&node]).await;
        assert_eq!(node.is_ready().await, is_ready, "{by}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_under_a_single_host_takes_nothing_along() {
    for jumps in [[DAY, -DAY], [-HOUR, HOUR], [DAY, DAY], [-HOUR, -HOUR]] {
        let (kept, clock): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), HandClock::new());
        let node = Node::start(kept.clone(), Arc::new(HandMachine::new(clock.now())), None).await;
        let task = node.completed().await;
        let minute = Duration::from_secs(60);
        for jump in jumps {
            node.machine.jump(jump);
            assert_eq!(node.state(&task).await, Some(TaskState::Completed), "{jump} at once");
            pass(20 * minute, &clock, &[&node]).await;
            assert_eq!(node.state(&task).await, Some(TaskState::Completed), "{jump} after a while");
            let apart = node.machine.wall().duration_since(node.host.clock().now()).as_secs();
            assert!(apart.abs() <= 3, "the host goes by the machine's clock");
            assert!(node.is_ready().await && node.host.clock_fault().is_none());
        }
        pass(19 * minute, &clock, &[&node]).await;
        assert_eq!(node.state(&task).await, Some(TaskState::Completed), "{jumps:?}: a minute is left");
        pass(3 * minute, &clock, &[&node]).await;
        assert_eq!(node.state(&task).await, None);
        assert!(kept.task(&task, Timestamp::MIN).await.unwrap().is_none(), "{jumps:?}: it was removed in time");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_between_two_runs_takes_nothing_along() {
    for jump in [DAY, -HOUR, 400 * DAY] {
        let folder = tempfile::tempdir().unwrap();
        let machine = Arc::new(HandMachine::new(HandClock::new().now()));
        let open = || Sqlite::open(&folder.path().join("forecourt.db"), SqliteOptions::default()).unwrap();
        let store = open();
        let node = Node::start(store.clone(), machine.clone(), None).await;
        let task = node.completed().await;
        node.stop.cancel();
        node.host.stopped().await;
        store.close().await;
        machine.advance(TASK_TTL - Duration::from_secs(1));
        machine.jump(jump);
        let store = open();
        let node = Node::start(store.clone(), machine.clone(), None).await;
        assert_eq!(node.state(&task).await, Some(TaskState::Completed), "{jump}");
        assert_eq!(store.expire(node.host.clock().now(), 10).await.unwrap(), 0, "{jump}");
        machine.advance(Duration::from_secs(1));
        // For seconds after it was set, whoever reads goes by the earlier of both clocks; what has expired goes.
        assert!(store.expire(node.host.clock().now(), 10).await.unwrap() > 0, "{jump}: its time is over");
        assert_eq!(node.state(&task).await, None, "{jump}: it is gone");
    }
}

#[tokio::test]
async fn the_time_on_postgresql_is_the_databases_on_every_machine() {
    let Some(server) = PostgresServer::shared() else { return };
    let options = PostgresOptions::new(server.fresh(), StoreKey::from_bytes([7; 32]), "demo.localhost");
    let store = Postgres::open(options).await.unwrap();
    let second = Duration::from_secs(1);
    for skew in [0, HOUR, -HOUR, DAY, -DAY] {
        let machine = Arc::new(HandMachine::new(Timestamp::now()));
        machine.jump(skew);
        let clock = StoreClock::start_on(&*store, machine.clone()).await.unwrap();
        // Both are on this machine, whose clock goes on while it is asked.
        assert!(clock.now().duration_since(Timestamp::now()).unsigned_abs() < 5 * second, "{skew}");
        assert!(clock.skew().as_secs().abs_diff(skew) <= 5, "{skew}: {}", clock.skew());
        assert_eq!(clock.fault().is_some(), skew != 0);
        let before = clock.now();
        machine.jump(DAY);
        assert_eq!(clock.now(), before, "who sets the clock of a machine changes nothing");
        machine.advance(second);
        assert_eq!(clock.now(), before + second);
    }
}
