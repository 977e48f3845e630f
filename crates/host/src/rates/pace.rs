//! How often something may happen, and what one of several nodes gives out of that.

use std::time::Duration;

/// The part of a burst that all nodes together may have given out without telling each other: an eighth.
const UNTOLD_PART: u64 = 8;

/// How often, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long one takes to come back.
    pub(super) every: u64,
    /// How many may come at once after a rest.
    pub(super) burst: u64,
}

impl Pace {
    /// `count` in `period`, of which `burst` may come at once; each one at least.
    pub(crate) fn new(count: u32, period: Duration, burst: u32) -> Self {
        Self::of(period / count.max(1), burst)
    }

    /// One each `every`, of which `burst` may come at once; each one at least.
    pub(crate) fn of(every: Duration, burst: u32) -> Self {
        let every = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
        Self { every: every.max(1), burst: u64::from(burst.max(1)) }
    }

    /// The share of one node among `nodes` that can't hear each other.
    pub(super) fn share_of(self, nodes: u64) -> Self {
        // One at least: with more nodes than burst, a caller would be refused everywhere.
        Self { every: self.every.saturating_mul(nodes), burst: (self.burst / nodes).max(1) }
    }

    /// After how many that were given out one of so many nodes tells the others.
    pub(super) fn portion(self, nodes: u64) -> u64 {
        (self.burst / UNTOLD_PART / nodes).max(1)
    }
}
