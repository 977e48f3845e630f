//! What comes of an attempt to deliver something.

use std::time::Duration;

/// The outcome of one attempt at a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryOutcome {
    /// It was taken.
    Delivered,
    /// The recipient did not take it now; another attempt may work.
    Later,
    /// The recipient will never take it: no further attempt.
    Never,
    /// Its time has not come, or its recipient wants to be left alone for so long: to be looked at again after this, which
    /// is no attempt, and as often as that until it is of no use any more.
    Wait(Duration),
}
