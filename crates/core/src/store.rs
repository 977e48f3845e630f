//! This module has the trait that storage implements. It is written for several nodes: no operation needs a long
//! transaction, and none relies on what one node remembers.

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::address::Handle;
use crate::caller;
use crate::clock::MachineTime;
use crate::ids::{TaskId, ThreadId};
use crate::message::Turn;
use crate::reply::{CollectedReply, Event};
use crate::task::{Task, TaskState};

mod ledger;
mod list;

pub use crate::account::Account;
pub use crate::quota::{QuotaBound, cost};
pub use ledger::{LedgerEntry, Span, number_at};
pub use list::{Cursor, TaskFilter, TaskPage};

/// The future of a store operation. When it is ready with `Ok`, the write is durable.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why storage could not do it. Nothing was changed, unless [`StoreError::Unavailable`] says that nobody can know.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no room for it: the bound is named. What ends or removes something still works.
    #[error("{bound}")]
    Full {
        /// Which bound was met.
        bound: QuotaBound,
    },
    /// Locked or away. Trying again may work.
    #[error("storage is not available: {0}")]
    Unavailable(String),
    /// Another run holds the task by now, or none does: the run that lost it must write nothing more.
    #[error("another run holds the task")]
    NotHeld,
    /// A task of this id was kept before, by another call.
    #[error("a task of this id exists")]
    Exists,
    /// Damaged, or written by a newer version. For the operator.
    #[error("storage is damaged or of another version: {0}")]
    Corrupt(String),
}

impl From<StoreError> for crate::Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full { bound } => Self::Full { bound },
            // A run that lost a task to another node can't say how it ended: the caller asks again and finds it there.
            StoreError::Unavailable(_) | StoreError::NotHeld => Self::unavailable(),
            StoreError::Exists | StoreError::Corrupt(_) => Self::internal(error),
        }
    }
}

