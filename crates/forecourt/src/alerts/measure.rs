//! From samples to values: what a rule measures, by its labels.

use std::collections::BTreeMap;

use forecourt_core::Timestamp;

use super::history::{Groups, History, grouped};
use super::rule::{AlertRule, Measure};
use crate::openmetrics::FamilyText;

/// The part of requests that [`Measure::Quantile`] is about.
const PART: f64 = 0.95;
/// The label of buckets.
const BUCKET: &str = "le";

/// A rule, with what was counted for it in the last minutes.
pub(super) struct WatchedRule {
    pub(super) rule: AlertRule,
    pub(super) part: History,
    pub(super) whole: History,
}

impl WatchedRule {
    /// Keeps what is counted at `now`, where the rule is about growth.
    pub(super) fn take(&mut self, families: &[FamilyText], now: Timestamp) {
        let rule = &self.rule;
        let sum = |a: f64, b: f64| a + b;
        let labels = match rule.measure {
            Measure::Increase | Measure::Rate | Measure::Share => rule.by.clone(),
            Measure::Quantile => rule.by.iter().cloned().chain([BUCKET.to_owned()]).collect(),
            Measure::Value | Measure::Distance | Measure::SecondsUntil => return,
        };
        self.part.add(now, grouped(families, &rule.part, &labels, sum));
        if let Some(whole) = &rule.whole {
            self.whole.add(now, grouped(families, whole, &rule.whole_by, sum));
        }
    }

    /// What is measured now, by the labels of the rule.
    pub(super) fn measured(&self, families: &[FamilyText], now: Timestamp) -> Groups {
        let rule = &self.rule;
        let grown = || self.part.growth(rule.within);
        match rule.measure {
            Measure::Value => rule.levels(families),
            Measure::Distance => {
                let nearest = |a: f64, b: f64| rule.bound.nearest(a.abs(), b.abs());
                let far = grouped(families, &rule.part, &rule.by, nearest).into_iter();
                far.map(|(group, value)| (group, value.abs())).collect()
            }
            Measure::SecondsUntil => {
                let now = Timestamp::as_millisecond(now) as f64 / 1_000.0;
                let left = grouped(families, &rule.part, &rule.by, |a, b| rule.bound.nearest(a, b)).into_iter();
                left.map(|(group, at)| (group, at - now)).collect()
            }
            Measure::Increase => grown().map(|(groups, _)| groups).unwrap_or_default(),
            Measure::Rate => {
                let in_a_second = |(groups, seconds): (Groups, f64)| {
                    groups.into_iter().map(|(group, count)| (group, count / seconds)).collect()
                };
                grown().map(in_a_second).unwrap_or_default()
            }
            Measure::Share => self.shares().unwrap_or_default(),
            Measure::Quantile => grown().map(|(groups, _)| quantiles(groups)).unwrap_or_default(),
        }
    }

    fn shares(&self) -> Option<Groups> {
        let rule = &self.rule;
        let (parts, _) = self.part.growth(rule.within)?;
        let (wholes, _) = self.whole.growth(rule.within)?;
        let share = |(group, part): (Vec<String>, f64)| {
            let named = rule.by.iter().zip(&group).filter(|(label, _)| rule.whole_by.contains(label));
            let of: Vec<String> = named.map(|(_, value)| value.clone()).collect();
            let whole = wholes.get(&of).copied().filter(|whole| *whole > 0.0)?;
            Some((group, part / whole))
        };
        Some(parts.into_iter().filter_map(share).collect())
    }
}

impl AlertRule {
    /// Numbers as they are, each the one nearest to the bound, divided by those of `whole`.
    fn levels(&self, families: &[FamilyText]) -> Groups {
        let nearest = |a: f64, b: f64| self.bound.nearest(a, b);
        let parts = grouped(families, &self.part, &self.by, nearest);
        let Some(whole) = &self.whole else { return parts };
        let wholes = grouped(families, whole, &self.by, nearest);
        let divided = |(group, part): (Vec<String>, f64)| {
            let whole = wholes.get(&group).copied().filter(|whole| *whole > 0.0)?;
            Some((group, part / whole))
        };
        parts.into_iter().filter_map(divided).collect()
    }
}

/// What [`PART`] of those in the buckets of each group stayed below, as if those of a bucket were spread evenly in it.
fn quantiles(buckets: Groups) -> Groups {
    let mut by_group: BTreeMap<Vec<String>, Vec<(f64, f64)>> = BTreeMap::new();
    for (mut group, count) in buckets {
        let bound = group.pop().and_then(|text| text.parse().ok()).unwrap_or(f64::INFINITY);
        by_group.entry(group).or_default().push((bound, count));
    }
    let quantile = |(group, mut buckets): (Vec<String>, Vec<(f64, f64)>)| {
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = buckets.last().map(|(_, count)| *count).filter(|all| *all > 0.0)?;
        let (wanted, mut lower, mut below) = (all * PART, 0.0, 0.0);
        for (bound, count) in buckets {
            if count >= wanted {
                // Of those behind the last bound nothing is known but that.
                let upper = if bound.is_finite() { bound } else { lower };
                return Some((
                    group,
                    lower + (upper - lower) * (wanted - below) / (count - below).max(f64::MIN_POSITIVE),
                ));
            }
            (lower, below) = (bound, count);
        }
        None
    };
    by_group.into_iter().filter_map(quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rule::tests::of;
    use super::*;
    use crate::openmetrics::read;

    #[test]
    fn of_buckets_the_value_is_told_below_which_most_are() {
        let groups =
            |counts: &[(&str, f64)]| counts.iter().map(|(le, count)| (vec![(*le).to_owned()], *count)).collect();
        assert_eq!(quantiles(groups(&[("1", 95.0), ("2", 100.0), ("+Inf", 100.0)]))[&vec![]], 1.0);
        assert_eq!(quantiles(groups(&[("1", 0.0), ("+Inf", 3.0)]))[&vec![]], 1.0);
        assert!(quantiles(groups(&[("1", 0.0), ("+Inf", 0.0)])).is_empty());
    }

    #[test]
    fn of_several_distances_the_one_nearest_to_the_bound_counts() {
        let families = read("# TYPE a gauge\na{b=\"1\"} -1\na{b=\"2\"} 50\n");
        for (bound, expected) in [("under = 9", 1.0), ("over = 9", 50.0)] {
            let mut settings = of(&format!("{bound}\nmeasure = \"distance\""));
            settings.metric = "a".to_owned();
            let (part, whole) = (History::default(), History::default());
            let watched = WatchedRule { rule: settings.check().unwrap(), part, whole };
            assert_eq!(watched.measured(&families, Timestamp::UNIX_EPOCH), [(vec![], expected)].into(), "{bound}");
        }
    }
}
