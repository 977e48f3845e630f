//! What agents did since this process began, for the operator: how their answers ended, and why the last ones failed.

use std::collections::{BTreeMap, HashMap, VecDeque};

use forecourt_core::{Ending, Handle, Timestamp, Transport};
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;

/// Failures of one agent that are remembered, the last ones.
pub const FAILURES_KEPT: usize = 20;
/// Characters of a reason that are kept.
const REASON_CHARS_MAX: usize = 300;

/// The endings of an agent's answers since the process began, with its last failures.
#[derive(Debug, Clone, Default)]
pub struct AgentActivity {
    /// Answers by how they ended: `complete`, `question`, `failed`, `canceled`, or the kind of a refusal.
    pub endings: BTreeMap<String, u64>,
    /// Failures, the last one first; at most [`FAILURES_KEPT`].
    pub failures: VecDeque<AgentFailure>,
}

/// An answer that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// When the answer ended.
    pub at: Timestamp,
    /// The protocol it was asked over.
    pub via: Transport,
    /// What its caller was told.
    pub reason: String,
}

/// What all agents did. They are those of the deployment, so this is bounded by how many there are.
#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<HashMap<Handle, AgentRecord>>);

/// What one agent did, and where its answers are counted for the metrics.
#[derive(Debug, Default)]
struct AgentRecord {
    activity: AgentActivity,
    /// By protocol and ending, which are words of closed sets: few, so that looking through them is quick.
    counters: Vec<(Transport, &'static str, Counter)>,
}

impl Activity {
    /// An answer ended like this; `ending` is a word of a closed set. `counter` is what counts its kind in the metrics,
    /// and is asked for once for each.
    pub(crate) fn ended(
        &self,
        agent: &Handle,
        via: Transport,
        ending: &'static str,
        counter: impl FnOnce() -> Counter,
    ) {
        let mut all = self.0.lock();
        let record = match all.get_mut(agent) {
            Some(record) => record,
            None => all.entry(agent.clone()).or_default(),
        };
        match record.activity.endings.get_mut(ending) {
            Some(count) => *count += 1,
            None => drop(record.activity.endings.insert(ending.to_owned(), 1)),
        }
        match record.counters.iter().find(|(of, kind, _)| (*of, *kind) == (via, ending)) {
            Some((_, _, counter)) => drop(counter.inc()),
            None => {
                let counter = counter();
                counter.inc();
                record.counters.push((via, ending, counter));
            }
        }
    }

    /// Remembers why an answer failed, if it did.
    pub(crate) fn failed(&self, agent: &Handle, via: Transport, ending: &Ending, at: Timestamp) {
        let Ending::Failed { reason, .. } = ending else { return };
        let reason = reason.chars().take(REASON_CHARS_MAX).collect();
        let mut all = self.0.lock();
        let failures = &mut all.entry(agent.clone()).or_default().activity.failures;
        failures.truncate(FAILURES_KEPT - 1);
        failures.push_front(AgentFailure { at, via, reason });
    }

    /// What an agent did.
    pub(crate) fn of(&self, agent: &Handle) -> AgentActivity {
        self.0.lock().get(agent).map(|record| record.activity.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_failures_stay_with_reasons_of_bounded_length() {
        let (activity, chef) = (Activity::default(), Handle::parse("chef").unwrap());
        for n in 0..=FAILURES_KEPT {
            activity.ended(&chef, "rest", "failed", Counter::default);
            let ending = Ending::failed(format!("{n}{}", "x".repeat(REASON_CHARS_MAX)));
            activity.failed(&chef, "rest", &ending, Timestamp::UNIX_EPOCH);
        }
        activity.failed(&chef, "rest", &Ending::Complete, Timestamp::UNIX_EPOCH);
        let seen = activity.of(&chef);
        assert_eq!((seen.endings["failed"], seen.failures.len()), (FAILURES_KEPT as u64 + 1, FAILURES_KEPT));
        assert!(seen.failures[0].reason.starts_with("20x") && seen.failures[19].reason.starts_with("1x"));
        assert_eq!(seen.failures[0].reason.len(), REASON_CHARS_MAX);
    }
}
