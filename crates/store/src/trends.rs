//! This module has the time series of a deployment: what each node counted, a minute at a time, coarser with age.
//!
//! They are entries of three streams of the store, one for each [`Resolution`]. A node writes what it counted since the
//! last time as one entry, in one transaction, behind everybody's back: a request is counted where it always was. Any
//! node adds entries up to coarser ones. What an entry of a coarse stream holds is said by the number of the last finer
//! entry in it, and the store takes one writer at a time, so that each minute is in one coarse entry and never in two.
//!
//! | file | holds |
//! |---|---|
//! | `trends/metric.rs` | what is counted, and by which labels |
//! | `trends/counts.rs` | numbers by metric and labels, within bounds |
//! | `trends/keeper.rs` | written, and rolled up |
//! | `trends/read.rs` | read back for a span of time |

mod counts;
mod keeper;
mod metric;
mod read;

use std::time::Duration;

use forecourt_core::Timestamp;

pub use counts::{Counts, OTHERS, Series};
pub use keeper::TrendKeeper;
pub use metric::{LATENCY_BOUNDS, Metric};
pub use read::{Slice, read};

use crate::limits::{TRENDS_HOURS_KEPT, TRENDS_MINUTES_KEPT, TRENDS_TENS_KEPT};

/// How long each of the slices is that a series is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// For a day.
    Minute,
    /// Ten minutes, for a week.
    TenMinutes,
    /// For thirty days.
    Hour,
}

impl Resolution {
    /// How long a slice is.
    pub fn step(self) -> Duration {
        Duration::from_secs(match self {
            Self::Minute => 60,
            Self::TenMinutes => 600,
            Self::Hour => 3_600,
        })
    }

    /// The one that is added up to this one.
    fn finer(self) -> Option<Self> {
        match self {
            Self::Minute => None,
            Self::TenMinutes => Some(Self::Minute),
            Self::Hour => Some(Self::TenMinutes),
        }
    }

    fn stream(self) -> &'static str {
        match self {
            Self::Minute => "trends:minute",
            Self::TenMinutes => "trends:ten-minutes",
            Self::Hour => "trends:hour",
        }
    }

    /// How long its slices are kept.
    fn kept(self) -> Duration {
        match self {
            Self::Minute => TRENDS_MINUTES_KEPT,
            Self::TenMinutes => TRENDS_TENS_KEPT,
            Self::Hour => TRENDS_HOURS_KEPT,
        }
    }

    /// The beginning of the slice that a moment is in.
    pub fn floor(self, at: Timestamp) -> Timestamp {
        let step = i64::try_from(self.step().as_secs()).unwrap_or(1);
        let second = at.as_second();
        Timestamp::from_second(second - second.rem_euclid(step)).unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_begins_at_a_whole_step() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let moment = at("2026-11-30T12:47:59.999Z");
        assert_eq!(Resolution::Minute.floor(moment), at("2026-11-30T12:47:00Z"));
        assert_eq!(Resolution::TenMinutes.floor(moment), at("2026-11-30T12:40:00Z"));
        assert_eq!(Resolution::Hour.floor(moment), at("2026-11-30T12:00:00Z"));
        assert_eq!(Resolution::Hour.floor(at("2026-11-30T12:00:00Z")), at("2026-11-30T12:00:00Z"));
        assert_eq!(Resolution::Minute.floor(at("1969-12-31T23:59:30Z")), at("1969-12-31T23:59:00Z"));
        let _ = Resolution::Hour.floor(Timestamp::MIN);
    }
}
