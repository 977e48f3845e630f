//! A provider that fails again and again is left alone for a while, so that nobody waits for it in vain.

use std::time::Duration;

use forecourt_core::{Clock, Timestamp};
use parking_lot::Mutex;

/// Failures in a row after which a provider is left alone.
pub(crate) const FAILURES_MAX: u32 = 5;
/// How long it is left alone at first; twice as long each further time.
pub(crate) const REST_MIN: Duration = Duration::from_secs(10);
/// How long it is left alone at most.
pub(crate) const REST_MAX: Duration = Duration::from_secs(5 * 60);

/// Whether a provider may be asked. After a rest, one caller asks it first.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Since the last success.
    failures: u32,
    /// The next rest.
    rest: Duration,
    until: Option<Timestamp>,
}

impl Breaker {
    /// Whether the provider may be asked now. `Err` is the time until it may. Whoever is let through after a rest has
    /// others wait as long again, until it is known how that went.
    pub fn enter(&self, clock: &dyn Clock) -> Result<(), Duration> {
        let mut state = self.0.lock();
        let now = clock.now();
        let Some(until) = state.until else { return Ok(()) };
        if let Ok(left) = Duration::try_from(until.duration_since(now))
            && !left.is_zero()
        {
            // A clock that was set back must not make a rest endless.
            return Err(left.min(REST_MAX));
        }
        state.until = now.checked_add(state.rest.max(REST_MIN)).ok();
        Ok(())
    }

    /// Notes a success: the count of failures begins anew.
    pub fn succeeded(&self) {
        *self.0.lock() = State::default();
    }

    /// Notes a failure: after `FAILURES_MAX` in a row the provider is left alone, each time for twice as long.
    pub fn failed(&self, clock: &dyn Clock) {
        let mut state = self.0.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES_MAX {
            let rest = state.rest.clamp(REST_MIN, REST_MAX);
            state.until = clock.now().checked_add(rest).ok();
            state.rest = (rest * 2).min(REST_MAX);
            tracing::warn!(seconds = rest.as_secs(), "a model provider keeps failing and is left alone");
        }
    }

    /// It wants to be left alone for so long, of which at most [`REST_MAX`] counts.
    pub fn rest_for(&self, wait: Duration, clock: &dyn Clock) {
        self.0.lock().until = clock.now().checked_add(wait.min(REST_MAX)).ok();
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::HandClock;

    use super::*;

    #[test]
    fn a_provider_that_keeps_failing_rests_longer_and_longer() {
        let (breaker, clock) = (Breaker::default(), HandClock::new());
        for _ in 1..FAILURES_MAX {
            breaker.failed(&clock);
            assert_eq!(breaker.enter(&clock), Ok(()));
        }
        breaker.failed(&clock);
        assert_eq!(breaker.enter(&clock), Err(REST_MIN));
        clock.advance(REST_MIN);
        assert_eq!(breaker.enter(&clock), Ok(()), "one may try");
        assert!(breaker.enter(&clock).is_err(), "and nobody else until that is known");
        breaker.failed(&clock);
        assert_eq!(breaker.enter(&clock), Err(2 * REST_MIN));
        for _ in 0..10 {
            breaker.failed(&clock);
        }
        assert_eq!(breaker.enter(&clock), Err(REST_MAX));
        breaker.succeeded();
        assert_eq!(breaker.enter(&clock), Ok(()));
        breaker.failed(&clock);
        assert_eq!(breaker.enter(&clock), Ok(()), "it begins anew");
    }

    #[test]
    fn what_it_asks_for_is_bounded() {
        let (breaker, clock) = (Breaker::default(), HandClock::new());
        breaker.rest_for(Duration::from_secs(7), &clock);
        assert_eq!(breaker.enter(&clock), Err(Duration::from_secs(7)));
        breaker.rest_for(Duration::from_secs(86_400), &clock);
        assert_eq!(breaker.enter(&clock), Err(REST_MAX));
    }
}
