//! How far back is looked, and in which steps.

use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_store::trends::Resolution;

/// How far back is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendSpan {
    /// Sixty minutes.
    Hour,
    /// 24 hours, in steps of half an hour.
    Day,
    /// Seven days, in steps of three hours.
    Week,
    /// Thirty days, in steps of twelve hours.
    Month,
}

impl TrendSpan {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Week, Self::Month];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.name() == name)
    }

    /// What people call it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Hour => "Last hour",
            Self::Day => "Last day",
            Self::Week => "Last week",
            Self::Month => "Last 30 days",
        }
    }

    /// The slices that are added up to its steps: as fine as they have to be, so that few are read.
    pub(super) fn resolution(self) -> Resolution {
        match self {
            Self::Hour => Resolution::Minute,
            Self::Day => Resolution::TenMinutes,
            Self::Week | Self::Month => Resolution::Hour,
        }
    }

    /// How long a step is.
    pub fn step(self) -> Duration {
        Duration::from_secs(match self {
            Self::Hour => 60,
            Self::Day => 30 * 60,
            Self::Week => 3 * 3_600,
            Self::Month => 12 * 3_600,
        })
    }

    /// How many steps there are.
    pub fn steps(self) -> usize {
        match self {
            Self::Hour | Self::Month => 60,
            Self::Day => 48,
            Self::Week => 56,
        }
    }

    /// How many steps are told as one where each can be pointed at, and in tables.
    pub(crate) fn steps_at_once(self) -> usize {
        match self {
            Self::Hour => 5,
            Self::Day | Self::Week | Self::Month => 4,
        }
    }

    /// When each step begins; the last one is the one that `now` is in.
    pub(super) fn times(self, now: Timestamp) -> Vec<Timestamp> {
        let step = i64::try_from(self.step().as_secs()).unwrap_or(1);
        let last = now.as_second() - now.as_second().rem_euclid(step);
        let steps = i64::try_from(self.steps()).unwrap_or_default();
        (1 - steps..=0).filter_map(|n| Timestamp::from_second(last + n * step).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_back_from_now_and_are_told_in_whole_groups() {
        let now: Timestamp = "2026-11-30T12:47:59Z".parse().unwrap();
        for span in TrendSpan::ALL {
            let times = span.times(now);
            assert_eq!(times.len(), span.steps());
            assert_eq!(span.steps() % span.steps_at_once(), 0, "{span:?}");
            let last = times.last().copied().unwrap();
            assert!(last <= now && now.duration_since(last).unsigned_abs() < span.step(), "{span:?}");
        }
        assert_eq!(TrendSpan::Day.times(now).last().unwrap().to_string(), "2026-11-30T12:30:00Z");
    }
}
