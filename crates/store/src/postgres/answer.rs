//! This module reads the codes that the functions of the schema answer.

use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_core::{QuotaBound, StoreError};

use crate::sealed::corrupt;

/// A code, and a number whose meaning is the function's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: i64,
    pub(super) n: i64,
}

/// It was done.
pub(super) const DONE: i64 = 0;
/// The caller has no room.
const CALLER_FULL: i64 = 1;
/// A task of this id exists.
const EXISTS: i64 = 2;
/// The task has as many webhooks as it may.
pub(super) const TOO_MANY: i64 = 3;
/// As many deliveries wait as may.
const PENDING: i64 = 4;
/// The task is another run's, or settled.
const NOT_HELD: i64 = 5;
/// Events would have a gap.
const GAP: i64 = 6;
/// There is no such task.
pub(super) const NO_TASK: i64 = 7;
/// All artifacts together would be too large.
const ARTIFACTS_FULL: i64 = 8;
/// It is not as it was wanted to be: nothing was changed.
pub(super) const NOT_SO: i64 = 9;
/// It is not as it was guessed to be: look again.
pub(super) const LOOK_AGAIN: i64 = 10;
/// The task has ended.
pub(super) const ENDED: i64 = 12;

/// The bounds that a refusal names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) caller: u64,
    pub(super) pending: usize,
    pub(super) artifacts: u64,
}

impl Answer {
    /// The number of what was done, or why it was refused.
    pub(super) fn done(self, bounds: Bounds) -> Result<u64, StoreError> {
        let unavailable = |reason: String| Err(StoreError::Unavailable(reason));
        match self.code {
            DONE => Ok(self.n.unsigned_abs()),
            CALLER_FULL => Err(StoreError::Full { bound: QuotaBound::Caller { max: bounds.caller } }),
            EXISTS => Err(StoreError::Exists),
            TOO_MANY => unavailable(format!("a task takes at most {WEBHOOKS_PER_TASK_MAX} webhooks")),
            PENDING => unavailable(format!("{} deliveries are waiting", bounds.pending)),
            NOT_HELD => Err(StoreError::NotHeld),
            GAP => Err(corrupt(format!("an event would not follow event {}", self.n))),
            ARTIFACTS_FULL => unavailable(format!("all artifacts have at most {} bytes", bounds.artifacts)),
            LOOK_AGAIN => unavailable("a task changed all the time".to_owned()),
            code => Err(corrupt(format!("a function of the database answers {code}"))),
        }
    }
}
