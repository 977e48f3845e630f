//! Time and randomness as arguments, so that every rule can be tested with a hand-set clock.

use std::time::Duration;

use jiff::Timestamp;

/// A source of time, which tests replace.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The wall clock. May be set back or forward while the process runs.
    fn now(&self) -> Timestamp;
}

/// How far the wall clock of a machine may be from what it should be before it is taken to be wrong, or to have been
/// set. Whoever is further off says so.
pub const CLOCK_SKEW_MAX: Duration = Duration::from_secs(10);

/// The clocks of a machine, which tests replace.
pub trait MachineClock: Send + Sync + std::fmt::Debug {
    /// The wall clock. May be wrong, and may be set back or forward while the process runs.
    fn wall(&self) -> Timestamp;

    /// For how long the machine has been up, sleep included. Never goes back, and nobody sets it.
    fn uptime(&self) -> Duration;

    /// The name of the start of the machine from which [`MachineClock::uptime`] counts; `None` where none is known.
    fn boot(&self) -> Option<String>;
}

/// One reading of the clocks of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineTime {
    /// What the wall clock says.
    pub wall: Timestamp,
    /// For how long the machine has been up.
    pub uptime: Duration,
    /// Which start of the machine that counts from.
    pub boot: Option<String>,
}

impl MachineTime {
    /// What the clocks of `machine` say now.
    pub fn read(machine: &dyn MachineClock) -> Self {
        Self { wall: machine.wall(), uptime: machine.uptime(), boot: machine.boot() }
    }
}

/// A source of unguessable bytes, which tests replace.
pub trait Entropy: Send + Sync + std::fmt::Debug {
    /// Fills the whole of `bytes`. Never fails: a machine without randomness must not serve.
    fn fill(&self, bytes: &mut [u8]);
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// `at` plus `by`, at the latest the end of time.
pub fn after(at: Timestamp, by: Duration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// A time to wait in whole seconds: rounded up, so that nobody comes back too early, and at least one.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_wait_is_rounded_up_to_whole_seconds() {
        for (wait, seconds) in [
            (Duration::ZERO, 1),
            (Duration::from_millis(10), 1),
            (Duration::from_secs(1), 1),
            (Duration::from_millis(1_001), 2),
            (Duration::MAX, u64::MAX),
        ] {
            assert_eq!(whole_seconds(wait), seconds, "{wait:?}");
        }
    }
}
