//! The journal of a task's work: what its agent was asked, at which place the work lives, and which runs took it up.
//! For whoever takes it up next.
//!
//! A stream of the ledger for each task, kept for as long as the task. Each turn of a task is a piece of work with a name
//! of its own, so that entries of two callers who answer one question at once stay apart.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forecourt_core::bookmark::BookmarkKeeper;
use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, AnswerUsage, EarlierTry, Message, Role, Store, StoreError, Task, TaskId, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;

use crate::topics::task_hash;

mod message;

pub(crate) use message::KeptMessage;

/// How often an agent is asked for one turn of a task, the first time included: a message that kills its process must
/// not kill it for ever.
pub const WORK_TRIES_MAX: u32 = 3;
/// Bytes of what is kept of a message so that its agent can be asked again, as JSON, with the history that it was given
/// and with its files. Work on a larger one ends with its node.
pub const JOURNAL_BYTES_MAX: usize = ENTRY_BYTES_MAX;
/// Places that one piece of work has written; later ones are not.
const PLACES_MAX: usize = 16;
/// Times that a run hands one piece of work over in good order; from then on that counts as a try.
const HAND_OVERS_MAX: u32 = 16;
/// Entries that are read of a journal, the newest: more than one piece of work has.
const ENTRIES_MAX: usize = 64;

/// An entry of a journal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalEntry {
    /// An agent was asked.
    Asked(Box<AskedWork>),
    /// The work lives there.
    Placed { work: String, place: Value },
    /// Another run goes on with it.
    TakenUp { work: String },
    /// The run that had it stops in good order.
    HandedOver { work: String },
}

/// What an agent was asked.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AskedWork {
    /// Names the piece of work.
    work: String,
    /// Events in the log of the task before it.
    pub(crate) logged: u64,
    /// What models used for earlier turns of the task.
    pub(crate) used: AnswerUsage,
    /// Whether its conversation was kept before.
    pub(crate) is_known: bool,
    pub(crate) message: KeptMessage,
}

/// The journal of one piece of work, on the side of the run that does it.
pub(crate) struct Journal {
    work: String,
    /// What an earlier try has left.
    earlier: EarlierTry,
    /// What its agent is asked, until there is a task to keep it with.
    asked: Mutex<Option<Box<AskedWork>>>,
    unwritten: Mutex<Unwritten>,
    news: Notify,
    /// Whether another run could go on with it.
    is_kept: AtomicBool,
    is_handed_over: AtomicBool,
}

/// Entries that are not in the store yet, oldest first.
#[derive(Default)]
struct Unwritten {
    entries: VecDeque<JournalEntry>,
    places: usize,
}

impl Journal {
    /// The journal of work that begins with `message`.
    pub(crate) fn begin(work: String, message: &Message, is_known: bool) -> Arc<Self> {
        let message = KeptMessage::of(message);
        let asked = AskedWork { work: work.clone(), logged: 0, used: AnswerUsage::default(), is_known, message };
        Arc::new(Self::new(work, EarlierTry::None, Some(Box::new(asked))))
    }

    /// The journal of work that is taken up.
    pub(crate) fn take_up(kept: &KeptWork) -> Arc<Self> {
        let earlier = kept.place.clone().map_or(EarlierTry::Unknown, EarlierTry::At);
        let journal = Self::new(kept.asked.work.clone(), earlier, None);
        journal.is_kept.store(true, Ordering::Relaxed);
        Arc::new(journal)
    }

    fn new(work: String, earlier: EarlierTry, asked: Option<Box<AskedWork>>) -> Self {
        Self {
            work,
            earlier,
            asked: Mutex::new(asked),
            unwritten: Mutex::default(),
            news: Notify::new(),
            is_kept: AtomicBool::new(false),
            is_handed_over: AtomicBool::new(false),
        }
    }

