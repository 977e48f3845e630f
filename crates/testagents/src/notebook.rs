//! A journal in memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use forecourt_core::journal::{JournalKeeper, NotWritten};
use forecourt_core::{EarlierTry, Message, WorkJournal};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

/// Keeps the notes of one piece of work.
pub struct Notebook {
    earlier: EarlierTry,
    notes: Mutex<Vec<Value>>,
    written: AtomicUsize,
    /// Whether nothing can be written.
    pub is_full: AtomicBool,
}

impl Notebook {
    /// Names the work.
    pub const WORK: &str = "01980000-0000-7000-8000-000000000001";

    /// That of a try behind this earlier one.
    pub fn behind(earlier: EarlierTry) -> Arc<Self> {
        Arc::new(Self {
            earlier,
            notes: Mutex::default(),
            written: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
        })
    }

    /// The message, with this journal.
    pub fn with(self: &Arc<Self>, message: Message) -> Message {
        Message { journal: WorkJournal::new(self.clone()), ..message }
    }

    /// What was noted.
    pub fn notes(&self) -> Vec<Value> {
        self.notes.lock().unwrap().clone()
    }

    /// Whether somebody waited for all that was noted.
    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::SeqCst) == self.notes().len()
    }
}

impl JournalKeeper for Notebook {
    fn work(&self) -> &'static str {
        Self::WORK
    }

    fn earlier(&self) -> EarlierTry {
        self.earlier.clone()
    }

    fn note(&self, note: Value) {
        self.notes.lock().unwrap().push(note);
    }

    fn written(&self) -> BoxFuture<'_, Result<(), NotWritten>> {
        self.written.store(self.notes().len(), Ordering::SeqCst);
        let is_full = self.is_full.load(Ordering::SeqCst);
        std::future::ready(if is_full { Err(NotWritten) } else { Ok(()) }).boxed()
    }

    fn is_handed_over(&self) -> bool {
        false
    }
}
