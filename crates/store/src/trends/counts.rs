//! Numbers by metric and labels, within bounds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Metric;
use crate::limits::{TRENDS_LABEL_CHARS_MAX, TRENDS_LABELS_MAX, TRENDS_NODE_BYTES_MAX};

/// The label of all that find no room of their own.
pub const OTHERS: &str = "others";

/// What one number is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// What is counted.
    pub metric: Metric,
    /// The values of its two labels; empty where it has none.
    pub labels: [String; 2],
}

impl Series {
    /// Labels are cut to a bound.
    pub fn new(metric: Metric, labels: [&str; 2]) -> Self {
        Self { metric, labels: labels.map(|label| label.chars().take(TRENDS_LABEL_CHARS_MAX).collect()) }
    }
}

/// Numbers, by what they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Series, u64>);

impl Counts {
    /// Adds to a number; a level is set.
    pub fn add(&mut self, series: Series, count: u64) {
        let is_level = series.metric.is_level();
        let kept = self.0.entry(series).or_default();
        *kept = if is_level { count } else { kept.saturating_add(count) };
    }

    /// Adds what was counted later.
    pub fn add_later(&mut self, later: Self) {
        if self.is_empty() {
            *self = later;
        } else {
            later.0.into_iter().for_each(|(series, count)| self.add(series, count));
        }
    }

    /// Adds what was counted elsewhere at the same time: of levels, the highest.
    pub fn add_beside(&mut self, beside: &Self) {
        for (series, count) in &beside.0 {
            let Some(kept) = self.0.get_mut(series) else {
                self.0.insert(series.clone(), *count);
                continue;
            };
            *kept = if series.metric.is_level() { (*kept).max(*count) } else { kept.saturating_add(*count) };
        }
    }

    /// All numbers, in the order of metrics and labels.
    pub fn iter(&self) -> impl Iterator<Item = (&Series, u64)> {
        self.0.iter().map(|(series, count)| (series, *count))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same within the bounds: of each label the [`TRENDS_LABELS_MAX`] most frequent values, and fewer where that is
    /// over [`TRENDS_NODE_BYTES_MAX`]. All others are added up as [`OTHERS`].
    pub(super) fn bounded(mut self) -> Self {
        let mut most = TRENDS_LABELS_MAX;
        loop {
            self = self.folded(most);
            if most <= 1 || self.bytes() <= TRENDS_NODE_BYTES_MAX {
                return self;
            }
            most /= 2;
        }
    }

    fn bytes(&self) -> usize {
        self.to_value().to_string().len()
    }

    fn folded(self, most: usize) -> Self {
        let names: BTreeSet<(Metric, usize, String)> = Metric::ALL
            .into_iter()
            .flat_map(|metric| [(metric, 0), (metric, 1)])
            .flat_map(|(metric, place)| {
                self.kept(metric, place, most).into_iter().map(move |name| (metric, place, name))
            })
            .collect();
        let mut folded = Self::default();
        for (Series { metric, labels }, count) in self.0 {
            let mut place = 0;
            let labels = labels.map(|label| {
                let key = (metric, place, label);
                place += 1;
                if names.contains(&key) { key.2 } else { OTHERS.to_owned() }
            });
            folded.add_one_of_many(Series { metric, labels }, count);
        }
        folded
    }

    /// Several agents are one.
    fn add_one_of_many(&mut self, series: Series, count: u64) {
        let metric = series.metric;
        let kept = self.0.entry(series).or_default();
        *kept = metric.together([*kept, count].into_iter());
    }

    /// The values of a label that keep their names.
    fn kept(&self, metric: Metric, place: usize, most: usize) -> Vec<String> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (series, count) in self.0.iter().filter(|(series, _)| series.metric == metric) {
            let sum = sums.entry(&series.labels[place]).or_default();
            *sum = sum.saturating_add(*count);
        }
        // Buckets are a closed set, and one by another name would be a lie about times.
        if sums.len() <= most || (metric, place) == (Metric::Latency, 1) {
            return sums.into_keys().map(str::to_owned).collect();
        }
        let mut sums: Vec<_> = sums.into_iter().filter(|(name, _)| *name != OTHERS).collect();
        sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sums.into_iter().take(most - 1).map(|(name, _)| name.to_owned()).collect()
    }

