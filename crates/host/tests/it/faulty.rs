//! A store that is away when a test says so: everything asked of it fails, and nothing is changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, Delivery, IfTaskEnded, LedgerEntry, Notification, RunBeat,
    Span, StoreFuture, StoredArtifact, TaskChange, TaskFilter, TaskPage, Webhook, WebhookRegistration,
};
use forecourt_core::{
    Account, Clock, Event, Handle, MachineTime, Store, StoreError, Task, TaskId, ThreadId, Timestamp,
};
use forecourt_testkit::HandClock;
use parking_lot::Mutex;
use tokio::time::sleep;

use crate::dice::Dice;

/// What may become of one request on its way to a store and back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weather {
    /// Of a hundred requests, so many never arrive.
    pub(crate) lost: u64,
    /// Of a hundred answers, so many never do.
    pub(crate) unanswered: u64,
    /// How long a request takes to arrive, and its answer as well, at most.
    pub(crate) late_max: Duration,
}

/// A store, or the lack of one.
pub(crate) struct FaultyStore {
    store: Arc<dyn Store>,
    is_away: AtomicBool,
    is_mute: AtomicBool,
    /// Moves of tasks that it makes next without saying so.
    mute_moves: AtomicUsize,
    /// The clock of its own, if it has one.
    clock: Option<Arc<HandClock>>,
    /// How often it was asked to remove what has expired.
    sweeps: AtomicUsize,
    /// What becomes of each request, and what decides it.
    weather: Mutex<Option<(Weather, Arc<Dice>)>>,
}

impl FaultyStore {
    /// The way to `store`.
    pub(crate) fn of(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            is_away: AtomicBool::new(false),
            is_mute: AtomicBool::new(false),
            mute_moves: AtomicUsize::new(0),
            clock: None,
            sweeps: AtomicUsize::new(0),
            weather: Mutex::default(),
        }
    }

    /// The same, with a clock of its own, as a database that many machines share.
    pub(crate) fn with_clock(self, clock: Arc<HandClock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// How often it was asked to remove what has expired.
    pub(crate) fn sweeps(&self) -> usize {
        self.sweeps.load(Ordering::SeqCst)
    }

    /// Takes the store away, or gives it back.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Has it do what it is asked, and say that it is away: as a connection that breaks before the answer.
    pub(crate) fn set_mute(&self, is_mute: bool) {
        self.is_mute.store(is_mute, Ordering::SeqCst);
    }

    /// Has chance decide what becomes of each request.
    pub(crate) fn set_weather(&self, weather: Option<(Weather, Arc<Dice>)>) {
        *self.weather.lock() = weather;
    }

    /// Has it make the next `count` moves of tasks, and say each time that it is away.
    pub(crate) fn mute_moves(&self, count: usize) {
        self.mute_moves.store(count, Ordering::SeqCst);
    }

    fn or<'a, T: Send + 'a>(&'a self, work: impl FnOnce(&'a dyn Store) -> StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let away = || StoreError::Unavailable("away".to_owned());
        if self.is_away.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(away())));
        }
        let done = work(&*self.store);
        if let Some((weather, dice)) = self.weather.lock().clone() {
            return Box::pin(async move {
                sleep(dice.duration(weather.late_max)).await;
                if dice.chance(weather.lost) {
                    return Err(away());
                }
                let done = done.await;
                sleep(dice.duration(weather.late_max)).await;
                if dice.chance(weather.unanswered) { done.and(Err(away())) } else { done }
            });
        }
        match self.is_mute.load(Ordering::SeqCst) {
            true => Box::pin(async move { done.await.and(Err(away())) }),
            false => done,
        }
    }
}

/// The methods of [`Store`], each given on.
macro_rules! given_on {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl Store for FaultyStore {
            $(fn $name(&self, $($argument: $kind),*) -> StoreFuture<'_, $result> {
                self.or(|store| store.$name($($argument),*))
            })*

            fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp> {
                let own = self.clock.as_ref().map(|clock| clock.now());
                self.or(|store| match own {
                    Some(now) => Box::pin(std::future::ready(Ok(now))),
                    None => store.time(machine),
                })
            }

            fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool> {
                let one_less = |left: usize| left.checked_sub(1);
                let is_mute = self.mute_moves.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
                let done = self.or(|store| store.advance_task(task, change));
                match is_mute {
                    true => Box::pin(async move { done.await.and(Err(StoreError::Unavailable("away".to_owned()))) }),
                    false => done,
                }
            }

            fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64> {
                self.sweeps.fetch_add(1, Ordering::SeqCst);
                self.or(|store| store.expire(now, limit))
            }
        }
    };
}

given_on! {
    create_task(task: Task, webhooks: Vec<Webhook>) -> ();
    append_events(task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> ();
    task(id: &TaskId, now: Timestamp) -> Option<Task>;
    events(task: &TaskId, after: u64, limit: usize) -> Vec<(u64, Event)>;
    last_event(task: &TaskId) -> u64;
    tasks(filter: TaskFilter, now: Timestamp) -> TaskPage;
    beat(run: &str) -> bool;
    runs() -> Vec<RunBeat>;
    end_run(seen: &RunBeat) -> bool;
    orphaned_tasks(limit: usize) -> Vec<Task>;
    put_artifact(task: &TaskId, run: &str, artifact: StoredArtifact) -> ();
    artifact(task: &TaskId, id: &str, now: Timestamp) -> Option<StoredArtifact>;
    add_webhook(task: &TaskId, webhook: Webhook, limit: usize, at_end: IfTaskEnded) -> WebhookRegistration;
    webhooks(task: &TaskId) -> Vec<Webhook>;
    remove_webhook(task: &TaskId, id: &str) -> bool;
    enqueue(notice: Notification) -> ();
    claim_deliveries(now: Timestamp, lease: Timestamp, limit: usize) -> Vec<Delivery>;
    settle_delivery(id: u64, retry_at: Option<Timestamp>) -> ();
    put_off_delivery(id: u64, until: Timestamp) -> ();
    release_deliveries(now: Timestamp) -> u64;
    append_turns(thread: &ThreadId, agent: &Handle, addition: ConversationAppend) -> Option<ConversationVersion>;
    thread(thread: &ThreadId, agent: &Handle, now: Timestamp) -> Option<Conversation>;
    thread_version(thread: &ThreadId, agent: &Handle, now: Timestamp) -> Option<ConversationVersion>;
    set_route(thread: &ThreadId, agent: &Handle, expires_at: Timestamp, account: &Account) -> ();
    route(thread: &ThreadId, now: Timestamp) -> Option<Handle>;
    claim_once(key: &str, now: Timestamp, expires_at: Timestamp) -> bool;
    append_entry(stream: &str, entry: LedgerEntry, last: Option<u64>) -> Option<u64>;
    entries(stream: &str, span: Span, limit: usize, now: Timestamp) -> Vec<(u64, LedgerEntry)>;
    room(account: &Account, bytes: u64) -> ();
    ready() -> ();
}
