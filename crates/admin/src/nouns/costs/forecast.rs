//! How far a budget lasts at the pace of the last days.

use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_store::trends::{Metric, Slice};

/// What a pace is taken from, for budgets of a month and of a day.
const LOOKED_AT: [Duration; 2] = [Duration::from_secs(7 * 24 * 3_600), Duration::from_secs(24 * 3_600)];
/// The least time that a pace is taken from: a single answer is none.
const LOOKED_AT_MIN: f64 = 3_600.0;

/// What is used in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace(f64);

/// What becomes of a budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forecast {
    /// What will have been used at the end of its period.
    pub(super) at_the_end: f64,
    /// When all of it is; `None` where it lasts.
    pub(super) used_up_at: Option<Timestamp>,
}

impl Pace {
    /// What an agent used of these metrics lately. A deployment that is younger is looked at since it counts.
    pub(super) fn of(slices: &[Slice], agent: &str, metrics: &[Metric], by_day: bool, now: Timestamp) -> Self {
        let since = now.checked_sub(LOOKED_AT[usize::from(by_day)]).unwrap_or(Timestamp::MIN);
        let lately = || slices.iter().filter(|slice| slice.at >= since);
        let Some(first) = lately().next() else { return Self(0.0) };
        let mut sum = 0.0;
        for slice in lately() {
            let counts = slice.all();
            let own = counts.iter().filter(|(of, _)| metrics.contains(&of.metric) && of.labels[0] == agent);
            sum += own.map(|(_, count)| super::float(count)).sum::<f64>();
        }
        Self(sum / now.duration_since(first.at).as_secs_f64().max(LOOKED_AT_MIN))
    }
}

impl Forecast {
    pub(super) fn new((used, most): (f64, f64), Pace(pace): Pace, now: Timestamp, ends_at: Timestamp) -> Self {
        let left = ends_at.duration_since(now).as_secs_f64().max(0.0);
        let at_the_end = used + pace * left;
        let used_up_at = if used >= most {
            Some(now)
        } else if at_the_end > most {
            let seconds = Duration::try_from_secs_f64((most - used) / pace).ok();
            seconds.and_then(|seconds| now.checked_add(seconds).ok())
        } else {
            None
        };
        Self { at_the_end, used_up_at }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forecourt_store::trends::{Counts, Series};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn slice(begins: &str, count: u64) -> Slice {
        let mut counts = Counts::default();
        counts.add(Series::new(Metric::TokensRead, ["chef", "small"]), count);
        counts.add(Series::new(Metric::TokensRead, ["other", "small"]), 1_000_000);
        Slice { at: at(begins), nodes: BTreeMap::from([("a".to_owned(), counts)]) }
    }

    #[test]
    fn a_pace_is_that_of_the_last_days_and_of_one_agent() {
        let slices = [
            slice("2026-11-20T00:00:00Z", 9_999),
            slice("2026-11-29T02:00:00Z", 3_600),
            slice("2026-11-30T11:00:00Z", 7_200),
        ];
        let now = at("2026-11-30T12:00:00Z");
        let pace = |by_day| Pace::of(&slices, "chef", &[Metric::TokensRead], by_day, now);
        assert_eq!(pace(true), Pace(2.0));
        assert_eq!(pace(false), Pace(10_800.0 / (34.0 * 3_600.0)));
        assert_eq!(Pace::of(&[], "chef", &[Metric::TokensRead], true, now), Pace(0.0));
        let young = [slice("2026-11-30T11:59:00Z", 3_600)];
        assert_eq!(Pace::of(&young, "chef", &[Metric::TokensRead], true, now), Pace(1.0), "of an hour at least");
    }

    #[test]
    fn a_budget_lasts_or_is_used_up_on_a_day() {
        let (now, end) = (at("2026-11-30T00:00:00Z"), at("2026-12-10T00:00:00Z"));
        let day = 86_400.0;
        let forecast = |used, pace| Forecast::new((used, 100.0), Pace(pace / day), now, end);
        let told = forecast(20.0, 20.0);
        assert_eq!(told.used_up_at, Some(at("2026-12-04T00:00:00Z")));
        assert_eq!(told.at_the_end.round(), 220.0);
        assert_eq!(forecast(20.0, 8.0), Forecast { at_the_end: 100.0, used_up_at: None }, "to its last token");
        assert_eq!(forecast(20.0, 0.0).used_up_at, None);
        assert_eq!(forecast(100.0, 0.0).used_up_at, Some(now), "it is used up already");
        let over = Forecast::new((20.0, 100.0), Pace(1.0), end, now);
        assert_eq!(over, Forecast { at_the_end: 20.0, used_up_at: None }, "a period that is over uses nothing more");
    }
}