/// Storage of tasks, conversations, artifacts and deliveries.
///
/// Ids of tasks and threads are looked up by a hash of theirs. Expired things are not found,
/// whether or not [`Store::expire`] has removed them yet; `now` always comes from the caller, who has it from
/// [`Store::time`].
pub trait Store: Send + Sync + 'static {
    /// Keeps a new task, with whom to tell when it settles, in one step. Fails with
    /// [`StoreError::Exists`] when the id does, also that of a task which has expired and was not removed yet: the one
    /// place that decides who began it. A task of the same run and moment is this one, which was kept before: repeating
    /// a call is safe, and changes nothing.
    ///
    /// This and everything that is written for the task later, its webhooks and artifacts too, counts
    /// towards the bound of [`Task::account`]: over it, and over that of the whole store, writing is
    /// [`StoreError::Full`] and nothing is changed.
    ///
    /// While an agent is at work on it, from here or from a resumption on until it settles, a task reserves
    /// [`crate::CallerBounds::answer`] bytes of its account: there must be room for them as well. What is written for
    /// the task takes them first, and as long as they last nothing else is asked, so that an answer of that size, its
    /// events and its outcome, is always taken. Beyond them an outcome of at most
    /// [`crate::limits::OUTCOME_FREE_BYTES`] is, so that every task can end.
    fn create_task(&self, task: Task, webhooks: Vec<Webhook>) -> StoreFuture<'_, ()>;

    /// Adds to a task's event log. `first` is the number of the first event, counted from 1 without
    /// gaps; events that are already there are left as they are, so that repeating a call is safe.
    /// Fails with [`StoreError::Corrupt`] when there would be a gap. The events of a task that is
    /// not there any more are dropped. [`StoreError::NotHeld`] when the task is another run's than `run`.
    fn append_events(&self, task: &TaskId, run: &str, first: u64, events: Vec<Event>) -> StoreFuture<'_, ()>;

    /// Moves a task from `change.from` to `change.to`. In the same step, the ending of
    /// `change.outcome` becomes the next event of its log, and when the move settles the task, a
    /// delivery is queued for each of its webhooks. `false`, and nothing is changed, when the task
    /// was not in `change.from` any more, or is another run's than `change.run`. An expired task that
    /// was not removed yet still moves.
    fn advance_task(&self, task: &TaskId, change: TaskChange) -> StoreFuture<'_, bool>;

    /// Reads a task.
    fn task(&self, id: &TaskId, now: Timestamp) -> StoreFuture<'_, Option<Task>>;

    /// Reads at most `limit` events of a task with numbers above `after`, in order.
    fn events(&self, task: &TaskId, after: u64, limit: usize) -> StoreFuture<'_, Vec<(u64, Event)>>;

    /// The number of the last event of a task, 0 when there is none.
    fn last_event(&self, task: &TaskId) -> StoreFuture<'_, u64>;

    /// Reads at most `filter.limit` tasks: the last updated first, of those updated at the same
    /// moment the last created first.
    fn tasks(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage>;

    /// Says that a run is alive, beginning it with the first beat: its lease on every task of its. `false`, for
    /// ever, once it was ended: then its tasks are not its own any more, and what it begins needs another run.
    fn beat(&self, run: &str) -> StoreFuture<'_, bool>;

    /// The runs that were begun and not ended, with the number of the last beat of each. Which of them is dead is
    /// for whoever looks again after a while to say, by a clock of its own: no two clocks are compared.
    fn runs(&self) -> StoreFuture<'_, Vec<RunBeat>>;

    /// Ends a run if it has not beaten since `seen`; `false` when it has, or was ended already: the one place that
    /// decides who lost its lease. A run that never beat is ended too.
    fn end_run(&self, seen: &RunBeat) -> StoreFuture<'_, bool>;

    /// Reads at most `limit` unsettled tasks of runs that are not among [`Store::runs`]: those whose process died.
    fn orphaned_tasks(&self, limit: usize) -> StoreFuture<'_, Vec<Task>>;

    /// Keeps an artifact of a task. The first one of an id stays; that of a task that is not there
    /// any more is dropped. Fails with [`StoreError::Unavailable`] when it, or all of them
    /// together, would be too large, and with [`StoreError::NotHeld`] when the task is another run's than `run`.
    fn put_artifact(&self, task: &TaskId, run: &str, artifact: StoredArtifact) -> StoreFuture<'_, ()>;

    /// Reads an artifact, by both ids.
    fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> StoreFuture<'_, Option<StoredArtifact>>;

    /// Registers a webhook in one step, so that whoever is told [`WebhookRegistration::Yes`] hears of the end. One
    /// of the same id is replaced, in its place, whatever the `limit`. For a task in a final state,
    /// `at_end` says what is done.
    fn add_webhook(
        &self,
        task: &TaskId,
        webhook: Webhook,
        limit: usize,
        at_end: IfTaskEnded,
    ) -> StoreFuture<'_, WebhookRegistration>;

    /// The webhooks of a task in the order in which they were registered; none when there is no task.
    fn webhooks(&self, task: &TaskId) -> StoreFuture<'_, Vec<Webhook>>;

    /// Removes a webhook of a task, together with the deliveries that wait for it. `false` when
    /// there was none of that id.
    fn remove_webhook(&self, task: &TaskId, id: &str) -> StoreFuture<'_, bool>;

    /// Queues a notice: a post that belongs to no task. It is dropped at `notice.expires_at`. Fails with
    /// [`StoreError::Unavailable`] while as many deliveries wait as may, and with [`StoreError::Full`] over a
    /// bound; until it is made or dropped it counts towards `notice.account`.
    fn enqueue(&self, notice: Notification) -> StoreFuture<'_, ()>;

    /// Takes at most `limit` deliveries that are due, the longest due first, and hides them from
    /// other takers until `lease`. From here on the attempt counts, so that one which a crash cut
    /// short has been made.
    fn claim_deliveries(&self, now: Timestamp, lease: Timestamp, limit: usize) -> StoreFuture<'_, Vec<Delivery>>;

    /// Ends a delivery, or sets when to try it again.
    fn settle_delivery(&self, id: u64, retry_at: Option<Timestamp>) -> StoreFuture<'_, ()>;

    /// Has a delivery that somebody has taken wait until then, after what was no attempt at it, and is not counted as one.
    /// Any other stays as it is.
    fn put_off_delivery(&self, id: u64, until: Timestamp) -> StoreFuture<'_, ()>;

    /// Makes due at `now` what was claimed and never settled, without waiting for its lease; gives
    /// how many there were. For the start of a process that has the store to itself: a store that
    /// many processes share leaves this to the leases.
    fn release_deliveries(&self, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Adds turns to a conversation with an agent, beginning it if need be, and keeps the newest
    /// `addition.keep` turns. From the first owner who adds to it on, it is that owner's: what anybody
    /// else would add is dropped, with `None`. Its bytes count towards `addition.account`, that of the
    /// last one who wrote to it. [`StoreError::Full`] over a bound. Otherwise gives how it stands then.
    fn append_turns(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        addition: ConversationAppend,
    ) -> StoreFuture<'_, Option<ConversationVersion>>;

    /// A conversation with an agent. `None` when there is none.
    fn thread(&self, thread: &ThreadId, agent: &Handle, now: Timestamp) -> StoreFuture<'_, Option<Conversation>>;

    /// How a conversation with an agent stands: cheaper than reading it, for who has read it before. `None`
    /// when there is none.
    fn thread_version(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        now: Timestamp,
    ) -> StoreFuture<'_, Option<ConversationVersion>>;

    /// Records which agent a conversation is with, in place of an earlier one. Hub card 3.3. Counts
    /// towards `account`. [`StoreError::Full`] over a bound.
    fn set_route(
        &self,
        thread: &ThreadId,
        agent: &Handle,
        expires_at: Timestamp,
        account: &Account,
    ) -> StoreFuture<'_, ()>;

    /// Which agent a conversation is with.
    fn route(&self, thread: &ThreadId, now: Timestamp) -> StoreFuture<'_, Option<Handle>>;

    /// Records that `key` was seen, until `expires_at`. `false` when it had been seen before, or
    /// when `expires_at` has come: the one place that decides single use.
    fn claim_once(&self, key: &str, now: Timestamp, expires_at: Timestamp) -> StoreFuture<'_, bool>;

    /// Writes an entry at the end of a stream, beginning it if need be, and gives its number, counted
    /// from 1. A number is never given twice, unless everything in the stream has expired: then it
    /// begins anew.
    ///
    /// With `last`, only if that is the number of the last entry that can be read at the moment of the
    /// new one, 0 for none; `None`, and nothing is written, when it is another: the one place that
    /// decides who was first. Fails with [`StoreError::Unavailable`] when the entry is too large, and
    /// with [`StoreError::Full`] over a bound; it counts towards [`LedgerEntry::account`].
    fn append_entry(&self, stream: &str, entry: LedgerEntry, last: Option<u64>) -> StoreFuture<'_, Option<u64>>;

    /// Reads at most `limit` entries of a stream, with their numbers, in the order of `span`.
    fn entries(
        &self,
        stream: &str,
        span: Span,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<(u64, LedgerEntry)>>;

    /// What time it was, when `machine` was read, by the clock by which things expire here: what `now` and
    /// `expires_at` of every other operation mean.
    ///
    /// Where several machines share a store it is the store's own clock. A store of one machine goes by the machine's
    /// wall clock; when that was set since it was asked last, by more than [`crate::clock::CLOCK_SKEW_MAX`], what is
    /// kept is moved as far in the same step, so that it stays for as long as was said when it was written.
    fn time(&self, machine: MachineTime) -> StoreFuture<'_, Timestamp>;

    /// Removes at most `limit` expired things; gives how many there were. A store that several machines share
    /// removes nothing that has not expired by its own clock, whatever `now` says.
    fn expire(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, u64>;

    /// Whether so many more bytes of an account would be kept now: [`StoreError::Full`] when not. A look
    /// ahead, for what is kept only after it was answered; every write asks again by itself.
    fn room(&self, account: &Account, bytes: u64) -> StoreFuture<'_, ()>;

    /// Whether a write would work now.
    fn ready(&self) -> StoreFuture<'_, ()>;
}

/// The heartbeat count of a run of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunBeat {
    /// The run: what [`Task::run`] names.
    pub run: String,
    /// The number of its last beat, counted from 1.
    pub beat: u64,
}

/// A move of a task.
#[derive(Debug, Clone)]
pub struct TaskChange {
    /// The state that the task must be in.
    pub from: TaskState,
    /// The run that must hold it ([`Task::run`]). A run that lost the task can't move it.
    pub run: String,
    /// The new state; [`TaskState::may_become`] holds, or another run takes the task up where it is.
    pub to: TaskState,
    /// The outcome, when the task settles. Replaces an earlier outcome, also when `None`.
    pub outcome: Option<CollectedReply>,
    /// When.
    pub at: Timestamp,
    /// The caller's next turn, when the task goes on after a question.
    pub resume: Option<Resumption>,
}

impl TaskChange {
    /// The move that ends the work on `task`, or pauses it, with this outcome. Where it goes follows from
    /// that.
    pub fn settle(task: &Task, outcome: CollectedReply, at: Timestamp) -> Self {
        let to = TaskState::after(&outcome.ending);
        Self { from: task.state, run: task.run.clone(), to, outcome: Some(outcome), at, resume: None }
    }

    /// The move of a task that was worked on by a run that is gone, to `run`: of all that want it, one gets it.
    pub fn take_up(task: &Task, run: String, expires_at: Timestamp, at: Timestamp) -> Self {
        let resumption = Resumption { run, turns: Vec::new(), webhooks: Vec::new(), expires_at };
        Self::resume(task, resumption, at)
    }

    /// The move of a task that waited and is worked on again.
    pub fn resume(task: &Task, resumption: Resumption, at: Timestamp) -> Self {
        let run = task.run.clone();
        Self { from: task.state, run, to: TaskState::Working, outcome: None, at, resume: Some(resumption) }
    }
}

/// The additions to a task that waited for its caller and is worked on again.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumption {
    /// The run that works on it now.
    pub run: String,
    /// The turns that are added to [`Task::turns`].
    pub turns: Vec<Turn>,
    /// Whom to tell as well when it settles again; one of an id that it has already takes its place. At
    /// most [`crate::limits::WEBHOOKS_PER_TASK_MAX`] are kept, the first ones.
    pub webhooks: Vec<Webhook>,
    /// When it stops being readable now.
    pub expires_at: Timestamp,
}

/// Turns to add to a conversation.
#[derive(Debug, Clone)]
pub struct ConversationAppend {
    /// The proven subject that sent it: [`crate::Sender::owner`].
    pub owner: Option<String>,
    /// The account that is charged for the conversation from now on.
    pub account: Account,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// How many turns of the conversation are kept.
    pub keep: usize,
    /// When the conversation stops being readable now.
    pub expires_at: Timestamp,
}

/// A conversation with an agent, as it is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The proven subject that owns it: nobody else may go on with it. `None`: no proven subject has written yet.
    pub owner: Option<String>,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// Its version.
    pub version: ConversationVersion,
}

