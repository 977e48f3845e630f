//! The world of a simulation: nodes, clients, and what goes wrong.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::{Clock, Ending, Event, Store, TaskId};
use forecourt_host::{FollowUntil, Host, LEASE, LeaseSettings, OnLost, Run, TaskAccess, TaskName};
use forecourt_store::Memory;
use forecourt_testkit::{HandClock, HandMachine};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::worker::{Script, Worker};
use crate::dice::Dice;
use crate::faulty::{FaultyStore, Weather};
use crate::nodes::TestBus;
use crate::support::{Setup, message};

const NODES: usize = 3;
/// How often work is begun whose nodes are lost.
const TRIES_MAX: usize = 3;
/// Names under which clients send messages, some of them again and again.
const NAMES: u64 = 6;
/// The longest that a worker says nothing, and how much it says at most.
const WAIT_MAX: Duration = Duration::from_secs(5);
const EVENTS_MAX: u64 = 4;

/// A node, and the machine that it is on.
struct Node {
    host: Arc<Host>,
    machine: Arc<HandMachine>,
    /// Its own way to the store.
    store: Arc<FaultyStore>,
    stop: CancellationToken,
    /// How far its clock was set, in seconds.
    skew: i64,
}

/// What clients were told.
#[derive(Default)]
struct Told {
    /// The task of each name, as often as it was acknowledged.
    tasks: Vec<(String, TaskId)>,
    /// What those who followed a task to its end saw of it.
    followed: Vec<(TaskId, Vec<(u64, Event)>)>,
}

pub(super) struct World {
    dice: Arc<Dice>,
    /// The store as it is, which nothing happens to.
    kept: Arc<dyn Store>,
    /// The way to it that all nodes share, with the clock of the store.
    shared: Arc<FaultyStore>,
    clock: Arc<HandClock>,
    bus: Arc<TestBus>,
    worker: Arc<Worker>,
    /// What becomes of work whose node is lost.
    on_lost: OnLost,
    nodes: Vec<Node>,
    scripts: HashMap<String, Script>,
    told: Arc<Mutex<Told>>,
}

