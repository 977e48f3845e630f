//! This module has the reads of a store that only the operator may do: tasks of all callers, waiting deliveries, and
//! counts. Protocols have a [`Store`], which does not lead here.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::store::{StoreFuture, TaskFilter, TaskPage, Webhook};
use forecourt_core::{Handle, Store, Task, TaskId, TaskState, ThreadId, Timestamp};

/// Bytes of a hash of a task's id that make its reference.
const REFERENCE_BYTES: usize = 8;

/// The name of a task for its operator, in lists, URLs and logs: the first 16 hexadecimal digits of the SHA-256 of its
/// id. Unlike the id it is no capability.
pub fn reference(task: &TaskId) -> String {
    name_of(digest(&SHA256, task.expose().as_bytes()).as_ref())
}

/// The name of a conversation for its operator, made as that of a task is. It opens nothing.
pub fn conversation_reference(thread: &ThreadId) -> String {
    name_of(digest(&SHA256, thread.key().as_bytes()).as_ref())
}

/// The beginning of a hash, as it is written.
pub(crate) fn name_of(hash: &[u8]) -> String {
    hash.iter().take(REFERENCE_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that a reference stands for. `None` when it is none.
pub(crate) fn reference_bytes(reference: &str) -> Option<[u8; REFERENCE_BYTES]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if reference.len() != 2 * REFERENCE_BYTES || !reference.bytes().all(is_hex) {
        return None;
    }
    Some(u64::from_str_radix(reference, 16).ok()?.to_be_bytes())
}

/// A store as its operator may look at it. Nothing here changes anything.
pub trait StoreReads: Store {
    /// As [`Store::tasks`], of everybody: the owner and the conversations of `filter` are not looked at.
    fn tasks_of_all(&self, filter: TaskFilter, now: Timestamp) -> StoreFuture<'_, TaskPage>;

    /// A task by its [`reference()`]. Of several with the same one, any; of what is no reference, none.
    fn task_by_reference(&self, reference: &str, now: Timestamp) -> StoreFuture<'_, Option<Task>>;

    /// At most `limit` deliveries that wait, with ids above `after`, in the order in which they were queued.
    fn deliveries(&self, after: u64, limit: usize) -> StoreFuture<'_, Vec<QueuedDelivery>>;

    /// How all deliveries that wait do, in the order in which they were queued. None of them is opened: whose each is lies
    /// sealed.
    fn delivery_attempts(&self) -> StoreFuture<'_, Vec<DeliveryAttempts>>;

    /// At most `limit` tasks of everybody with numbers below `before`, the last begun first. None of them is opened: what
    /// was said in it stays sealed. [`u64::MAX`]: from the end.
    fn task_summaries(&self, before: u64, limit: usize, now: Timestamp) -> StoreFuture<'_, Vec<TaskSummary>>;

    /// At most `limit` conversations of everybody behind `place`, those that were gone on with last first. None of them
    /// is opened.
    fn conversation_summaries(
        &self,
        place: ConversationPlace,
        limit: usize,
        now: Timestamp,
    ) -> StoreFuture<'_, Vec<ConversationSummary>>;

    /// Counts of tasks, conversations and deliveries.
    fn overview(&self, now: Timestamp) -> StoreFuture<'_, StoreOverview>;

    /// The length of the queue and the use of the connection pool. Does not query the database.
    fn load(&self) -> StoreLoad;
}

/// The queue and the connections of a store at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreLoad {
    /// OpenTelemetry's name for the database: `sqlite`, `postgresql`, `memory`.
    pub system: &'static str,
    /// Writes that wait for the writer. `None` where nothing waits.
    pub writes_waiting: Option<u64>,
    /// Tasks of callers who proved nothing that this process removed before their time, since they were out of room.
    pub strangers_tasks_removed: u64,
    /// Connections to a server, where there are any.
    pub pool: Option<PoolLoad>,
}