/// The version of a conversation: every addition changes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConversationVersion {
    /// The number of its last turn, counted from 1; 0 when nothing is kept of it.
    pub last_turn: u64,
    /// When it stops being readable.
    pub expires_at: Timestamp,
}

impl Conversation {
    /// Whether `owner` may go on with it; `None` is a caller who proved nothing.
    pub fn is_open_to(&self, owner: Option<&str>) -> bool {
        caller::is_open_to(self.owner.as_deref(), owner)
    }
}

/// The effect of registering a webhook for a task in a final state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfTaskEnded {
    /// Nothing: [`WebhookRegistration::Ended`].
    Refuse,
    /// The webhook is registered, and told of the end at once.
    Tell,
}

/// The result of registering a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum WebhookRegistration {
    /// It will be told when the task settles, or takes the place of the one of its id.
    Yes,
    /// The task has as many as it may.
    TooMany,
    /// The task is in a final state: there will be nothing to tell.
    Ended,
    /// There is no such task.
    NoTask,
}

/// A file made by a task, as it is kept. Never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredArtifact {
    /// An opaque name within its task.
    pub id: String,
    /// The stored media type.
    pub mime: String,
    /// A name to show.
    pub name: Option<String>,
    /// At most [`crate::limits::ARTIFACT_BYTES_MAX`].
    pub bytes: Bytes,
}

