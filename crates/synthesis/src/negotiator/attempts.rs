//! Looks at the gate that led to no contract, kept a while for whoever asks why. Section 10.1.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::Method;
use forecourt_contract::negotiation::NoContractReason;
use forecourt_core::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;

use crate::contracts::ContractHolder;
use crate::limits::{ATTEMPT_TTL, ATTEMPTS_MAX, ATTEMPTS_PER_AGENT_MAX};

/// A look at the gate that led to no contract.
#[derive(Clone, Debug)]
pub struct RcnsAttempt {
    /// Its name. Opaque.
    pub attempt_id: String,
    /// Who called.
    pub holder: ContractHolder,
    /// The method that was called.
    pub method: Method,
    /// Where, as it was sent.
    pub path: String,
    /// Why there is no contract.
    pub reason: NoContractReason,
    /// The same in a sentence.
    pub explanation: String,
    /// What helps to recover; null when there is nothing.
    pub details: Value,
    /// When.
    pub at: Timestamp,
}

/// The looks that are kept: some of each agent, the newest.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<KeptAttempts>);

#[derive(Default)]
struct KeptAttempts {
    by_id: HashMap<String, Arc<RcnsAttempt>>,
    /// The ids of each agent, the oldest first.
    own: HashMap<ContractHolder, VecDeque<String>>,
    /// All ids, the oldest first. Some may be gone already.
    order: VecDeque<String>,
}

impl Attempts {
    /// Keeps one.
    pub(crate) fn add(&self, attempt: RcnsAttempt) {
        let mut kept = self.0.lock();
        kept.make_room(attempt.at);
        let own = kept.own.entry(attempt.holder.clone()).or_default();
        own.push_back(attempt.attempt_id.clone());
        // Its oldest goes, so that an agent that is refused in a loop pushes out none of another's.
        let over = if own.len() > ATTEMPTS_PER_AGENT_MAX { own.pop_front() } else { None };
        over.map(|id| kept.by_id.remove(&id));
        kept.order.push_back(attempt.attempt_id.clone());
        kept.by_id.insert(attempt.attempt_id.clone(), Arc::new(attempt));
    }

    /// One by its name.
    pub(crate) fn get(&self, attempt_id: &str, now: Timestamp) -> Option<RcnsAttempt> {
        let kept = self.0.lock();
        kept.by_id.get(attempt_id).filter(|attempt| !attempt.is_over(now)).map(|attempt| RcnsAttempt::clone(attempt))
    }
}

impl RcnsAttempt {
    fn is_over(&self, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(self.at)).is_ok_and(|age| age >= ATTEMPT_TTL)
    }
}

impl KeptAttempts {
    /// Forgets those that are over, and the oldest one when there are as many as may be.
    fn make_room(&mut self, now: Timestamp) {
        while let Some(id) = self.order.front() {
            let is_over = self.by_id.get(id).is_none_or(|attempt| attempt.is_over(now));
            // The order is bounded by itself: it keeps ids that their own agent's bound has removed already.
            if !is_over && self.by_id.len() < ATTEMPTS_MAX && self.order.len() < 2 * ATTEMPTS_MAX {
                return;
            }
            let Some(id) = self.order.pop_front() else { return };
            let Some(attempt) = self.by_id.remove(&id) else { continue };
            if let Some(own) = self.own.get_mut(&attempt.holder) {
                own.retain(|known| *known != id);
                if own.is_empty() {
                    self.own.remove(&attempt.holder);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiator::memory::samples::second;

    fn attempt(agent: usize, id: &str, at: i64) -> RcnsAttempt {
        RcnsAttempt {
            attempt_id: id.to_owned(),
            holder: ContractHolder { agent_id: agent.to_string().into(), is_proven: true },
            method: Method::parse("QUERY").unwrap(),
            path: "/".to_owned(),
            reason: NoContractReason::CompositionImpossible,
            explanation: String::new(),
            details: Value::Null,
            at: second(at),
        }
    }

    #[test]
    fn the_newest_of_an_agent_are_kept_and_take_nobodys_room() {
        let attempts = Attempts::default();
        attempts.add(attempt(2, "other", 0));
        for n in 0..=ATTEMPTS_PER_AGENT_MAX {
            attempts.add(attempt(1, &n.to_string(), 0));
        }
        assert!(attempts.get("0", second(0)).is_none());
        assert!(attempts.get("1", second(0)).is_some() && attempts.get("other", second(0)).is_some());
        assert!(attempts.get("1", second(3_600)).is_none(), "nobody asks that late");
    }

    #[test]
    fn so_many_are_kept_and_nothing_of_those_that_are_over() {
        let attempts = Attempts::default();
        for n in 0..=ATTEMPTS_MAX {
            attempts.add(attempt(n / ATTEMPTS_PER_AGENT_MAX, &n.to_string(), 0));
        }
        assert_eq!(attempts.0.lock().by_id.len(), ATTEMPTS_MAX);
        assert!(attempts.get("0", second(0)).is_none() && attempts.get("1", second(0)).is_some());
        attempts.add(attempt(1, "late", 3_600));
        let kept = attempts.0.lock();
        assert_eq!((kept.by_id.len(), kept.own.len(), kept.order.len()), (1, 1, 1));
    }

    #[test]
    fn an_agent_that_never_stops_takes_bounded_room() {
        let attempts = Attempts::default();
        for n in 0..3 * ATTEMPTS_MAX {
            attempts.add(attempt(1, &n.to_string(), 0));
        }
        assert!(attempts.0.lock().order.len() <= 2 * ATTEMPTS_MAX);
    }
}
