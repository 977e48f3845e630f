//! How often one thing is asked of an engine that is busy, and until when.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::{
    BULK_ATTEMPTS_MAX, BULK_TIME_MAX, QUESTION_ATTEMPTS_MAX, QUESTION_TIME_MAX, RETRY_PAUSE, RETRY_PAUSE_MAX,
};

/// The attempts at one thing.
pub(super) struct Attempts {
    made: u32,
    most: u32,
    /// When nobody waits for it any more. `None`: each attempt has a time of its own, and their number ends them.
    until: Option<Instant>,
}

impl Attempts {
    /// At a question: somebody waits for its answer.
    pub(super) fn of_question() -> Self {
        Self { made: 1, most: QUESTION_ATTEMPTS_MAX, until: Some(Instant::now() + QUESTION_TIME_MAX) }
    }

    /// At a bulk request, and at what was not taken of it.
    pub(super) fn of_bulk() -> Self {
        Self { made: 1, most: BULK_ATTEMPTS_MAX, until: None }
    }

    /// How many there were, the one under way included.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// How long the one under way may take.
    pub(super) fn time(&self) -> Duration {
        self.until.map_or(BULK_TIME_MAX, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Waits before another attempt, as long as the engine asked for. `false`, at once: there is none, or nobody would
    /// wait for its answer any more.
    pub(super) async fn wait(&mut self, asked: Option<Duration>) -> bool {
        let pause = pause(self.made, asked);
        let is_late = self.until.is_some_and(|until| Instant::now() + pause >= until);
        if self.made >= self.most || is_late {
            return false;
        }
        self.made += 1;
        tokio::time::sleep(pause).await;
        true
    }
}

/// How long to wait before the attempt after this one.
fn pause(attempt: u32, asked: Option<Duration>) -> Duration {
    let own = RETRY_PAUSE * 2_u32.saturating_pow(attempt.saturating_sub(1));
    asked.unwrap_or(own).min(RETRY_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_what_the_engine_asks_for_or_twice_as_long_each_time() {
        assert_eq!(pause(1, None), RETRY_PAUSE);
        assert_eq!(pause(3, None), RETRY_PAUSE * 4);
        assert_eq!(pause(40, None), RETRY_PAUSE_MAX);
        assert_eq!(pause(1, Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(pause(1, Some(RETRY_PAUSE_MAX)), RETRY_PAUSE_MAX);
        assert_eq!(pause(1, Some(RETRY_PAUSE_MAX + Duration::from_secs(1))), RETRY_PAUSE_MAX);
    }
}