/// The URL that is notified when a task settles, with its secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Names it within its task. Made up by the caller, or minted.
    #[serde(default)]
    pub id: String,
    /// Which form the body has: the protocol that registered it.
    pub protocol: String,
    /// The URL to post to.
    pub url: String,
    /// The secret that signs the body, at most 256 bytes.
    pub secret: Option<String>,
    /// Whether it is the callback of one request, which may be on our own host name, and not a
    /// registered webhook, which may not. Mentionable REST 5.4, 5.5.
    #[serde(default)]
    pub callback: bool,
    /// Further attempts after a failed first one.
    pub retries: u32,
    /// Values that the protocol needs to write the post, in its own words.
    #[serde(default)]
    pub details: Map<String, Value>,
}

/// Never prints the secret, the URL, whose query may hold one, nor the details, which may too.
impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

/// A post that belongs to no task. All there is to tell is in [`Webhook::details`].
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The URL to notify, and in `details` the content.
    pub webhook: Webhook,
    /// The account that is charged for it.
    pub account: Account,
    /// When it is due.
    pub due_at: Timestamp,
    /// When it is of no use any more.
    pub expires_at: Timestamp,
}

/// One post that is due.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Names it in this store.
    pub id: u64,
    /// The webhook to notify.
    pub webhook: Webhook,
    /// The task as it was when it settled; `None` for a [`Notification`].
    pub task: Option<Task>,
    /// Attempts made before this one.
    pub attempts: u32,
}
