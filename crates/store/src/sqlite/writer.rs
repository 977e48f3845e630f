//! This module has the one thread that writes to SQLite. It takes what is queued, runs it in one transaction, commits,
//! and then answers every caller: one sync to disk serves all who waited for it.

use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use forecourt_core::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::SqliteError;
use crate::limits::{GATHER_MAX, LOG_BYTES};

mod queue;

use queue::{Queue, Waiting, queue};

/// Hands writes to the thread. Dropping it writes what is queued and waits for the thread.
pub(super) struct Writer {
    queue: Queue,
    thread: Option<JoinHandle<()>>,
}

enum Command {
    Write(Box<dyn Write>),
    /// Stop after what was queued before; answered when the log has been emptied.
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the thread on a connection of its own.
    pub(super) fn start(db: Connection) -> Result<Self, StoreError> {
        let (queue, waiting) = queue();
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || serve(&db, &waiting));
        let thread = thread.map_err(|e| StoreError::Unavailable(format!("no thread for the writer: {e}")))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Runs `work` in a transaction and returns once that is durable. `work` runs again when a
    /// neighbour took its transaction down. Dropping the future does not stop it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let pending = Pending { work, result: None, answer };
        self.queue.push(Command::Write(Box::new(pending))).await?;
        answered.await.map_err(|_| closed())?
    }

    /// Writes that wait to be taken up.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Writes what is queued, empties the log into the database and ends the thread. Later writes
    /// are [`StoreError::Unavailable`].
    pub(super) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.queue.push(Command::Close(done)).await.is_ok() {
            // An error means that the thread has ended already.
            let _ = closed.await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.end();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the store's writer panicked");
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

/// One write on its way, whatever it answers.
trait Write: Send {
    /// Runs it and keeps what came of it; whether that was a success.
    fn run(&mut self, db: &Connection) -> bool;
    /// Answers with what came of it, or with the fault that undid it.
    fn answer(self: Box<Self>, undone: Option<&SqliteError>);
}

struct Pending<T, W> {
    work: W,
    result: Option<Result<T, SqliteError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, W: Fn(&Connection) -> Result<T, SqliteError> + Send> Write for Pending<T, W> {
    fn run(&mut self, db: &Connection) -> bool {
        let result = (self.work)(db).map_err(|fault| fault.at(db));
        self.result.insert(result).is_ok()
    }

    fn answer(self: Box<Self>, undone: Option<&SqliteError>) {
        let result = match (undone, self.result) {
            (Some(fault), None | Some(Ok(_))) => Err(fault.to_store_error()),
            (_, Some(result)) => result.map_err(StoreError::from),
            (None, None) => Err(closed()),
        };
        // An error means that the caller has gone; the write is committed all the same.
        let _ = self.answer.send(result);
    }
}

/// The thread: until the queue ends or somebody closes it.
fn serve(db: &Connection, waiting: &Waiting) {
    let mut pace = Pace::default();
    let mut end = None;
    let log = db.path().map(|path| PathBuf::from(format!("{path}-wal")));
    let file = Anchor::of(db);
    while end.is_none() {
        let taken = waiting.take(pace.expected, pace.patience());
        if taken.is_empty() {
            break;
        }
        let mut batch = Vec::with_capacity(taken.len());
        end = until_closed(taken, &mut batch).break_value();
        let began = Instant::now();
        let len = batch.len();
        commit(db, batch, &file, &mut || pace = Pace { expected: len + waiting.len(), commit: began.elapsed() });
        bound_log(db, log.as_deref());
    }
    // A failure is harmless: the log is replayed when the database is opened again.
    if let Err(error) = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
        tracing::warn!(%error, "the log was left for the next start");
    }
    if let Some(done) = end {
        let _ = done.send(());
    }
}

/// The writes in front of an order to close. Breaks with whom to tell of the end.
fn until_closed(taken: Vec<Command>, batch: &mut Vec<Box<dyn Write>>) -> ControlFlow<oneshot::Sender<()>> {
    taken.into_iter().try_for_each(|command| match command {
        Command::Write(write) => {
            batch.push(write);
            ControlFlow::Continue(())
        }
        Command::Close(done) => ControlFlow::Break(done),
    })
}

/// Empties the log once it is long. Left to itself it would grow for as long as somebody reads.
fn bound_log(db: &Connection, log: Option<&Path>) {
    let len = log.and_then(|log| log.metadata().ok()).map_or(0, |log| log.len());
    if len > LOG_BYTES
        && let Err(error) = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    {
        tracing::warn!(%error, "the log was not emptied");
    }
}

/// Measurements of the last commit, by which the next one waits for more writes.
#[derive(Default)]
struct Pace {
    /// How many writes it had, and how many waited behind it: those who are answered tend to come back at once, and
    /// in one commit with those who waited they make half as many as in turns. For a lone caller it is one.
    expected: usize,
    /// How long it took.
    commit: Duration,
}

impl Pace {
    /// How long those who were answered are given to come back.
    fn patience(&self) -> Duration {
        // In proportion to the commit: where a sync takes 100 µs, waiting 500 µs for company would cost more than it
        // saves.
        GATHER_MAX.min(self.commit / 2)
    }
}

/// Commits a batch, says that it `is_settled`, and answers it. A write that cannot be done fails alone: when one
/// does, the others run again, and when even that fails, each gets a transaction of its own.
fn commit(db: &Connection, mut batch: Vec<Box<dyn Write>>, file: &Anchor, is_settled: &mut dyn FnMut()) {
    let mut done = transact(db, &mut batch, run);
    if let (Err(Undone::Within(_)), 2..) = (&done, batch.len()) {
        done = transact(db, &mut batch, run_in_savepoint);
    }
    if let (Err(Undone::Within(_)), 2..) = (&done, batch.len()) {
        return batch.into_iter().for_each(|write| commit(db, vec![write], file, is_settled));
    }
    let fault = done.err().map(|(Undone::Before(fault) | Undone::Within(fault))| fault);
    // SQLite goes on writing into a file that was deleted or replaced: nothing of that may be acknowledged.
    let fault = fault.or_else(|| file.missing());
    is_settled();
    for write in batch {
        write.answer(fault.as_ref());
    }
}

/// The file of a database as it was opened: writing goes on into one that has been taken away, and is lost
/// with it.
struct Anchor(Option<(PathBuf, (u64, u64))>);

impl Anchor {
    fn of(db: &Connection) -> Self {
        let path = db.path().filter(|path| !path.is_empty()).map(PathBuf::from);
        Self(path.and_then(|path| identity(&path).map(|is| (path, is))))
    }

    /// The fault that the file is not where it was.
    fn missing(&self) -> Option<SqliteError> {
        let (path, is) = self.0.as_ref()?;
        let there = identity(path) == Some(*is);
        (!there).then(|| StoreError::Unavailable("the database has been taken away".to_owned()).into())
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|is| (is.dev(), is.ino()))
}

/// When a transaction failed.
enum Undone {
    /// It could not begin: nobody's fault, and no better for one alone.
    Before(SqliteError),
    /// On the way or at its end: perhaps the fault of one.
    Within(SqliteError),
}

fn transact(
    db: &Connection,
    batch: &mut [Box<dyn Write>],
    run: impl Fn(&Connection, &mut dyn Write) -> Result<(), SqliteError>,
) -> Result<(), Undone> {
    // A transaction is open here only when the last rollback failed.
    roll_back(db).and_then(|()| execute(db, "BEGIN IMMEDIATE")).map_err(Undone::Before)?;
    let done = batch.iter_mut().try_for_each(|write| run(db, write.as_mut()));
    done.and_then(|()| execute(db, "COMMIT")).map_err(|fault| {
        if let Err(fault) = roll_back(db) {
            tracing::error!(?fault, "a transaction would not roll back");
        }
        Undone::Within(fault)
    })
}

/// The usual way: nothing fails, so nothing is spent on taking back one of many.
fn run(db: &Connection, write: &mut dyn Write) -> Result<(), SqliteError> {
    if write.run(db) { Ok(()) } else { Err(undone()) }
}

/// A write that fails is taken back and its neighbours stay, unless SQLite took back everything.
/// Costs a copy of every page that the write touches.
fn run_in_savepoint(db: &Connection, write: &mut dyn Write) -> Result<(), SqliteError> {
    execute(db, "SAVEPOINT one")?;
    if !write.run(db) {
        if db.is_autocommit() {
            return Err(undone());
        }
        execute(db, "ROLLBACK TO one")?;
    }
    execute(db, "RELEASE one")
}

fn undone() -> SqliteError {
    SqliteError::Store(StoreError::Unavailable("a neighbouring write undid this one".to_owned()))
}

fn roll_back(db: &Connection) -> Result<(), SqliteError> {
    if db.is_autocommit() { Ok(()) } else { execute(db, "ROLLBACK") }
}

fn execute(db: &Connection, statement: &'static str) -> Result<(), SqliteError> {
    db.prepare_cached(statement)?.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests;
