//! How long answers take to begin, out of buckets: the time that half of the requests stay below, and nineteen of twenty.

use std::collections::BTreeMap;

use forecourt_store::trends::{Counts, LATENCY_BOUNDS, Metric};

use super::Line;
use super::lines::Series;

/// What is told, and of which part of the requests.
const TOLD: [(&str, f64); 2] = [("half of them (p50)", 0.5), ("19 of 20 (p95)", 0.95)];

/// Requests by bucket: its upper bound in thousandths of a millisecond, by which they are in order.
type Buckets = BTreeMap<u64, u64>;

/// A line for each part; none where nobody asked.
pub(super) fn lines(series: &Series) -> Vec<Line> {
    let steps: Vec<Buckets> = series.0.iter().map(|counts| counts.as_ref().map(buckets).unwrap_or_default()).collect();
    let mut all = Buckets::new();
    steps.iter().flatten().for_each(|(bound, count)| *all.entry(*bound).or_default() += count);
    let line = |(name, part): (&str, f64)| {
        let total = below(&all, part)?;
        let values = steps.iter().map(|step| below(step, part)).collect();
        Some(Line { name: name.to_owned(), values, total: Some(total) })
    };
    TOLD.into_iter().filter_map(line).collect()
}

/// The seconds that half of the requests of some counts stay below, and nineteen of twenty.
pub(crate) fn of_counts(counts: &Counts) -> [Option<f64>; 2] {
    let buckets = buckets(counts);
    TOLD.map(|(_, part)| below(&buckets, part))
}

fn buckets(counts: &Counts) -> Buckets {
    let mut buckets = Buckets::new();
    for (series, count) in counts.iter().filter(|(series, _)| series.metric == Metric::Latency) {
        *buckets.entry(micros(&series.labels[1])).or_default() += count;
    }
    buckets
}

/// A bound as its label spells it. What is none is behind all of them.
fn micros(bound: &str) -> u64 {
    let seconds: f64 = bound.parse().unwrap_or(f64::INFINITY);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
    let micros = (seconds * 1e6).round() as u64;
    micros
}

/// The seconds that a part of the requests stays below, as if those of a bucket were spread evenly in it. Of those behind
/// the last bound nothing is known but that.
fn below(buckets: &Buckets, part: f64) -> Option<f64> {
    let all: u64 = buckets.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "2^52 requests are enough")]
    let float = |count: u64| count as f64;
    let wanted = float(all) * part;
    let mut seen = 0.0;
    for (bound, count) in buckets.iter().filter(|(_, count)| **count > 0) {
        let lower = LATENCY_BOUNDS.iter().map(|known| micros(known)).filter(|known| known < bound).max().unwrap_or(0);
        if seen + float(*count) >= wanted {
            let upper = if *bound == u64::MAX { lower } else { *bound };
            let share = (wanted - seen) / float(*count);
            let micros = float(lower) + (float(upper) - float(lower)) * share;
            return Some(micros.round() / 1e6);
        }
        seen += float(*count);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(&str, u64)]) -> Buckets {
        counts.iter().map(|(bound, count)| (micros(bound), *count)).collect()
    }

    #[test]
    fn a_part_of_the_requests_is_below() {
        assert_eq!(below(&Buckets::new(), 0.5), None);
        let even = of(&[("0.002", 10)]);
        assert_eq!(below(&even, 0.5), Some(0.001_25));
        let far = of(&[("0.002", 90), ("0.032", 5), ("8.192", 5)]);
        assert_eq!(below(&far, 0.95), Some(0.032));
        assert!(below(&far, 0.96).unwrap() > 2.048);
        assert_eq!(below(&of(&[("+Inf", 3)]), 0.5), Some(32.768), "no more is known");
    }
}
