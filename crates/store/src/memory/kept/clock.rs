//! This module moves what is kept when the clock of the machine was set.

use std::time::Duration;

use forecourt_core::{MachineTime, Timestamp};

use super::KeptEntry;
use crate::clock::{ClockMark, ClockStep, tell_of};

impl KeptEntry {
    /// Compares the clocks of the machine with what they said last, and moves what is kept if they were set since.
    pub(in crate::memory) fn follow(&mut self, now: &MachineTime) {
        let ClockStep { mark, shift, claims_shift } = ClockMark::step(self.clock.as_ref(), now);
        self.clock = Some(mark);
        if shift != 0 {
            let ahead = move |at: &mut Timestamp| *at = moved(*at, shift);
            self.tasks.values_mut().for_each(|record| ahead(&mut record.task.expires_at));
            self.threads.values_mut().for_each(|thread| ahead(&mut thread.expires_at));
            self.routes.values_mut().for_each(|route| ahead(&mut route.expires_at));
            self.deliveries.values_mut().for_each(|waiting| waiting.shift(ahead));
            self.ledger.shift(ahead);
            self.runs.shift(ahead);
        }
        if claims_shift != 0 {
            self.claims.values_mut().for_each(|until| *until = moved(*until, claims_shift));
        }
        tell_of(shift);
    }
}

fn moved(at: Timestamp, by: i64) -> Timestamp {
    let length = Duration::from_nanos(by.unsigned_abs());
    match by < 0 {
        true => at.checked_sub(length).unwrap_or(Timestamp::MIN),
        false => at.checked_add(length).unwrap_or(Timestamp::MAX),
    }
}
