//! What was counted in the last minutes, by the labels that tell the alerts of a rule apart.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use forecourt_core::Timestamp;

use super::selector::Selector;
use crate::openmetrics::FamilyText;

/// Numbers by the values of labels.
pub(super) type Groups = BTreeMap<Vec<String>, f64>;

/// Groups of a rule of which it is remembered what they had; further ones are left out.
const GROUPS_MAX: usize = 2_000;
/// Samples that are kept: a minute each, as far back as a rule may look, and the one before.
const SAMPLES_MAX: usize = 17;
/// How much of a minute a sample may be late.
const LATE_MAX: Duration = Duration::from_secs(30);

/// Samples of the last minutes, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<(Timestamp, Groups)>);

impl History {
    /// One in which nothing was counted up to `at`.
    pub(super) fn begun(at: Timestamp) -> Self {
        Self([(at, Groups::new())].into())
    }

    /// Keeps what was counted at `at`: of more than [`GROUPS_MAX`] groups those that were kept before, then the first.
    pub(super) fn add(&mut self, at: Timestamp, mut groups: Groups) {
        if groups.len() > GROUPS_MAX {
            let known = self.0.back().map(|(_, known)| known);
            let is_known = |group: &Vec<String>| known.is_some_and(|known| known.contains_key(group));
            let mut room = GROUPS_MAX - groups.keys().filter(|group| is_known(group)).count();
            groups.retain(|group, _| {
                let is_kept = is_known(group) || room > 0;
                room -= usize::from(is_kept && !is_known(group));
                is_kept
            });
        }
        self.0.push_back((at, groups));
        while self.0.len() > SAMPLES_MAX {
            self.0.pop_front();
        }
    }

    /// By how much each number grew in the last `within`, and in how many seconds that was.
    pub(super) fn growth(&self, within: Duration) -> Option<(Groups, f64)> {
        let (now, newest) = self.0.back()?;
        let since = now.checked_sub(within).ok()?.checked_add(LATE_MAX).ok()?;
        let before = self.0.iter().rev().skip(1);
        let base = before.clone().find(|(at, _)| *at <= since).or_else(|| before.last());
        let (begun, base) = base?;
        let seconds = now.duration_since(*begun).as_secs_f64();
        // What was not counted before has begun in between, unless it was left out. A counter that is lower than before
        // began anew.
        let is_full = base.len() >= GROUPS_MAX;
        let grown = |(group, count): (&Vec<String>, &f64)| {
            let known = base.get(group).copied();
            let before = known.filter(|before| before <= count).unwrap_or_default();
            (known.is_some() || !is_full).then(|| (group.clone(), count - before))
        };
        (seconds > 0.0).then(|| (newest.iter().filter_map(grown).collect(), seconds))
    }
}

/// The samples that a selector means, put together by these labels.
pub(super) fn grouped(
    families: &[FamilyText],
    selector: &Selector,
    labels: &[String],
    together: impl Fn(f64, f64) -> f64,
) -> Groups {
    let mut groups = Groups::new();
    for sample in selector.samples(families).filter(|sample| sample.value.is_finite()) {
        let group: Vec<String> = labels.iter().map(|name| sample.label(name).to_owned()).collect();
        groups.entry(group).and_modify(|kept| *kept = together(*kept, sample.value)).or_insert(sample.value);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmetrics::read;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    fn one(count: f64) -> Groups {
        [(vec!["a".to_owned()], count)].into()
    }

    #[test]
    fn growth_is_that_of_the_window_and_of_what_is_new() {
        let mut history = History::begun(at(0));
        assert_eq!(history.growth(Duration::from_secs(300)), None, "nothing is behind it yet");
        history.add(at(1), one(3.0));
        assert_eq!(history.growth(Duration::from_secs(300)), Some((one(3.0), 60.0)));
        (2..20).for_each(|minute| history.add(at(minute), one(3.0)));
        assert_eq!(history.growth(Duration::from_secs(300)), Some((one(0.0), 300.0)));
        history.add(at(20), one(10.0));
        assert_eq!(history.growth(Duration::from_secs(900)), Some((one(7.0), 900.0)));
        history.add(at(21), one(1.0));
        assert_eq!(history.growth(Duration::from_secs(60)), Some((one(1.0), 60.0)), "it began anew");
        assert_eq!(history.0.len(), SAMPLES_MAX);
    }

    #[test]
    fn samples_are_put_together_by_their_labels() {
        let families =
            read("# TYPE a gauge\na{b=\"1\",c=\"1\"} 1\na{b=\"1\",c=\"2\"} 2\na{b=\"2\"} 3\na{b=\"3\"} NaN\n");
        let selector = Selector::parse("a").unwrap();
        let groups = grouped(&families, &selector, &["b".to_owned()], f64::max);
        assert_eq!(groups, [(vec!["1".to_owned()], 2.0), (vec!["2".to_owned()], 3.0)].into());
        assert_eq!(grouped(&families, &selector, &[], |a, b| a + b), [(vec![], 6.0)].into());
    }

    #[test]
    fn so_many_groups_are_remembered_and_one_that_was_left_out_is_not_taken_for_new() {
        let of = |groups: std::ops::Range<usize>, count: f64| -> Groups {
            groups.map(|n| (vec![format!("{n:05}")], count)).collect()
        };
        let window = Duration::from_secs(60);
        let mut history = History::begun(at(0));
        history.add(at(1), of(1..GROUPS_MAX + 1, 5.0));
        assert_eq!(history.growth(window).unwrap().0, of(1..GROUPS_MAX + 1, 5.0), "all that there is room for");
        // One that comes first in the order pushes out none that is known.
        history.add(at(2), of(0..GROUPS_MAX + 1, 6.0));
        assert_eq!(history.growth(window).unwrap().0, of(1..GROUPS_MAX + 1, 1.0));
        // One of those goes, and what takes its place was counted long before.
        history.add(at(3), of(0..GROUPS_MAX, 7.0));
        assert_eq!(history.growth(window).unwrap().0, of(1..GROUPS_MAX, 1.0));
        history.add(at(4), of(0..GROUPS_MAX, 9.0));
        assert_eq!(history.growth(window).unwrap().0, of(0..GROUPS_MAX, 2.0));
    }
}
