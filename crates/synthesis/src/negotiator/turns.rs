//! How many proposals of a session were refused. Section 10.3.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::contracts::{ContractHolder, ContractScope};
use crate::limits::{TURN_SESSIONS_MAX, TURNS_TTL};

/// An agent in a session of its, or on a connection.
pub(crate) type TurnKey = (ContractHolder, ContractScope);

/// Refused proposals by agent and session.
#[derive(Default)]
pub(crate) struct RefusedTurns(Mutex<HashMap<TurnKey, Turns>>);

struct Turns {
    count: u32,
    last_at: Timestamp,
}

impl Turns {
    fn is_over(&self, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(self.last_at)).is_ok_and(|age| age >= TURNS_TTL)
    }
}

impl RefusedTurns {
    /// How many were refused since the last one that was approved.
    pub(crate) fn count(&self, key: &TurnKey, now: Timestamp) -> u32 {
        self.0.lock().get(key).filter(|turns| !turns.is_over(now)).map_or(0, |turns| turns.count)
    }

    /// Counts one more.
    pub(crate) fn add(&self, key: TurnKey, now: Timestamp) {
        let mut all = self.0.lock();
        if all.len() >= TURN_SESSIONS_MAX && !all.contains_key(&key) {
            all.retain(|_, turns| !turns.is_over(now));
        }
        if all.len() >= TURN_SESSIONS_MAX && !all.contains_key(&key) {
            let oldest = all.iter().min_by_key(|(_, turns)| turns.last_at).map(|(key, _)| key.clone());
            oldest.map(|key| all.remove(&key));
        }
        let turns = all.entry(key).or_insert(Turns { count: 0, last_at: now });
        let before = if turns.is_over(now) { 0 } else { turns.count };
        *turns = Turns { count: before.saturating_add(1), last_at: now };
    }

    /// Begins anew, since one was approved or the agent turned to somebody.
    pub(crate) fn clear(&self, key: &TurnKey) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiator::memory::samples::second;

    fn key(n: usize) -> TurnKey {
        let holder = ContractHolder { agent_id: "a".into(), is_proven: true };
        (holder, ContractScope::Session(n.to_string().into()))
    }

    #[test]
    fn s10_3_turns_are_counted_by_session_for_an_hour() {
        let turns = RefusedTurns::default();
        for _ in 0..3 {
            turns.add(key(1), second(0));
        }
        assert_eq!((turns.count(&key(1), second(3_599)), turns.count(&key(2), second(0))), (3, 0));
        assert_eq!(turns.count(&key(1), second(3_600)), 0);
        turns.add(key(1), second(3_600));
        assert_eq!(turns.count(&key(1), second(3_600)), 1);
        turns.clear(&key(1));
        assert_eq!(turns.count(&key(1), second(3_600)), 0);
    }

    #[test]
    fn so_many_sessions_are_counted_at_once() {
        let turns = RefusedTurns::default();
        for n in 0..=TURN_SESSIONS_MAX {
            turns.add(key(n), second(i64::from(n > 0)));
        }
        assert_eq!(turns.0.lock().len(), TURN_SESSIONS_MAX);
        assert_eq!((turns.count(&key(0), second(1)), turns.count(&key(TURN_SESSIONS_MAX), second(1))), (0, 1));
    }
}
