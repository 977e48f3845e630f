//! The journal of a task's work: what its agent was asked, what it noted of how far it came, and which runs took it up.
//! For whoever takes it up next.
//!
//! A stream of the ledger for each task, kept for as long as the task. Each turn of a task is a piece of work with a name
//! of its own, so that entries of two callers who answer one question at once stay apart.
//!
//! A run writes its notes only behind the last entry that it knows. An entry of another run that took the work up stops
//! it there: what must not happen twice is noted before it is begun, so that of two runs one begins it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forecourt_core::journal::{JournalKeeper, NotWritten};
use forecourt_core::{EarlierTry, Message, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, watch};

mod entry;
mod kept;
mod message;
mod stream;

use entry::JournalEntry;
pub(crate) use entry::{AskedWork, WorkBeginning};
pub(crate) use kept::KeptWork;
pub(crate) use message::KeptMessage;
pub(crate) use stream::JournalStream;

/// How often an agent is asked for one turn of a task, the first time included, without a note that it came further: a
/// message that kills its process must not kill it for ever.
pub const WORK_TRIES_MAX: u32 = 3;
/// Bytes of what is kept of a message so that its agent can be asked again, as JSON, with the history that it was given
/// and with its files. Work on a larger one ends with its node.
pub const JOURNAL_BYTES_MAX: usize = forecourt_core::limits::ENTRY_BYTES_MAX;
/// Notes of one piece of work. With more it ends with its node.
pub const NOTES_MAX: usize = 128;
/// Bytes of one note, as JSON. With a larger one the work ends with its node.
pub const NOTE_BYTES_MAX: usize = 128 * 1024;
/// Bytes of all notes of one piece of work, as JSON. With more it ends with its node.
pub const NOTES_BYTES_MAX: usize = 1024 * 1024;

/// The journal of one piece of work, on the side of the run that does it.
pub(crate) struct Journal {
    work: String,
    /// What earlier tries have left.
    earlier: EarlierTry,
    /// What its agent is asked, until there is a task to keep it with.
    asked: Mutex<Option<Box<AskedWork>>>,
    unwritten: Mutex<Unwritten>,
    news: Notify,
    progress: watch::Sender<JournalProgress>,
    /// Whether another run could go on with it.
    is_kept: AtomicBool,
    is_handed_over: AtomicBool,
}

/// Entries that are not in the store yet, oldest first, and what was noted at all.
#[derive(Default)]
struct Unwritten {
    entries: VecDeque<JournalEntry>,
    notes: usize,
    bytes: usize,
    /// The number of the last entry in the store that this run knows; 0 before the first.
    last: u64,
    /// Entries that were ever put here.
    added: u64,
}

/// How far a journal is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct JournalProgress {
    state: JournalState,
    /// Entries that are in the store.
    written: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum JournalState {
    /// There is no task yet, so that nobody could go on with the work.
    #[default]
    Unopened,
    Open,
    /// The work ends with its node, as whoever finds its task knows.
    Closed,
    /// Another run goes on with the work, or might believe that less was done than was.
    Failed,
}

impl Journal {
    /// The journal of work that begins with `message`.
    pub(crate) fn begin(work: String, message: &Message, is_known: bool) -> Arc<Self> {
        let message = KeptMessage::of(message);
        let asked = AskedWork { work: work.clone(), begun: WorkBeginning::default(), is_known, message };
        Arc::new(Self::new(work, EarlierTry::None, Some(Box::new(asked)), Unwritten::default()))
    }

    /// The journal of work that is taken up.
    pub(crate) fn take_up(kept: &KeptWork) -> Arc<Self> {
        let bytes = kept.notes.iter().map(json_bytes).sum();
        let unwritten = Unwritten { notes: kept.notes.len(), bytes, last: kept.last, ..Unwritten::default() };
        let journal = Self::new(kept.asked.work.clone(), EarlierTry::Left(kept.notes.clone()), None, unwritten);
        journal.is_kept.store(true, Ordering::Relaxed);
        journal.move_to(JournalState::Open);
        Arc::new(journal)
    }

    fn new(work: String, earlier: EarlierTry, asked: Option<Box<AskedWork>>, unwritten: Unwritten) -> Self {
        Self {
            work,
            earlier,
            asked: Mutex::new(asked),
            unwritten: Mutex::new(unwritten),
            news: Notify::new(),
            progress: watch::Sender::default(),
            is_kept: AtomicBool::new(false),
            is_handed_over: AtomicBool::new(false),
        }
    }

    /// There is to be a task for the work. What is too large is not kept. Called again, it is another task: the id of the
    /// one before was not free.
    pub(crate) fn open(&self, begun: WorkBeginning) {
        let Some(asked) = self.asked.lock().clone() else { return };
        let entry = JournalEntry::Asked(Box::new(AskedWork { begun, ..*asked }));
        let bytes = json_bytes(&entry);
        if bytes > JOURNAL_BYTES_MAX {
            tracing::info!(bytes, max = JOURNAL_BYTES_MAX, "a message is too large to be asked again later");
            return self.end(JournalState::Closed);
        }
        let mut unwritten = self.unwritten.lock();
        unwritten.last = 0;
        if let Some(JournalEntry::Asked(_)) = unwritten.entries.front() {
            unwritten.entries.pop_front();
            unwritten.added -= 1;
        }
        // Before what was noted while there was no task yet: that is of no use without it.
        unwritten.entries.push_front(entry);
        unwritten.added += 1;
        drop(unwritten);
        self.move_to(JournalState::Open);
    }

