//! How a server does: whether it answers, and whether it is left alone because it failed too often.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::{PROGRAM_LEFT_ALONE, SERVER_FAILURES_MAX, SERVER_LEFT_ALONE, SERVER_LEFT_ALONE_MAX};

/// How a server does.
#[derive(Debug)]
pub(super) struct Health {
    /// Whether it answered when it was last asked anything. `None`: it was never asked.
    pub(super) answers: Option<bool>,
    /// What went wrong last, for the operator.
    pub(super) last_error: Option<String>,
    /// Failures in a row.
    failures: u32,
    /// Until when it is left alone.
    until: Option<Instant>,
    /// From how many failures in a row on it is left alone, and for how long at first.
    patience: (u32, Duration),
    /// What the metrics say of it: whether it answers, and how many sessions it has.
    measured: Option<(bool, usize)>,
}

impl Health {
    /// That of a server on HTTP.
    pub(super) fn of_url() -> Self {
        Self::new((SERVER_FAILURES_MAX, SERVER_LEFT_ALONE))
    }

    /// That of a program, which is not started again at once when it dies.
    pub(super) fn of_program() -> Self {
        Self::new((1, PROGRAM_LEFT_ALONE))
    }

    fn new(patience: (u32, Duration)) -> Self {
        Self { answers: None, last_error: None, failures: 0, until: None, patience, measured: None }
    }

    /// How long it is left alone still.
    pub(super) fn left_alone(&self) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Whether it answers, where the metrics do not say that of it and of so many sessions yet.
    pub(super) fn measured(&mut self, sessions: usize) -> Option<bool> {
        let now = (self.answers?, sessions);
        (self.measured.replace(now) != Some(now)).then_some(now.0)
    }

    /// It did what it was asked. Gives whether that is news.
    pub(super) fn worked(&mut self) -> bool {
        (self.failures, self.until, self.last_error) = (0, None, None);
        self.answers.replace(true) == Some(false)
    }

    /// It failed; `wait` is what it wants to be waited for. Gives whether that is news.
    pub(super) fn failed(&mut self, why: String, wait: Option<Duration>) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.last_error = Some(why);
        let (max, first) = self.patience;
        let over = self.failures.checked_sub(max).map(|over| first.saturating_mul(1 << over.min(16)));
        if let Some(wait) = over.max(wait) {
            self.until = Some(Instant::now() + wait.min(SERVER_LEFT_ALONE_MAX));
        }
        self.answers.replace(false) != Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_failed_so_often_is_left_alone_longer_each_time_and_not_for_ever() {
        let mut health = Health::of_url();
        for n in 1..SERVER_FAILURES_MAX {
            assert_eq!(health.failed("x".into(), None), n == 1, "only the first is news");
            assert_eq!(health.left_alone(), None, "{n}");
        }
        health.failed("x".into(), None);
        assert_eq!(health.left_alone(), Some(SERVER_LEFT_ALONE));
        tokio::time::advance(SERVER_LEFT_ALONE).await;
        assert_eq!(health.left_alone(), None, "it is tried again");
        health.failed("x".into(), None);
        assert_eq!(health.left_alone(), Some(SERVER_LEFT_ALONE * 2));
        for _ in 0..100 {
            health.failed("x".into(), None);
        }
        assert_eq!(health.left_alone(), Some(SERVER_LEFT_ALONE_MAX));
        assert!(health.worked() && !health.worked());
        assert_eq!(health.left_alone(), None);
    }

    #[test]
    fn metrics_are_told_what_they_do_not_say_yet() {
        let mut health = Health::of_url();
        assert_eq!(health.measured(0), None, "nothing is known");
        health.worked();
        assert_eq!((health.measured(1), health.measured(1), health.measured(2)), (Some(true), None, Some(true)));
        health.failed("x".into(), None);
        assert_eq!((health.measured(2), health.measured(2)), (Some(false), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_says_itself_how_long() {
        let mut health = Health::of_url();
        health.failed("later".into(), Some(Duration::from_secs(9)));
        assert_eq!(health.left_alone(), Some(Duration::from_secs(9)));
        let mut health = Health::of_program();
        health.failed("died".into(), None);
        assert_eq!(health.left_alone(), Some(PROGRAM_LEFT_ALONE));
    }
}