    /// There is a task for the work, with so many events in its log before it. What is too large is not kept.
    pub(crate) fn open(&self, logged: u64, used: AnswerUsage) {
        let Some(asked) = self.asked.lock().take() else { return };
        let entry = JournalEntry::Asked(Box::new(AskedWork { logged, used, ..*asked }));
        let bytes = serde_json::to_vec(&entry).map_or(usize::MAX, |json| json.len());
        match bytes <= JOURNAL_BYTES_MAX {
            // Before places that were noted while there was no task yet: they are of no use without it.
            true => self.unwritten.lock().entries.push_front(entry),
            false => tracing::info!(bytes, max = JOURNAL_BYTES_MAX, "a message is too large to be asked again later"),
        }
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
    pub(crate) async fn write(&self, to: &JournalStream<'_>) -> Result<(), StoreError> {
        loop {
            let next = {
                let unwritten = self.unwritten.lock();
                unwritten.entries.front().filter(|next| self.is_of_use(next)).cloned()
            };
            let Some(entry) = next else { return Ok(()) };
            to.append(&entry, None).await?;
            self.unwritten.lock().entries.pop_front();
            if matches!(entry, JournalEntry::Asked(_)) {
                self.is_kept.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Gives up what is not written: there is no room for it.
    pub(crate) fn give_up(&self) {
        self.unwritten.lock().entries.clear();
    }

    /// A place says nothing as long as it is not kept what its agent was asked.
    fn is_of_use(&self, entry: &JournalEntry) -> bool {
        self.is_kept() || matches!(entry, JournalEntry::Asked(_))
    }

    /// Says that the run which had it stopped in good order, so that this was no try.
    pub(crate) async fn note_handed_over(&self, to: &JournalStream<'_>) -> Result<(), StoreError> {
        to.append(&JournalEntry::HandedOver { work: self.work.clone() }, None).await.map(drop)
    }
}

impl BookmarkKeeper for Journal {
    fn work(&self) -> &str {
        &self.work
    }

    fn earlier(&self) -> EarlierTry {
        self.earlier.clone()
    }

    fn keep(&self, place: Value) {
        let mut unwritten = self.unwritten.lock();
        // Of places that were not written yet the last one counts.
        let last = unwritten.entries.back_mut();
        if let Some(JournalEntry::Placed { place: waiting, .. }) = last {
            *waiting = place;
        } else if unwritten.places < PLACES_MAX {
            unwritten.places += 1;
            unwritten.entries.push_back(JournalEntry::Placed { work: self.work.clone(), place });
        } else {
            tracing::warn!(max = PLACES_MAX, "work changes its place too often: this one is not kept");
        }
        drop(unwritten);
        self.news.notify_one();
    }

    fn is_handed_over(&self) -> bool {
        self.is_handed_over.load(Ordering::Relaxed)
    }
}

/// The stream of one task's journal.
pub(crate) struct JournalStream<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) task: &'a TaskId,
    /// Whose bytes they are.
    pub(crate) account: Account,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
}

impl JournalStream<'_> {
    async fn append(&self, entry: &JournalEntry, last: Option<u64>) -> Result<Option<u64>, StoreError> {
        let body = serde_json::to_value(entry).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        // The steps of runs are small and the host's own; what its caller said is the caller's.
        let account = match entry {
            JournalEntry::Asked(_) | JournalEntry::Placed { .. } => self.account.clone(),
            JournalEntry::TakenUp { .. } | JournalEntry::HandedOver { .. } => Account::HOST,
        };
        let entry = LedgerEntry::new(body, self.now).until(self.expires_at).on(account);
        self.store.append_entry(&stream(self.task), entry, last).await
    }

    /// Says that this run takes the work up; `false` when another one was first.
    pub(crate) async fn note_taken_up(&self, kept: &KeptWork) -> Result<bool, StoreError> {
        let entry = JournalEntry::TakenUp { work: kept.asked.work.clone() };
        Ok(self.append(&entry, Some(kept.last)).await?.is_some())
    }
}

fn stream(task: &TaskId) -> String {
    format!("host:work:{}", task_hash(task))
}

/// A piece of work as its journal tells of it.
pub(crate) struct KeptWork {
    pub(crate) asked: Box<AskedWork>,
    /// The place where it lives, as far as that was kept.
    place: Option<Value>,
    /// How often it was begun.
    pub(crate) tries: u32,
    /// The number of the last entry.
    last: u64,
}

impl KeptWork {
    /// Whose bytes it counts towards.
    pub(crate) fn account(&self) -> Account {
        self.asked.message.account()
    }

    /// What is kept of the turn that a task is at. `None` where that is nothing: it was too large, or whoever began it
    /// kept no journal.
    pub(crate) async fn read(store: &dyn Store, task: &Task, now: Timestamp) -> Result<Option<Self>, StoreError> {
        let newest = store.entries(&stream(&task.id), Span::Before(u64::MAX), ENTRIES_MAX, now).await?;
        let last = newest.first().map_or(0, |(number, _)| *number);
        let asked = task.turns.iter().rev().find(|turn| turn.role == Role::User).and_then(|turn| turn.id.as_deref());
        let (mut places, mut taken, mut handed) = (Vec::new(), Vec::new(), Vec::new());
        for (_, entry) in newest {
            // An entry that a later version wrote is none of ours.
            match serde_json::from_value(entry.body) {
                Ok(JournalEntry::Asked(found)) if Some(found.message.id.as_str()) == asked => {
                    let is_its = |work: &&String| **work == found.work;
                    let handed = handed.iter().filter(is_its).count();
                    let handed = u32::try_from(handed).unwrap_or(u32::MAX).min(HAND_OVERS_MAX);
                    let taken = u32::try_from(taken.iter().filter(is_its).count()).unwrap_or(u32::MAX);
                    let place = places.into_iter().find(|(work, _)| *work == found.work).map(|(_, place)| place);
                    let tries = 1 + taken.saturating_sub(handed);
                    return Ok(Some(Self { asked: found, place, tries, last }));
                }
                Ok(JournalEntry::Placed { work, place }) => places.push((work, place)),
                Ok(JournalEntry::TakenUp { work }) => taken.push(work),
                Ok(JournalEntry::HandedOver { work }) => handed.push(work),
                Ok(JournalEntry::Asked(_)) | Err(_) => {}
            }
        }
        Ok(None)
    }
}
