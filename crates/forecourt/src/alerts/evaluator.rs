//! From values to what is firing, once a minute: what begins, what ends, and how much of it is told.

use std::collections::BTreeMap;

use forecourt_admin::report::FiringAlert;
use forecourt_core::Timestamp;
use parking_lot::Mutex;

use super::history::History;
use super::measure::WatchedRule;
use super::rule::AlertRule;
use crate::openmetrics::FamilyText;

/// Alerts of one rule that a node tells at once, the first ones: one rule takes no place of another.
const FIRING_PER_RULE_MAX: usize = 20;
/// Looks in a row at which something is no more so before its alert ends: one that comes back meanwhile never ended, and
/// nor did one that could not be measured for a moment.
const LOOKS_TO_END: u8 = 3;

/// Evaluates rules, and remembers since when what they watch for is so.
#[derive(Default)]
pub(crate) struct AlertEvaluator {
    watched: Mutex<WatchState>,
}

#[derive(Default)]
struct WatchState {
    rules: Vec<WatchedRule>,
    active: BTreeMap<AlertName, ActiveAlert>,
    has_begun: bool,
}

/// The rule and the labels of an alert.
pub(super) type AlertName = (String, BTreeMap<String, String>);

/// Something that is so.
struct ActiveAlert {
    since: Timestamp,
    is_firing: bool,
    /// Looks in a row at which it was no more so.
    missed: u8,
    told: FiringAlert,
}

/// What a minute changed.
#[derive(Debug, Default)]
pub(crate) struct AlertChange {
    /// What is firing now.
    pub(crate) firing: Vec<FiringAlert>,
    /// Of that, what was not before.
    pub(crate) begun: Vec<FiringAlert>,
    /// What was and is no more.
    pub(crate) ended: Vec<FiringAlert>,
}

impl AlertEvaluator {
    /// Takes what is counted at `now`, and says what follows. `node` is who counted.
    pub(crate) fn evaluate(
        &self,
        rules: &[AlertRule],
        families: &[FamilyText],
        node: &str,
        now: Timestamp,
    ) -> AlertChange {
        let mut watched = self.watched.lock();
        let removed = watched.follow(rules, now);
        let mut seen: BTreeMap<AlertName, FiringAlert> = BTreeMap::new();
        for of in &mut watched.rules {
            of.take(families, now);
            for (group, value) in of.measured(families, now) {
                if of.rule.bound.is_crossed(value) {
                    let told = of.rule.told(&group, value, node, now);
                    seen.entry((told.rule.clone(), told.labels.clone())).or_insert(told);
                }
            }
        }
        watched.bound(&mut seen);
        let mut change = watched.settle(seen, now);
        change.ended.extend(removed);
        change
    }

    /// How many alerts of each rule are firing; of rules without any 0.
    pub(crate) fn firing_by_rule(&self) -> BTreeMap<String, u64> {
        let watched = self.watched.lock();
        let mut all: BTreeMap<String, u64> = watched.rules.iter().map(|of| (of.rule.name.clone(), 0)).collect();
        for ((rule, _), _) in watched.active.iter().filter(|(_, active)| active.is_firing) {
            *all.entry(rule.clone()).or_default() += 1;
        }
        all
    }
}

impl WatchState {
    /// Goes by these rules from here on, and gives what was firing by one that is no more. What was counted for a rule
    /// that stays is kept.
    fn follow(&mut self, rules: &[AlertRule], now: Timestamp) -> Vec<FiringAlert> {
        // Counters begin at 0 with the process; for a rule that comes later, what they had before is unknown.
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let mut before = std::mem::take(&mut self.rules);
        for rule in rules {
            let known = before.iter().position(|of| of.rule == *rule).map(|at| before.swap_remove(at));
            self.rules.push(known.unwrap_or_else(|| {
                let begun = now.checked_sub(rule.within).unwrap_or(now);
                let history = || if is_first { History::begun(begun) } else { History::default() };
                WatchedRule { rule: rule.clone(), part: history(), whole: history() }
            }));
        }
        let is_removed = |(rule, _): &AlertName| !rules.iter().any(|known| known.name == *rule);
        let removed: Vec<AlertName> = self.active.keys().filter(|name| is_removed(name)).cloned().collect();
        let removed = removed.iter().filter_map(|name| self.active.remove(name));
        removed.filter(|active| active.is_firing).map(|active| active.told).collect()
    }