impl World {
    pub(super) async fn begin(seed: u64) -> Self {
        let (kept, clock): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(HandClock::new()));
        let shared = Arc::new(FaultyStore::of(kept.clone()).with_clock(clock.clone()));
        let dice = Arc::new(Dice::new(seed));
        let on_lost = if dice.chance(50) { OnLost::Restart } else { OnLost::Fail };
        let mut world = Self {
            dice,
            kept,
            shared,
            clock,
            bus: Arc::default(),
            worker: Arc::default(),
            on_lost,
            nodes: Vec::new(),
            scripts: HashMap::new(),
            told: Arc::default(),
        };
        for _ in 0..NODES {
            let node = world.node().await;
            world.nodes.push(node);
        }
        world
    }

    async fn node(&self) -> Node {
        let (store, stop) = (Arc::new(FaultyStore::of(self.shared.clone())), CancellationToken::new());
        let machine = Arc::new(HandMachine::new(self.clock.now()));
        let setup = Setup {
            store: store.clone(),
            machine: Some(machine.clone()),
            bus: self.bus.clone(),
            alone: false,
            stop: stop.clone(),
            on_lost: self.on_lost,
            ..Setup::default()
        };
        let host = setup.host_with(self.worker.clone(), setup.clock.clone(), self.dice.clone()).await;
        Node { host, machine, store, stop, skew: 0 }
    }

    /// Something happens, and a while passes.
    pub(super) async fn step(&mut self) {
        match self.dice.below(20) {
            0..8 => self.send(),
            8..10 => self.cancel(),
            10..12 => self.follow(),
            12 => self.shared.set_away(self.dice.chance(50)),
            13 => self.bus.is_away.store(self.dice.chance(50), Ordering::SeqCst),
            14 => self.crash().await,
            15 => self.set_clock(),
            _ => self.trouble(),
        }
        let while_it_passes = self.dice.duration(Duration::from_secs(6));
        self.pass(while_it_passes).await;
    }

    fn any(&self) -> &Node {
        self.dice.pick(&self.nodes).expect("there are nodes")
    }

    /// A client sends a message, new or again.
    fn send(&mut self) {
        let name = format!("name-{}", self.dice.below(NAMES));
        let dice = self.dice.clone();
        let new = || Script::new(&name, dice.below(EVENTS_MAX + 1), dice.duration(WAIT_MAX));
        let script = self.scripts.entry(name.clone()).or_insert_with(new).clone();
        let run = Run {
            name: Some(Arc::new(TaskName { key: name.clone().into(), said: script.words().into() })),
            ..Run::in_background(None)
        };
        let (host, told, asked) = (self.any().host.clone(), self.told.clone(), message(script.words()));
        tokio::spawn(async move {
            // Whoever is refused may come again; nothing was promised.
            if let Ok(reply) = host.receive(asked, run).await
                && let Some(task) = reply.task
            {
                told.lock().tasks.push((name, task));
            }
        });
    }

    fn some_task(&self) -> Option<TaskId> {
        self.dice.pick(&self.told.lock().tasks).map(|(_, task)| task.clone())
    }

    fn cancel(&self) {
        let (Some(task), host) = (self.some_task(), self.any().host.clone()) else { return };
        tokio::spawn(async move {
            if let Ok(permit) = host.task(&task, TaskAccess::ById).await {
                let _ = permit.cancel().await;
            }
        });
    }

    fn follow(&self) {
        let Some(task) = self.some_task() else { return };
        let (host, told) = (self.any().host.clone(), self.told.clone());
        tokio::spawn(async move {
            if let Ok(permit) = host.task(&task, TaskAccess::ById).await {
                let seen = permit.follow(0, FollowUntil::End).collect().await;
                told.lock().followed.push((task, seen));
            }
        });
    }

    /// A process ends, and another one begins in its place. What it had on the way to the store never arrives.
    async fn crash(&mut self) {
        let at = self.dice.below(NODES as u64) as usize;
        // Without its store no process begins.
        if self.shared.ready().await.is_ok() {
            self.nodes[at].store.set_away(true);
            self.nodes[at].stop.cancel();
            self.nodes[at] = self.node().await;
        }
    }

    /// Somebody sets the clock of a machine, or right again.
    fn set_clock(&mut self) {
        let at = self.dice.below(NODES as u64) as usize;
        let far = [3_700, 86_400, 40, 5].map(|seconds: i64| if self.dice.chance(50) { seconds } else { -seconds });
        let skew = if self.dice.chance(30) { 0 } else { *self.dice.pick(&far).expect("some") };
        let node = &mut self.nodes[at];
        node.machine.jump(skew - node.skew);
        node.skew = skew;
    }

    /// The way of a node to the store is bad, or well again.
    fn trouble(&self) {
        let weather = match self.dice.below(5) {
            0 => Weather { lost: 30, ..Weather::default() },
            1 => Weather { unanswered: 30, ..Weather::default() },
            2 => Weather { late_max: Duration::from_secs(2), ..Weather::default() },
            3 => Weather { lost: 10, unanswered: 10, late_max: Duration::from_secs(20) },
            _ => return self.any().store.set_weather(None),
        };
        self.any().store.set_weather(Some((weather, self.dice.clone())));
    }

    /// Lets time pass for everybody, a beat at a time at most.
    async fn pass(&self, time: Duration) {
        let step = LeaseSettings::default().beat_every;
        let mut left = time;
        while !left.is_zero() {
            let now = left.min(step);
            self.clock.advance(now);
            self.nodes.iter().for_each(|node| node.machine.advance(now));
            // Moves from one timer to the next, and lets each be served.
            tokio::time::sleep(now).await;
            left -= now;
        }
    }

    /// Everything is well again, and so long that whatever was begun has ended.
    pub(super) async fn heal(&mut self) {
        self.shared.set_away(false);
        self.bus.is_away.store(false, Ordering::SeqCst);
        for node in &mut self.nodes {
            node.store.set_weather(None);
            node.machine.jump(-std::mem::take(&mut node.skew));
        }
        self.pass(WAIT_MAX * (EVENTS_MAX as u32 + 1) + LEASE * 4).await;
    }

    pub(super) async fn check(&self) {
        let tasks = self.acknowledged();
        let mut logs = HashMap::new();
        for (name, task) in &tasks {
            let log = self.log(task).await;
            self.check_log(name, &log);
            assert!(self.worker.heard(self.scripts[name].words()) <= self.begun_max(), "{name} was begun too often");
            logs.insert(task.clone(), log);
        }
        for (task, seen) in &self.told.lock().followed {
            // Whose node had no store for long was told so, in place of what follows.
            let known = match seen.last() {
                Some((_, Event::Ending(Ending::Failed { reason, .. }))) if reason.contains("can't be read") => {
                    &seen[..seen.len() - 1]
                }
                _ => &seen[..],
            };
            let is_whole = known.len() == seen.len();
            assert!(logs[task].starts_with(known), "a follower saw something else: {seen:?}");
            assert!(!is_whole || known.len() == logs[task].len(), "a follower saw no end: {seen:?}");
        }
        assert!(self.kept.orphaned_tasks(99).await.expect("orphans").is_empty(), "work of a dead node is stuck");
        for node in &self.nodes {
            node.host.ready().await.expect("it is ready again");
        }
        if self.dice.chance(4) {
            self.check_until_the_end(&logs).await;
        }
    }

    /// How often a message may be begun: once, and after each loss where that is said to be harmless.
    fn begun_max(&self) -> usize {
        if self.on_lost == OnLost::Restart { TRIES_MAX } else { 1 }
    }

    /// The one task of each name.
    fn acknowledged(&self) -> HashMap<String, TaskId> {
        let mut tasks = HashMap::new();
        for (name, task) in &self.told.lock().tasks {
            let first = tasks.entry(name.clone()).or_insert_with(|| task.clone());
            assert_eq!(first, task, "{name} was begun as two tasks");
        }
        tasks
    }

    /// The log of a task, which is the same on every node, and the end of which is the state of the task.
    async fn log(&self, task: &TaskId) -> Vec<(u64, Event)> {
        let mut logs = Vec::new();
        for node in &self.nodes {
            let permit = node.host.task(task, TaskAccess::ById).await.expect("an acknowledged task is there");
            assert!(permit.state.is_final(), "it is stuck: {:?} {:?}", permit.state, permit.task());
            logs.push(permit.events(0, 1_000).await.expect("its log"));
        }
        assert!(logs.windows(2).all(|two| two[0] == two[1]), "nodes tell of different logs");
        logs.pop().expect("there are nodes")
    }

    /// Each event once, in its order, as the worker said it; one ending, which is the last.
    fn check_log(&self, name: &str, log: &[(u64, Event)]) {
        let whole = self.scripts[name].whole();
        assert!(log.iter().map(|(number, _)| *number).eq(1..=log.len() as u64), "{log:?}");
        let (last, said) = log.split_last().expect("an ending");
        // That work went on elsewhere is told by a sign of progress.
        let is_said = |event: &&Event| !(self.on_lost == OnLost::Restart && matches!(event, Event::Progress(_)));
        let said: Vec<_> = said.iter().map(|(_, event)| event).filter(is_said).collect();
        assert!(said.iter().copied().eq(whole.iter().take(said.len())), "{name}: {log:?}");
        match &last.1 {
            Event::Ending(Ending::Complete) => assert_eq!(said.len() + 1, whole.len(), "{name}: {log:?}"),
            Event::Ending(Ending::Canceled | Ending::Failed { .. }) => {}
            other => panic!("{name} ended with {other:?}"),
        }
    }

    /// Nothing follows an end, and nothing goes before its time.
    async fn check_until_the_end(&self, logs: &HashMap<TaskId, Vec<(u64, Event)>>) {
        let most = TASK_TTL - Duration::from_secs(600);
        for _ in 0..most.as_secs() / 300 {
            self.pass(Duration::from_secs(300)).await;
        }
        for (task, log) in logs {
            assert_eq!(&self.log(task).await, log, "something was written behind an end");
        }
    }
}
