//! How often an agent has a call looked at by the gate. Section 10.1.5.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::contracts::ContractHolder;
use crate::limits::{RATE_WINDOW, RATED_AGENTS_MAX};

/// Evaluations of each agent by the gate, counted in windows of a minute that begin with its first one. Calls that are
/// served under a contract do not count.
#[derive(Default)]
pub(crate) struct GateRates(Mutex<HashMap<ContractHolder, Window>>);

struct Window {
    begun_at: Timestamp,
    count: u32,
}

impl Window {
    /// How much of it is left. `None`: it is over, or the clock was set back before it.
    fn left(&self, now: Timestamp) -> Option<Duration> {
        let age = Duration::try_from(now.duration_since(self.begun_at)).ok()?;
        RATE_WINDOW.checked_sub(age).filter(|left| !left.is_zero())
    }
}

impl GateRates {
    /// Counts a look of an agent that may have `max` a minute.
    ///
    /// # Errors
    /// It has had as many: when there is room again.
    pub(crate) fn count(&self, holder: &ContractHolder, max: u32, now: Timestamp) -> Result<(), Duration> {
        let mut windows = self.0.lock();
        if windows.len() >= RATED_AGENTS_MAX && !windows.contains_key(holder) {
            make_room(&mut windows, now);
        }
        let window = windows.entry(holder.clone()).or_insert(Window { begun_at: now, count: 0 });
        match window.left(now) {
            None => *window = Window { begun_at: now, count: 1 },
            Some(left) if window.count >= max => return Err(left),
            Some(_) => window.count += 1,
        }
        Ok(())
    }
}

/// Forgets the agents whose minute is over; if none is, the one whose minute began first.
fn make_room(windows: &mut HashMap<ContractHolder, Window>, now: Timestamp) {
    windows.retain(|_, window| window.left(now).is_some());
    if windows.len() >= RATED_AGENTS_MAX {
        let oldest = windows.iter().min_by_key(|(_, window)| window.begun_at).map(|(holder, _)| holder.clone());
        oldest.map(|holder| windows.remove(&holder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiator::memory::samples::{agent, second};

    #[test]
    fn s10_1_5_each_agent_has_so_many_looks_a_minute() {
        let rates = GateRates::default();
        let taken = |n, at| (0..5).filter(|_| rates.count(&agent(n), 3, second(at)).is_ok()).count();
        assert_eq!((taken(1, 0), taken(2, 0)), (3, 3));
        assert_eq!(rates.count(&agent(1), 3, second(59)), Err(Duration::from_secs(1)));
        assert_eq!(taken(1, 60), 3);
        let claimed = ContractHolder { is_proven: false, ..agent(1) };
        assert_eq!(rates.count(&claimed, 3, second(60)), Ok(()), "who only claims the name takes nobody's room");
    }

    #[test]
    fn so_many_agents_are_counted_at_once() {
        let rates = GateRates::default();
        for n in 0..=RATED_AGENTS_MAX {
            let at = i64::try_from(n).unwrap() / 1_000;
            rates.count(&agent(n), 1, second(at)).unwrap();
        }
        assert_eq!(rates.0.lock().len(), RATED_AGENTS_MAX);
        assert!(rates.count(&agent(RATED_AGENTS_MAX), 1, second(10)).is_err(), "the newest is still counted");
        rates.count(&agent(7), 1, second(1_000)).unwrap();
        rates.count(&agent(RATED_AGENTS_MAX + 1), 1, second(1_000)).unwrap();
        assert!(rates.0.lock().len() <= RATED_AGENTS_MAX);
    }
}
