//! The bounds that storage enforces by itself, with their units.

use std::time::Duration;

/// Writes that wait for the writer. More callers wait for room; none is turned away.
pub(crate) const WRITES_QUEUED_MAX: usize = 1_024;
/// Writes in one commit.
pub(crate) const WRITES_PER_COMMIT_MAX: usize = 256;
/// How long the writer waits for those whom the last commit answered, once somebody waits for the next one. It never
/// waits for a lone caller, nor longer than half of what the last commit took.
pub(crate) const GATHER_MAX: Duration = Duration::from_micros(500);
/// Read-only connections.
pub(crate) const READERS: usize = 3;
/// How long a statement waits for a lock that another process holds.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);
/// Statements kept ready on each connection: more than there are.
// The default of rusqlite, 16, would plan some of them again for each write.
pub(crate) const STATEMENTS_CACHED: usize = 64;
/// Bytes of all artifacts together.
pub(crate) const ARTIFACTS_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Tasks whose names are not written yet: they are looked for one by one, where another process made them.
pub(crate) const TASKS_UNNAMED_MAX: i64 = 1_024;
/// Rows of tasks that are remembered before those that were not used lately are forgotten.
pub(crate) const TASK_ROWS_AT_HAND: usize = 8_192;
/// Artifacts on their way to the writer at once, each up to
/// [`forecourt_core::limits::ARTIFACT_BYTES_MAX`].
pub(crate) const ARTIFACT_WRITES_MAX: usize = 4;
/// Bytes of turns kept of one conversation, as JSON. The newest turn stays, whatever its size.
pub(crate) const THREAD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the database file. This bounds whatever has no closer bound.
pub const DATABASE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// Bytes of the write-ahead log over which it is taken over into the database and emptied.
pub const LOG_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of a database of an earlier version up to which it is rewritten as it is opened, so that it can
/// give space back. A larger one goes on as it is.
pub const REWRITTEN_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of a database up to which all of it is looked at before a start.
pub(crate) const INSPECTED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Pages that nothing is on any more, given back to the disk in one transaction.
pub(crate) const FREED_PAGES_PER_COMMIT: i64 = 1_024;
/// Rows of an expired task's event log removed in one transaction.
pub(crate) const EXPIRED_ROWS_PER_COMMIT: usize = 2_000;
/// How long it is remembered that a run was ended, so that a process that slept meanwhile does not take it up again:
/// longer than any sleeps. Counted from the first removal of expired things that sees it.
pub const ENDED_RUNS_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Tasks that [`crate::Memory`] keeps.
pub(crate) const MEMORY_TASKS_MAX: usize = 50_000;
/// Conversations that [`crate::Memory`] keeps.
pub(crate) const MEMORY_THREADS_MAX: usize = 50_000;
/// Routes that [`crate::Memory`] keeps.
pub(crate) const MEMORY_ROUTES_MAX: usize = 50_000;
/// Claims that [`crate::Memory`] keeps.
pub(crate) const MEMORY_CLAIMS_MAX: usize = 500_000;
/// Entries of all streams together that [`crate::Memory`] keeps.
pub(crate) const MEMORY_ENTRIES_MAX: usize = 200_000;
/// Connections of one node to PostgreSQL.
pub(crate) const POSTGRES_CONNECTIONS: usize = 10;
/// Transactions in which a node writes to PostgreSQL at once, each many writes.
pub(crate) const POSTGRES_LANES: usize = 2;
/// Writes with which a transaction is begun beside another one of the same node. Fewer wait for that to end, and cost
/// less together with those whom it answers.
pub(crate) const POSTGRES_WRITES_BESIDE_MIN: usize = 8;
/// How long such writes wait at most: the other transaction may itself wait for a lock.
pub(crate) const POSTGRES_GATHER_MAX: Duration = Duration::from_millis(5);
/// Bytes, as they are charged, up to which what is written of a task is sent to PostgreSQL in one statement with what
/// is written of others.
pub(crate) const POSTGRES_BATCHED_BYTES_MAX: u64 = 64 * 1024;
/// How long an operation on PostgreSQL may take, waiting for its turn included.
pub const POSTGRES_OPERATION_MAX: Duration = Duration::from_secs(5);
/// How long a new connection to PostgreSQL may take, and how long an operation waits for a connection to be free.
pub const POSTGRES_CONNECT_MAX: Duration = Duration::from_secs(2);
/// How long a statement waits for a lock of another transaction, in milliseconds.
pub(crate) const POSTGRES_LOCK_WAIT_MS: u64 = 2_000;
/// How often a write is tried that a deadlock or a conflict undid.
pub(crate) const POSTGRES_ATTEMPTS: usize = 5;
/// How old what is known of the bytes of callers who proved nothing may be.
pub(crate) const STRANGERS_SUMS_EVERY: Duration = Duration::from_secs(10);
/// Where one of their bounds is met before that, the database is asked again, for their bytes or for what could go, once
/// so many times as long have passed as it took the last time.
pub(crate) const STRANGERS_LOOK_PART: u32 = 20;
/// The part of what is kept for all of them, one in so many, that is freed at once where they are out of room.
pub(crate) const STRANGERS_REMOVED_PART: u64 = 64;
/// Tasks of theirs that are removed in one transaction, each with its whole log.
pub(crate) const STRANGERS_REMOVED_AT_ONCE: usize = 64;
/// Bytes of such tasks after which a transaction removes no more of them.
pub(crate) const STRANGERS_BYTES_REMOVED_AT_ONCE: u64 = 4 * 1024 * 1024;
/// How often it is told at most that tasks of theirs are removed.
pub(crate) const STRANGERS_TOLD_EVERY: Duration = Duration::from_secs(60);
/// How old what is known of the size of the tables may be.
pub(crate) const POSTGRES_SIZE_EVERY: Duration = Duration::from_secs(10);
/// How long minutes of time series are kept: a day, and another one within which what a crash left is still rolled up.
pub const TRENDS_MINUTES_KEPT: Duration = Duration::from_secs(2 * 24 * 3600);
/// How long ten minutes of time series are kept: a week, and a day within which they are rolled up.
pub const TRENDS_TENS_KEPT: Duration = Duration::from_secs(8 * 24 * 3600);
/// How long hours of time series are kept.
pub const TRENDS_HOURS_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// Values of one label of a metric that are told apart in an entry.
pub const TRENDS_LABELS_MAX: usize = 24;
/// Characters of a label.
pub const TRENDS_LABEL_CHARS_MAX: usize = 80;
/// Bytes, as JSON, of what one node counted in one slice: 12 KiB. A node that counts all day writes 2,880 minutes, 1,152
/// ten minutes and 720 hours of these at most, 56 MiB; one with a few agents, one in fifty of that.
pub const TRENDS_NODE_BYTES_MAX: usize = 12 * 1024;
/// Nodes that are told apart in one slice that is rolled up: all of them together are within one entry.
pub const TRENDS_NODES_MAX: usize = 16;
/// Entries of series that are read for one answer, and for one slice that is rolled up.
pub(crate) const TRENDS_READ_MAX: usize = 2_000;
/// Entries of series that are read in one go.
pub(crate) const TRENDS_PAGE: usize = 200;
/// How long after its end a slice is rolled up: other nodes have written by then.
pub(crate) const TRENDS_LATE_MAX: Duration = Duration::from_secs(120);
/// Slices that are rolled up in one go.
pub(crate) const TRENDS_ROLL_UPS_MAX: usize = 500;
