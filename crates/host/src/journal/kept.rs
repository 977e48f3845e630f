//! A piece of work as its journal tells of it, for whoever takes it up.

use forecourt_core::store::Span;
use forecourt_core::{Account, Role, Store, StoreError, Task, Timestamp};
use serde_json::Value;

use super::entry::{AskedWork, JournalEntry};
use super::stream::{self, JournalStream};

/// Entries that are read of a journal, the newest: more than one piece of work has.
const ENTRIES_MAX: usize = 1_024;
/// Times that a run hands one piece of work over in good order before a note tells that it came further; from then on
/// that counts as a try.
const HAND_OVERS_MAX: u32 = 16;

/// A piece of work as its journal tells of it.
pub(crate) struct KeptWork {
    pub(crate) asked: Box<AskedWork>,
    /// What was noted of it, oldest first.
    pub(super) notes: Vec<Value>,
    /// How often it was begun since it came further.
    pub(crate) tries: u32,
    /// How often it was begun at all.
    pub(crate) runs: u32,
    /// How often it was handed over in good order since then.
    handed_over: u32,
    /// Whether more happened than is kept.
    pub(crate) is_closed: bool,
    /// The number of the last entry that this run knows.
    pub(super) last: u64,
}

impl KeptWork {
    fn new(asked: Box<AskedWork>, last: u64) -> Self {
        Self { asked, notes: Vec::new(), tries: 1, runs: 1, handed_over: 0, is_closed: false, last }
    }

    /// Whose bytes it counts towards.
    pub(crate) fn account(&self) -> Account {
        self.asked.message.account()
    }

    /// Says that this run takes the work up; `false` when another one was first.
    pub(crate) async fn take_up(&mut self, to: &JournalStream<'_>) -> Result<bool, StoreError> {
        let number = to.take_up(&self.asked.work, self.last).await?;
        self.last = number.unwrap_or(self.last);
        Ok(number.is_some())
    }

    /// What is kept of the turn that a task is at. `None` where that is nothing: it was too large, or whoever began it
    /// kept no journal.
    pub(crate) async fn read(store: &dyn Store, task: &Task, now: Timestamp) -> Result<Option<Self>, StoreError> {
        let Some(turn) = task.turns.iter().rev().find(|turn| turn.role == Role::User) else { return Ok(None) };
        let (mut last, mut before, mut newer) = (0, u64::MAX, Vec::new());
        while newer.len() < ENTRIES_MAX {
            let read = stream::entries(store, &task.id, Span::Before(before), now).await?;
            let Some((oldest, _)) = read.last() else { return Ok(None) };
            before = *oldest;
            for (number, body) in read {
                last = last.max(number);
                // An entry that a later version wrote is none of ours.
                match serde_json::from_value(body) {
                    Ok(JournalEntry::Asked(found)) if found.is_of(task, turn) && is_held(&found, task, &newer) => {
                        let mut kept = Self::new(found, last);
                        newer.into_iter().rev().for_each(|entry| kept.add(entry));
                        return Ok(Some(kept));
                    }
                    Ok(entry) => newer.push(entry),
                    Err(_) => {}
                }
            }
        }
        Ok(None)
    }

    /// Adds the next entry behind what was asked.
    fn add(&mut self, entry: JournalEntry) {
        if entry.work() != self.asked.work {
            return;
        }
        match entry {
            JournalEntry::Asked(_) => {}
            JournalEntry::Noted { note, .. } => {
                self.notes.push(note);
                (self.tries, self.handed_over) = (1, 0);
            }
            JournalEntry::Closed { .. } => self.is_closed = true,
            JournalEntry::TakenUp { .. } => {
                self.tries += 1;
                self.runs += 1;
            }
            JournalEntry::HandedOver { .. } if self.handed_over < HAND_OVERS_MAX => {
                self.handed_over += 1;
                self.tries = self.tries.saturating_sub(1);
            }
            JournalEntry::HandedOver { .. } => {}
        }
    }
}

/// Whether a piece of work is the one that was begun of its task, and not what a copy of its message left that came to
/// another node at the same moment: its run holds the task, or another one has taken it up since.
fn is_held(asked: &AskedWork, task: &Task, newer: &[JournalEntry]) -> bool {
    let is_taken_up = |entry: &JournalEntry| matches!(entry, JournalEntry::TakenUp { work } if *work == asked.work);
    let run = &asked.begun.run;
    // An entry of a release that wrote no run is one of a task that was there before it.
    run.is_empty() || *run == task.run || newer.iter().any(is_taken_up)
}
