//! Clocks that stand until they are moved, and bytes that are the same in every run.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use forecourt_core::{Clock, Entropy, MachineClock, Timestamp};
use parking_lot::Mutex;

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

/// The clocks of a machine that a test sets by hand.
#[derive(Debug)]
pub struct HandMachine(Mutex<HandTime>);

#[derive(Debug)]
struct HandTime {
    wall: Timestamp,
    uptime: Duration,
    boot: u64,
}

impl HandMachine {
    /// A machine whose wall clock stands at `wall`, and that has been up for an hour.
    pub fn new(wall: Timestamp) -> Self {
        Self(Mutex::new(HandTime { wall, uptime: Duration::from_secs(3_600), boot: 1 }))
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let mut time = self.0.lock();
        time.wall += by;
        time.uptime += by;
    }

    /// Sets the wall clock by so many seconds, back or forward: no time passes.
    pub fn jump(&self, seconds: i64) {
        let by = Duration::from_secs(seconds.unsigned_abs());
        let mut time = self.0.lock();
        time.wall = if seconds < 0 { time.wall - by } else { time.wall + by };
    }

    /// Turns it off for so long, and on again.
    pub fn restart(&self, off: Duration) {
        let mut time = self.0.lock();
        time.wall += off;
        (time.uptime, time.boot) = (Duration::ZERO, time.boot + 1);
    }
}

impl MachineClock for HandMachine {
    fn wall(&self) -> Timestamp {
        self.0.lock().wall
    }

    fn uptime(&self) -> Duration {
        self.0.lock().uptime
    }

    fn boot(&self) -> Option<String> {
        Some(self.0.lock().boot.to_string())
    }
}

/// Bytes that differ from call to call and are the same in every run. Never for production.
#[derive(Debug, Default)]
pub struct CountedEntropy {
    calls: AtomicU64,
}

impl Entropy for CountedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Added since the first call would begin at zero, where xorshift stays.
        let mut state = self.calls.fetch_add(1, Ordering::SeqCst).wrapping_add(0x9e37_79b9_7f4a_7c15);
        for byte in bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = state as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_until_it_is_moved() {
        let clock = HandClock::new();
        let start = clock.now();
        assert_eq!((clock.now(), start.to_string().as_str()), (start, "2026-01-01T00:00:00Z"));
        clock.advance(Duration::from_millis(1_500));
        assert_eq!(clock.now().as_millisecond(), start.as_millisecond() + 1_500);
        clock.set(start);
        assert_eq!(clock.now(), start);
    }

    #[test]
    fn every_call_gives_other_bytes_and_every_run_the_same() {
        let draw = |entropy: &CountedEntropy| {
            let mut bytes = [0u8; 32];
            entropy.fill(&mut bytes);
            bytes
        };
        let (first, second) = (CountedEntropy::default(), CountedEntropy::default());
        let drawn: std::collections::HashSet<_> = (0..1_000).map(|_| draw(&first)).collect();
        assert_eq!(drawn.len(), 1_000);
        assert!(drawn.contains(&draw(&second)));
    }
}
