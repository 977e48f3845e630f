//! Slices of the store as lines: a value for each step of a span.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_core::Timestamp;
use forecourt_store::trends::{Counts, Metric, OTHERS, Slice};

use super::{Line, TrendSpan};

/// Lines of a chart, `others` included.
const LINES_MAX: usize = 5;
/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// By which label lines are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    First,
    Second,
}

/// What was counted in each step of a span; `None` where nobody counted.
pub(super) struct Series(pub(super) Vec<Option<Counts>>);

impl Series {
    /// Of one agent or of all, and of one node or of all.
    pub(super) fn new(
        slices: &[Slice],
        (span, times): (TrendSpan, &[Timestamp]),
        agent: Option<&str>,
        node: Option<&str>,
    ) -> Self {
        let mut steps: Vec<Option<Counts>> = vec![None; times.len()];
        let begin = times.first().map_or(0, |at| at.as_second());
        for slice in slices {
            let counts = match node {
                None => slice.all(),
                Some(node) => match slice.nodes.get(node) {
                    Some(counts) => counts.clone(),
                    None => continue,
                },
            };
            let place = u64::try_from(slice.at.as_second() - begin).ok().map(|seconds| seconds / span.step().as_secs());
            let step = place.and_then(|place| usize::try_from(place).ok()).and_then(|place| steps.get_mut(place));
            let Some(step) = step else { continue };
            step.get_or_insert_default().add_later(of_agent(counts, agent));
        }
        Self(steps)
    }

    /// The lines of a metric, told apart by one of its labels, each name behind `prefix`: the largest first.
    pub(super) fn lines(&self, metric: Metric, by: By, prefix: &str) -> Vec<Line> {
        let place = usize::from(by == By::Second);
        let steps: Vec<Option<BTreeMap<&str, u64>>> =
            self.0.iter().map(|counts| counts.as_ref().map(|counts| by_label(counts, metric, place))).collect();
        let names: BTreeSet<&str> = steps.iter().flatten().flat_map(|step| step.keys().copied()).collect();
        let weight = |name: &str| steps.iter().flatten().filter_map(|step| step.get(name)).sum::<u64>();
        let mut names: Vec<(&str, u64)> = names.into_iter().map(|name| (name, weight(name))).collect();
        names.retain(|(_, weight)| *weight > 0 || metric.is_level());
        // `others` of the store is the rest here too, wherever it would stand.
        names.sort_by(|a, b| (a.0 == OTHERS).cmp(&(b.0 == OTHERS)).then(b.1.cmp(&a.1)).then(a.0.cmp(b.0)));
        let has_rest = names.len() > LINES_MAX || names.last().is_some_and(|(name, _)| *name == OTHERS);
        let kept = if has_rest { names.len().min(LINES_MAX) - 1 } else { names.len() };
        let (kept, rest) = names.split_at(kept);
        let line = |name: &str, of: &[(&str, u64)]| {
            let values = steps.iter().map(|step| {
                let step = step.as_ref()?;
                let counts = of.iter().filter_map(|(name, _)| step.get(name));
                // A level that nobody told is not 0.
                (!metric.is_level() || counts.clone().next().is_some())
                    .then(|| value(metric, metric.together(counts.copied())))
            });
            line(format!("{prefix}{name}"), values.collect(), metric.is_level())
        };
        let own = kept.iter().map(|one| line(one.0, std::slice::from_ref(one)));
        own.chain((!rest.is_empty()).then(|| line(OTHERS, rest))).collect()
    }

    /// A metric whatever its labels are, as one line; none where there was nothing.
    pub(super) fn whole(&self, metric: Metric, name: &str) -> Option<Line> {
        let sum = |counts: &Counts| counts.iter().filter(|(of, _)| of.metric == metric).map(|(_, count)| count).sum();
        let values: Vec<Option<u64>> = self.0.iter().map(|counts| counts.as_ref().map(sum)).collect();
        let is_there = values.iter().flatten().any(|count| *count > 0);
        let values = values.into_iter().map(|count| count.map(|count| value(metric, count))).collect();
        is_there.then(|| line(name.to_owned(), values, false))
    }
}

/// The part of what was counted that is about an agent.
fn of_agent(counts: Counts, agent: Option<&str>) -> Counts {
    let Some(agent) = agent else { return counts };
    let mut own = Counts::default();
    for (series, count) in counts.iter() {
        if series.metric.labels()[0] == "agent" && series.labels[0] == agent {
            own.add(series.clone(), count);
        }
    }
    own
}

fn by_label(counts: &Counts, metric: Metric, place: usize) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (series, count) in counts.iter().filter(|(series, _)| series.metric == metric) {
        *sums.entry(series.labels[place].as_str()).or_insert(0) += count;
    }
    sums
}

fn line(name: String, values: Vec<Option<f64>>, is_level: bool) -> Line {
    let total = match is_level {
        true => values.iter().rev().flatten().next().copied(),
        false => Some(round(values.iter().flatten().sum())),
    };
    Line { name, values, total }
}

/// A number in the unit of its metric.
fn value(metric: Metric, count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "2^52 millionths are enough for a chart")]
    let count = count as f64;
    match metric {
        Metric::Cost | Metric::Paid | Metric::GivenBack => round(count / MICROS),
        _ => count,
    }
}

/// To millionths: sums of decimal fractions are not to end in digits that nobody counted.
fn round(value: f64) -> f64 {
    (value * MICROS).round() / MICROS
}

#[cfg(test)]
mod tests {
    use forecourt_store::trends::Series as Label;

    use super::*;

    fn counted(names: &[(&str, u64)]) -> Series {
        let mut counts = Counts::default();
        names.iter().for_each(|(name, count)| counts.add(Label::new(Metric::Requests, [name, "a2a"]), *count));
        Series(vec![Some(counts)])
    }

    fn told(names: &[(&str, u64)]) -> Vec<(String, f64)> {
        let lines = counted(names).lines(Metric::Requests, By::First, "");
        lines.into_iter().map(|line| (line.name, line.total.unwrap())).collect()
    }

    #[test]
    fn so_many_lines_and_the_rest_is_one() {
        let names = [("a", 6), ("b", 5), ("c", 4), ("d", 3), ("e", 3)];
        assert_eq!(told(&names).len(), LINES_MAX);
        let over: Vec<_> = names.into_iter().chain([("f", 2)]).collect();
        let lines = told(&over);
        assert_eq!((lines.len(), &lines[4]), (LINES_MAX, &(OTHERS.to_owned(), 5.0)));
        assert_eq!(told(&[("a", 1), (OTHERS, 9), ("b", 2)]).last().unwrap(), &(OTHERS.to_owned(), 9.0));
        assert_eq!(told(&[(OTHERS, 9)]), [(OTHERS.to_owned(), 9.0)]);
        assert!(told(&[("a", 0)]).is_empty() && told(&[]).is_empty());
    }
}
