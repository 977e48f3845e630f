//! How long a platform wants to be left alone. It says so to one message, and means all of its kind: a workspace, or a
//! bot, has one bound, and whoever asks on is heard later still.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::limits::RETRY_AFTER_MAX;

/// The pause of one connector.
#[derive(Default)]
pub(crate) struct Pause(Mutex<PauseState>);

#[derive(Default)]
struct PauseState {
    until: Option<Instant>,
    /// Answers that were put off until then.
    waiting: u32,
}

impl Pause {
    /// The platform wants to be asked again after `wait`.
    pub(crate) fn begin(&self, wait: Duration) {
        let mut state = self.0.lock();
        let until = Instant::now() + wait.min(RETRY_AFTER_MAX);
        match state.until {
            Some(before) if before >= until => {}
            _ => *state = PauseState { until: Some(until), waiting: 0 },
        }
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.0.lock().until.is_none_or(|until| until <= Instant::now())
    }

    /// How long one more answer waits. Each further one waits `spacing` longer, so that not all of them come at once.
    /// `None`: it is sent now.
    pub(crate) fn place(&self, spacing: Duration) -> Option<Duration> {
        let mut state = self.0.lock();
        let rest = state.until?.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())?;
        state.waiting = state.waiting.saturating_add(1);
        Some(rest.saturating_add(spacing.saturating_mul(state.waiting)).min(RETRY_AFTER_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_answers_of_a_connector_wait_one_behind_the_other_until_a_pause_is_over() {
        let (pause, second) = (Pause::default(), Duration::from_secs(1));
        assert!(pause.is_over() && pause.place(second).is_none());
        pause.begin(30 * second);
        // A shorter one does not end it sooner.
        pause.begin(second);
        assert_eq!([pause.place(second), pause.place(second)], [Some(31 * second), Some(32 * second)]);
        tokio::time::advance(29 * second).await;
        assert!(!pause.is_over());
        tokio::time::advance(second).await;
        assert!(pause.is_over() && pause.place(second).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_may_be_however_many_wait() {
        let (pause, max) = (Pause::default(), RETRY_AFTER_MAX);
        pause.begin(max + Duration::from_secs(1));
        assert!((0..5_000).all(|_| pause.place(Duration::from_secs(1)).is_some_and(|wait| wait <= max)));
        tokio::time::advance(max).await;
        assert!(pause.is_over());
    }
}