/// Connections to the server of a store at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PoolLoad {
    /// Connections that somebody uses.
    pub in_use: u64,
    /// Connections that wait for somebody.
    pub idle: u64,
    /// Connections at most.
    pub max: u64,
    /// Operations that wait for a connection.
    pub waiting: u64,
    /// How often a connection was lent since the store was opened.
    pub lent: u64,
    /// Seconds that were waited for connections in all since then, new ones included.
    pub waited_seconds: f64,
}

/// A delivery as it waits.
#[derive(Debug, Clone)]
pub struct QueuedDelivery {
    /// Names it: what [`Store::settle_delivery`] takes.
    pub id: u64,
    /// The webhook that it notifies.
    pub webhook: Webhook,
    /// The [`reference()`] of the task that it tells of; `None` for a notice.
    pub task: Option<String>,
    /// The agent of that task.
    pub agent: Option<Handle>,
    /// Attempts made so far.
    pub attempts: u32,
    /// When it is due; while it is being made, when somebody else may take it.
    pub due_at: Timestamp,
    /// Whether somebody has taken it and not settled it yet.
    pub is_claimed: bool,
}

/// How a delivery does, as far as that is known without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryAttempts {
    /// Names it.
    pub id: u64,
    /// Attempts made so far.
    pub attempts: u32,
    /// When it is due; while it is being made, when somebody else may take it.
    pub due_at: Timestamp,
    /// Whether somebody has taken it and not settled it yet.
    pub is_claimed: bool,
}

/// What is known of a task without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSummary {
    /// Its place among all tasks of the store: later ones have higher numbers.
    pub number: u64,
    /// Its [`reference()`].
    pub task: String,
    /// The [`conversation_reference`] of the conversation that it belongs to.
    pub conversation: Option<String>,
    /// The agent that works on it.
    pub agent: Handle,
    /// The proven subject that began it, if there was one.
    pub owner: Option<String>,
    /// Its state.
    pub state: TaskState,
    /// The run that works on it, or did last.
    pub run: String,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
}

/// What is known of a conversation without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// Its place among all conversations of the store.
    pub number: u64,
    /// Its [`conversation_reference`].
    pub conversation: String,
    /// The agent that it is with.
    pub agent: Handle,
    /// The proven subject whose it is, if there is one.
    pub owner: Option<String>,
    /// Turns that are kept of it.
    pub turns: u64,
    /// Until when it is kept: each turn moves that.
    pub expires_at: Timestamp,
}

impl ConversationSummary {
    /// Its place in a list of [`StoreReads::conversation_summaries`].
    pub fn place(&self) -> ConversationPlace {
        ConversationPlace { expires_at: self.expires_at, number: self.number }
    }
}

/// A place in a list of conversations: behind the one that is kept until a moment and, of those, has this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConversationPlace {
    /// Until when the conversation before this place is kept.
    pub expires_at: Timestamp,
    /// The number of the conversation before this place.
    pub number: u64,
}

impl ConversationPlace {
    /// Before all of them.
    pub const FIRST: Self = Self { expires_at: Timestamp::MAX, number: u64::MAX };
}

/// Counts of what a store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreOverview {
    /// Tasks that can be read, by agent and state.
    pub tasks: Vec<(Handle, TaskState, u64)>,
    /// Tasks that are worked on, by the run that holds them.
    pub held: Vec<(String, u64)>,
    /// Conversations that somebody can go on with.
    pub conversations: u64,
    /// Deliveries that wait.
    pub deliveries: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_the_beginning_of_the_hash_and_nothing_else_is_one() {
        let task = TaskId::parse("a".repeat(43).as_str()).expect("an id");
        let name = reference(&task);
        assert_eq!(name.len(), 16);
        let bytes = reference_bytes(&name).expect("a reference");
        assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), name);
        for other in ["", "0", "0123456789abcde", "0123456789abcdeg", "0123456789ABCDEF", "+123456789abcdef"] {
            assert_eq!(reference_bytes(other), None, "{other}");
        }
    }
}