    /// As it is kept: by metric, first label and second label.
    pub(super) fn to_value(&self) -> Value {
        let mut value = json!({});
        for (Series { metric, labels: [first, second] }, count) in &self.0 {
            value[metric.name()][first][second] = json!(count);
        }
        value
    }

    /// What was kept. What a later version counts is left out.
    pub(super) fn from_value(value: &Value) -> Self {
        let mut counts = Self::default();
        for (name, by_first) in fields(value) {
            let Some(metric) = Metric::from_name(name) else { continue };
            for (first, by_second) in fields(by_first) {
                for (second, count) in fields(by_second) {
                    counts.add(Series::new(metric, [first, second]), count.as_u64().unwrap_or_default());
                }
            }
        }
        counts
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(agents: u64) -> Counts {
        let mut counts = Counts::default();
        for n in 0..agents {
            // The last ones count most.
            counts.add(Series::new(Metric::Requests, [&format!("agent-{n:05}"), "a2a"]), n + 1);
        }
        counts
    }

    fn sum(counts: &Counts) -> u64 {
        counts.iter().map(|(_, count)| count).sum()
    }

    #[test]
    fn so_many_labels_keep_their_names_and_the_others_are_one() {
        let most = TRENDS_LABELS_MAX as u64;
        assert_eq!(of(most).bounded(), of(most));
        let bounded = of(most + 1).bounded();
        assert_eq!((bounded.iter().count() as u64, sum(&bounded)), (most, sum(&of(most + 1))));
        let named = |name: &str| bounded.iter().find(|(series, _)| series.labels[0] == name).map(|(_, count)| count);
        assert_eq!((named("agent-00000"), named("agent-00001"), named(OTHERS)), (None, None, Some(3)));
    }

    #[test]
    fn however_many_names_somebody_makes_up_the_bytes_are_bounded() {
        let mut counts = of(20_000);
        for n in 0..20_000_u64 {
            let long = format!("{n}{}", "x".repeat(500));
            counts.add(Series::new(Metric::Failures, [&long, &long]), 1);
            counts.add(Series::new(Metric::Cost, [&long, &format!("m{}", n % 1_000)]), 1);
            counts.add(Series::new(Metric::Latency, [&long, LATENCY]), 1);
        }
        let bounded = counts.clone().bounded();
        assert!(bounded.bytes() <= TRENDS_NODE_BYTES_MAX, "{}", bounded.bytes());
        assert_eq!(sum(&bounded), sum(&counts), "nothing is lost");
        assert!(bounded.iter().any(|(series, _)| series.labels[1] == LATENCY), "buckets stay buckets");
    }

    const LATENCY: &str = "0.128";

    #[test]
    fn a_level_is_the_last_one_in_time_and_the_highest_of_nodes() {
        let level = |count| Counts([(Series::new(Metric::Items, ["chef", ""]), count)].into());
        let mut counts = level(7);
        counts.add_later(level(5));
        assert_eq!(counts, level(5));
        counts.add_beside(&level(3));
        assert_eq!(counts, level(5));
    }

    #[test]
    fn what_can_not_be_read_counts_as_nothing() {
        for odd in [json!(null), json!([]), json!({"requests": 1}), json!({"later": {"a": {"b": 1}}})] {
            assert!(Counts::from_value(&odd).is_empty(), "{odd}");
        }
        let odd = json!({"requests": {"a": {"b": -1}}});
        assert_eq!(sum(&Counts::from_value(&odd)), 0);
    }

    proptest! {
        #[test]
        fn what_is_kept_reads_back(labels in prop::collection::vec(("\\PC{0,12}", "\\PC{0,12}", any::<u64>()), 0..40)) {
            let mut counts = Counts::default();
            for (n, (first, second, count)) in labels.iter().enumerate() {
                counts.add(Series::new(Metric::ALL[n % Metric::ALL.len()], [first, second]), *count);
            }
            let bounded = counts.bounded();
            prop_assert_eq!(Counts::from_value(&bounded.to_value()), bounded);
        }
    }
}
