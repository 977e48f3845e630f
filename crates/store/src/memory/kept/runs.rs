//! This module keeps the heartbeats of runs.

use std::collections::HashMap;

use forecourt_core::Timestamp;
use forecourt_core::store::RunBeat;

use crate::limits::ENDED_RUNS_KEPT;

/// The runs that beat, and those that were ended.
#[derive(Default)]
pub(in crate::memory) struct Runs {
    beats: HashMap<String, u64>,
    /// Since when they are known to have ended.
    ended: HashMap<String, Option<Timestamp>>,
}

impl Runs {
    pub(in crate::memory) fn beat(&mut self, run: String) -> bool {
        // A process that slept while its run was ended must not take up tasks that are another run's by now.
        if self.ended.contains_key(&run) {
            return false;
        }
        *self.beats.entry(run).or_default() += 1;
        true
    }

    pub(in crate::memory) fn living(&self) -> Vec<RunBeat> {
        self.beats.iter().map(|(run, beat)| RunBeat { run: run.clone(), beat: *beat }).collect()
    }

    pub(in crate::memory) fn end(&mut self, seen: &RunBeat) -> bool {
        if self.ended.contains_key(&seen.run) || self.beats.get(&seen.run).is_some_and(|beat| *beat != seen.beat) {
            return false;
        }
        self.beats.remove(&seen.run);
        self.ended.insert(seen.run.clone(), None).is_none()
    }

    /// Forgets at most `limit` runs that ended long ago; how many.
    pub(super) fn forget(&mut self, now: Timestamp, limit: usize) -> usize {
        let mut forgotten = 0;
        self.ended.retain(|_, since| {
            let is_old = *since.get_or_insert(now) + ENDED_RUNS_KEPT <= now && forgotten < limit;
            forgotten += usize::from(is_old);
            !is_old
        });
        forgotten
    }

    /// Moves since when they are known to have ended.
    pub(super) fn shift(&mut self, shift: impl Fn(&mut Timestamp)) {
        self.ended.values_mut().flatten().for_each(shift);
    }

    pub(super) fn is_living(&self, run: &str) -> bool {
        self.beats.contains_key(run)
    }
}