    /// Leaves so many of each rule: those that were there before, so that none ends for another one, and then the first.
    fn bound(&self, seen: &mut BTreeMap<AlertName, FiringAlert>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (rule, _) in self.active.keys() {
            *counts.entry(rule.clone()).or_default() += 1;
        }
        seen.retain(|name, _| {
            if self.active.contains_key(name) {
                return true;
            }
            let count = counts.entry(name.0.clone()).or_default();
            *count += 1;
            *count <= FIRING_PER_RULE_MAX
        });
    }

    /// What is firing by what is so now.
    fn settle(&mut self, seen: BTreeMap<AlertName, FiringAlert>, now: Timestamp) -> AlertChange {
        let mut change = AlertChange::default();
        let is_over = |name: &AlertName, active: &mut ActiveAlert| {
            if seen.contains_key(name) {
                return false;
            }
            active.missed += 1;
            !active.is_firing || active.missed >= LOOKS_TO_END
        };
        for (_, active) in self.active.extract_if(.., is_over).filter(|(_, active)| active.is_firing) {
            change.ended.push(active.told);
        }
        let missed = self.active.iter().filter(|(name, _)| !seen.contains_key(name));
        change.firing.extend(missed.map(|(_, active)| active.told.clone()));
        for (name, told) in seen {
            let held_for = self.rules.iter().find(|of| of.rule.name == name.0).map(|of| of.rule.held_for);
            let active = self.active.entry(name).or_insert_with(|| ActiveAlert {
                since: now,
                is_firing: false,
                missed: 0,
                told: told.clone(),
            });
            active.missed = 0;
            active.told = FiringAlert { since: active.since, ..told };
            let is_due = now.duration_since(active.since).unsigned_abs() >= held_for.unwrap_or_default();
            if is_due && !active.is_firing {
                active.is_firing = true;
                change.begun.push(active.told.clone());
            }
            if active.is_firing {
                change.firing.push(active.told.clone());
            }
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check_all;
    use super::*;
    use crate::openmetrics::read;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    /// What is firing in each minute, by rule and summary.
    fn run(texts: impl IntoIterator<Item = String>) -> Vec<Vec<String>> {
        let (evaluator, rules) = (AlertEvaluator::default(), check_all(&[], &[]).unwrap());
        let one = |(text, minute): (String, i64)| {
            let change = evaluator.evaluate(&rules, &read(&text), "n1", at(minute));
            change.firing.iter().map(|alert| format!("{}: {}", alert.rule, alert.summary)).collect()
        };
        texts.into_iter().zip(0..).map(one).collect()
    }

    #[test]
    fn a_level_alerts_once_it_has_been_so_for_long_enough() {
        let up = |up: u8| format!("# TYPE forecourt_bus_up gauge\nforecourt_bus_up {up}\n");
        let told = run([1, 0, 0, 0, 1, 1, 0, 1, 1, 1].map(up));
        let is_told: Vec<usize> = told.iter().map(Vec::len).collect();
        assert_eq!(told[2], ["ForecourtBusAway: node n1 has no bus"]);
        assert_eq!(is_told, [0, 0, 1, 1, 1, 1, 1, 1, 1, 0], "it ends at the third look in a row that finds it well");
    }

    #[test]
    fn a_share_is_of_what_was_counted_in_the_window() {
        let counted = |minute: u64| {
            format!(
                "# TYPE forecourt_replies counter\n\
                 forecourt_replies_total{{agent=\"chef\",ending=\"complete\"}} {}\n\
                 forecourt_replies_total{{agent=\"chef\",ending=\"failed\"}} {}\n\
                 forecourt_replies_total{{agent=\"echo\",ending=\"failed\"}} {}\n\
                 forecourt_replies_total{{agent=\"echo\",ending=\"complete\"}} {}\n",
                minute * 8,
                minute * 2,
                minute,
                minute * 99
            )
        };
        let told = run((0..12).map(counted));
        assert_eq!(told[11], ["ForecourtAnswersFail: @chef fails to answer 20 % of its messages"]);
        assert_eq!(told[4], [""; 0]);
    }

    #[test]
    fn growth_times_and_what_is_wrong_at_once() {
        let of = |minute: u64| {
            format!(
                "# TYPE forecourt_http_panics counter\nforecourt_http_panics_total {}\n\
                 # TYPE forecourt_clock_skew_seconds gauge\nforecourt_clock_skew_seconds -3700\n\
                 # TYPE forecourt_certificate_expiry_seconds gauge\n\
                 forecourt_certificate_expiry_seconds{{name=\"a.example\"}} {}\n\
                 # TYPE forecourt_disk_free_bytes gauge\nforecourt_disk_free_bytes 5\n\
                 # TYPE forecourt_disk_size_bytes gauge\nforecourt_disk_size_bytes 100\n\
                 # TYPE forecourt_budget_used_ratio gauge\n\
                 forecourt_budget_used_ratio{{agent=\"chef\",budget=\"budget.cost_per_day\"}} 0.95\n",
                u64::from(minute > 1),
                1_800_000_000 + 5 * 86_400
            )
        };
        let told = run((0..70).map(of));
        let has = |minute: usize, rule: &str| told[minute].iter().any(|told| told.starts_with(rule));
        assert!(!has(1, "ForecourtPanics") && has(2, "ForecourtPanics") && has(16, "ForecourtPanics"));
        assert!(!has(20, "ForecourtPanics"), "it is long ago");
        assert!(!has(0, "ForecourtClockWrong") && has(1, "ForecourtClockWrong"));
        assert!(!has(59, "ForecourtCertificateEnds") && has(60, "ForecourtCertificateEnds"));
        assert!(!has(4, "ForecourtDiskLow") && has(5, "ForecourtDiskLow") && has(0, "ForecourtBudgetNearlySpent"));
        let words = told[69].join("\n");
        for part in ["is 62 min from the store's", "ends in 5 days", "5 % of the disk", "95 % of budget.cost_per_day"] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }

    #[test]
    fn of_nineteen_in_twenty_the_slowest_is_told() {
        let of = |minute: u64| {
            let (fast, all) = (minute * 90, minute * 100);
            let bucket = |le: &str, count: u64| {
                format!("forecourt_http_request_seconds_bucket{{domain=\"d\",protocol=\"a2a\",le=\"{le}\"}} {count}\n")
            };
            let head = "# TYPE forecourt_http_request_seconds histogram\n";
            format!("{head}{}{}{}", bucket("2.048", fast), bucket("8.192", all), bucket("+Inf", all))
        };
        let told = run((0..15).map(of));
        assert!(told[12][0].starts_with("ForecourtSlow: One in twenty requests to d over a2a"), "{told:?}");
    }

    #[test]
    fn what_begins_and_ends_is_told_once_and_counted_by_rule() {
        let (evaluator, rules) = (AlertEvaluator::default(), check_all(&[], &[]).unwrap());
        let text =
            "# TYPE forecourt_budget_used_ratio gauge\nforecourt_budget_used_ratio{agent=\"<b>\",budget=\"b\"} 1\n";
        let turn = |text: &str, minute| evaluator.evaluate(&rules, &read(text), "n1", at(minute));
        let first = turn(text, 0);
        assert_eq!((first.begun.len(), first.firing.len(), first.ended.len()), (1, 1, 0));
        assert_eq!(evaluator.firing_by_rule()["ForecourtBudgetNearlySpent"], 1);
        let second = turn(text, 1);
        assert_eq!((second.begun.len(), second.firing[0].since), (0, at(0)));
        for minute in [2, 3] {
            let still = turn("", minute);
            assert_eq!((still.begun.len(), still.firing.len(), still.ended.len()), (0, 1, 0));
        }
        let last = turn("", 4);
        assert_eq!(
            (last.firing.len(), last.ended.len(), evaluator.firing_by_rule()["ForecourtBudgetNearlySpent"]),
            (0, 1, 0)
        );
        turn(text, 5);
        let without = evaluator.evaluate(&[], &read(text), "n1", at(6));
        assert_eq!((without.firing.len(), without.ended.len()), (0, 1), "no rule, no alert");
    }

    #[test]
    fn one_rule_takes_no_place_of_another_and_none_ends_for_a_new_one() {
        let (evaluator, rules) = (AlertEvaluator::default(), check_all(&[], &[]).unwrap());
        let turn = |agents: std::ops::Range<usize>, minute| {
            let line = |n| format!("forecourt_budget_used_ratio{{agent=\"a{n:03}\",budget=\"b\"}} 1\n");
            let spent: String = agents.map(line).collect();
            let text = format!(
                "# TYPE forecourt_budget_used_ratio gauge\n{spent}# TYPE forecourt_clock_skew_seconds gauge\n\
                 forecourt_clock_skew_seconds 99\n"
            );
            let change = evaluator.evaluate(&rules, &read(&text), "n1", at(minute));
            let of = |rule: &str| change.firing.iter().filter(|alert| alert.rule == rule).count();
            (of("ForecourtBudgetNearlySpent"), of("ForecourtClockWrong"), change.ended.len())
        };
        assert_eq!(turn(100..100 + FIRING_PER_RULE_MAX, 0), (FIRING_PER_RULE_MAX, 0, 0));
        // What comes now comes first in every order, and there is no room for it.
        for minute in 1..6 {
            assert_eq!(turn(0..100 + FIRING_PER_RULE_MAX, minute), (FIRING_PER_RULE_MAX, 1, 0));
        }
    }
}
