//! A clock that stands until it is moved, and bytes that are the same in every run.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use forecourt_core::{Clock, Entropy, Timestamp};

/// A clock that a test sets by hand.
#[derive(Debug)]
pub struct HandClock {
    millis: AtomicI64,
}

impl HandClock {
    /// A clock that stands at 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        Self { millis: AtomicI64::new(1_767_225_600_000) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.millis.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }

    /// Sets the clock, back or forward.
    pub fn set(&self, to: Timestamp) {
        self.millis.store(to.as_millisecond(), Ordering::SeqCst);
    }
}

impl Default for HandClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.millis.load(Ordering::SeqCst)).expect("a test's clock stays in range")
    }
}

/// Bytes that differ from call to call and are the same in every run. Never for production.
#[derive(Debug, Default)]
pub struct CountedEntropy {
    calls: AtomicU64,
}

impl Entropy for CountedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.calls.fetch_add(1, Ordering::SeqCst).wrapping_add(0x9e37_79b9_7f4a_7c15);
        for byte in bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = state as u8;
        }
    }
}