    /// Its task is in the store, and no other one will be opened.
    pub(crate) fn forget_asked(&self) {
        *self.asked.lock() = None;
    }

    /// Whether another run could go on with the work.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Waits until there is something to write.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }

    /// From here on another run goes on with it.
    pub(crate) fn hand_over(&self) {
        self.is_handed_over.store(true, Ordering::Relaxed);
    }

    /// Writes what is not written yet. When it fails, that is tried again by the next call.
    ///
    /// # Errors
    /// [`StoreError::NotHeld`] when another run has taken the work up: nothing is written any more then.
    pub(crate) async fn write(&self, to: &JournalStream<'_>) -> Result<(), StoreError> {
        loop {
            let (entry, last) = {
                let unwritten = self.unwritten.lock();
                let Some(entry) = unwritten.entries.front().cloned() else { return Ok(()) };
                (entry, unwritten.last)
            };
            let number = match to.append_behind(&self.work, &entry, last).await {
                Err(StoreError::NotHeld) => {
                    self.end(JournalState::Failed);
                    return Err(StoreError::NotHeld);
                }
                written => written?,
            };
            let mut unwritten = self.unwritten.lock();
            unwritten.last = number;
            unwritten.entries.pop_front();
            drop(unwritten);
            match entry {
                JournalEntry::Asked(_) => self.is_kept.store(true, Ordering::Relaxed),
                JournalEntry::Closed { .. } => {
                    self.is_kept.store(false, Ordering::Relaxed);
                    self.end(JournalState::Closed);
                }
                _ => {}
            }
            self.progress.send_modify(|progress| progress.written += 1);
        }
    }

    /// Says that the run which had it stopped in good order, so that this was no try.
    pub(crate) async fn note_handed_over(&self, to: &JournalStream<'_>) -> Result<(), StoreError> {
        to.hand_over(&self.work).await
    }

    /// Gives up what is not written, as there is no room for it: the work ends with its node, and whoever finds its task
    /// is told so, where it would be taken up otherwise.
    pub(crate) async fn give_up(&self, to: &JournalStream<'_>) {
        let is_told = !self.is_kept() || to.close(&self.work).await.is_ok();
        self.is_kept.store(false, Ordering::Relaxed);
        self.end(if is_told { JournalState::Closed } else { JournalState::Failed });
    }

    /// Nothing is written from here on.
    fn end(&self, state: JournalState) {
        self.unwritten.lock().entries.clear();
        self.move_to(state);
    }

    fn move_to(&self, state: JournalState) {
        self.progress.send_modify(|progress| progress.state = state);
    }

    fn state(&self) -> JournalState {
        self.progress.borrow().state
    }
}

impl JournalKeeper for Journal {
    fn work(&self) -> &str {
        &self.work
    }

    fn earlier(&self) -> EarlierTry {
        self.earlier.clone()
    }

    fn note(&self, note: Value) {
        if matches!(self.state(), JournalState::Closed | JournalState::Failed) {
            return;
        }
        let bytes = json_bytes(&note);
        let mut unwritten = self.unwritten.lock();
        if unwritten.notes > NOTES_MAX {
            return;
        }
        unwritten.notes += 1;
        unwritten.bytes += bytes;
        let fits = unwritten.notes <= NOTES_MAX && bytes <= NOTE_BYTES_MAX && unwritten.bytes <= NOTES_BYTES_MAX;
        let work = self.work.clone();
        let entry = if fits {
            JournalEntry::Noted { work, note }
        } else {
            tracing::warn!(
                NOTES_MAX,
                NOTE_BYTES_MAX,
                NOTES_BYTES_MAX,
                "work has more notes than are kept: it ends with its node"
            );
            // No later note counts.
            unwritten.notes = NOTES_MAX + 1;
            JournalEntry::Closed { work }
        };
        unwritten.entries.push_back(entry);
        unwritten.added += 1;
        drop(unwritten);
        self.news.notify_one();
    }

    fn written(&self) -> BoxFuture<'_, Result<(), NotWritten>> {
        let mut progress = self.progress.subscribe();
        let added = self.unwritten.lock().added;
        self.news.notify_one();
        async move {
            let is_done =
                |progress: &JournalProgress| progress.state != JournalState::Open || progress.written >= added;
            match progress.wait_for(is_done).await {
                Ok(progress) if progress.state == JournalState::Failed => Err(NotWritten),
                Ok(_) => Ok(()),
                Err(_) => Err(NotWritten),
            }
        }
        .boxed()
    }

    fn is_handed_over(&self) -> bool {
        self.is_handed_over.load(Ordering::Relaxed)
    }
}

fn json_bytes(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}
