//! This module has filters, pages and cursors of task lists.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;

use crate::address::Handle;
use crate::error::Error;
use crate::ids::ThreadId;
use crate::task::{Task, TaskState};

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only tasks of this owner; `None` for those without one.
    pub owner: Option<String>,
    /// Only tasks of one of these conversations; of any when empty. A handful at most.
    pub threads: Vec<ThreadId>,
    /// Only tasks of this agent.
    pub agent: Option<Handle>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose state changed at this moment or later.
    pub since: Option<Timestamp>,
    /// Only what comes after an earlier page.
    pub cursor: Option<Cursor>,
    /// At most so many.
    pub limit: usize,
}

/// One page of a list of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    /// The tasks, the last updated first.
    pub tasks: Vec<Task>,
    /// The cursor of the next page; `None` when this was the last.
    pub next: Option<Cursor>,
    /// How many tasks there are with no cursor and no limit.
    pub total: u64,
}

/// A place between two tasks of a list: behind the one that was updated at a moment and, of those,
/// came to the store as so many-th. No task is lost or given twice when some have the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// When the task before this place was updated.
    pub updated_at: Timestamp,
    /// The number that its store gave the task before this place; never negative.
    pub place: i64,
}

/// Bytes of a cursor before it becomes text.
const CURSOR_BYTES: usize = 24;

impl Cursor {
    /// The cursor for the wire: 32 characters of base64url. Its holder sees no meaning in it.
    pub fn to_text(self) -> String {
        let mut bytes = [0; CURSOR_BYTES];
        bytes[..16].copy_from_slice(&self.updated_at.as_nanosecond().to_be_bytes());
        bytes[16..].copy_from_slice(&self.place.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads what [`Self::to_text`] wrote. Fails with [`Error::Invalid`] on anything else.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        Self::read(text).ok_or_else(|| Error::invalid("cursor", "must be the one that came with the page before"))
    }

    fn read(text: &str) -> Option<Self> {
        let mut bytes = [0; CURSOR_BYTES];
        let decoded = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let (moment, place) = bytes.split_first_chunk::<16>()?;
        let updated_at = Timestamp::from_nanosecond(i128::from_be_bytes(*moment)).ok()?;
        let place = i64::from_be_bytes(place.try_into().ok()?);
        // A caller can send any 24 bytes: a shorter text, or a place that no store gives, is not a cursor of ours.
        (decoded == CURSOR_BYTES && place >= 0).then_some(Self { updated_at, place })
    }
}
