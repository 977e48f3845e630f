//! What was counted in the last minutes, by the labels that tell the alerts of a rule apart.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use forecourt_core::Timestamp;

use super::selector::{Selector, label};
use crate::openmetrics::FamilyText;

/// Numbers by the values of labels.
pub(super) type Groups = BTreeMap<Vec<String>, f64>;

/// Groups of a rule that are told apart; further ones are left out.
const GROUPS_MAX: usize = 500;
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

    pub(super) fn add(&mut self, at: Timestamp, groups: Groups) {
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
        // What was not counted before has begun in between. A counter that is lower than before began anew.
        let grown = |(group, count): (&Vec<String>, &f64)| {
            let before = base.get(group).copied().filter(|before| before <= count).unwrap_or_default();
            (group.clone(), count - before)
        };
        (seconds > 0.0).then(|| (newest.iter().map(grown).collect(), seconds))
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
        let group: Vec<String> = labels.iter().map(|name| label(sample, name).to_owned()).collect();
        if let Some(kept) = groups.get_mut(&group) {
            *kept = together(*kept, sample.value);
        } else if groups.len() < GROUPS_MAX {
            groups.insert(group, sample.value);
        }
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
    fn only_so_many_groups_are_told_apart() {
        let text: String = (0..=GROUPS_MAX).map(|n| format!("a{{b=\"{n}\"}} 1\n")).collect();
        let families = read(&format!("# TYPE a gauge\n{text}"));
        let selector = Selector::parse("a").unwrap();
        assert_eq!(grouped(&families, &selector, &["b".to_owned()], f64::max).len(), GROUPS_MAX);
        assert_eq!(grouped(&families, &selector, &[], |a, b| a + b)[&vec![]], (GROUPS_MAX + 1) as f64);
    }
}
