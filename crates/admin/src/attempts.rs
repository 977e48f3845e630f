//! Attempts at the login, counted: whoever guesses tokens, or begins logins without end, is held up.

use std::collections::VecDeque;
use std::time::Duration;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::limits::ATTEMPTS_WITHIN;

/// Those of late that count.
#[derive(Debug)]
pub(crate) struct Attempts {
    /// As many within [`ATTEMPTS_WITHIN`].
    max: usize,
    counted: Mutex<VecDeque<Timestamp>>,
}

impl Attempts {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, counted: Mutex::default() }
    }

    /// Whether somebody may try; else how long to wait.
    pub(crate) fn may_try(&self, now: Timestamp) -> Result<(), Duration> {
        let mut counted = self.counted.lock();
        // An attempt of the future comes from a clock that was set back: it must not hold people up for ever.
        let is_over = |at: &Timestamp| age(*at, now).is_none_or(|age| age >= ATTEMPTS_WITHIN);
        while counted.front().is_some_and(is_over) {
            counted.pop_front();
        }
        match counted.front() {
            Some(first) if counted.len() >= self.max => {
                Err(ATTEMPTS_WITHIN.saturating_sub(age(*first, now).unwrap_or_default()))
            }
            _ => Ok(()),
        }
    }

    /// One that counts.
    pub(crate) fn count(&self, now: Timestamp) {
        self.counted.lock().push_back(now);
    }
}

/// How long ago; `None` when that is still to come, because a clock was set back.
fn age(at: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(now.duration_since(at)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ATTEMPTS_MAX;

    #[test]
    fn after_so_many_wrong_ones_nobody_may_try_until_the_time_is_over() {
        let (attempts, start) = (Attempts::new(ATTEMPTS_MAX), Timestamp::UNIX_EPOCH);
        for _ in 0..ATTEMPTS_MAX {
            assert_eq!(attempts.may_try(start), Ok(()));
            attempts.count(start);
        }
        let late = start + Duration::from_secs(20);
        assert_eq!(attempts.may_try(late), Err(ATTEMPTS_WITHIN - Duration::from_secs(20)));
        assert_eq!(attempts.may_try(start + ATTEMPTS_WITHIN), Ok(()));
    }
}
