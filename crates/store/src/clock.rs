//! This module has the clock of a store of one machine: how far the machine's wall clock was set since it was read
//! last, and by how much what is kept is moved for it.

use std::time::Duration;

use forecourt_core::clock::CLOCK_SKEW_MAX;
use forecourt_core::{MachineTime, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::time::{moment, nanos};

/// How much of the time for which a machine was off counts, as far as its wall clock says that it passed: as long as a
/// restart or an update takes. Of more than that nobody can say whether it passed, or whether the clock was set.
pub const DOWNTIME_COUNTED_MAX: Duration = Duration::from_secs(60 * 60);

/// How late a caller's clock may have been read before what it asked for is done.
const LATE_MAX: Duration = Duration::from_secs(5);

/// The last reading of a machine's clocks. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClockMark {
    wall: i64,
    uptime: i64,
    boot: Option<String>,
    /// How far claims were left behind, in all, when the clock was set back.
    behind: i64,
}

/// What a reading of the clocks says, compared to the last one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClockStep {
    /// The reading, to be compared with the next one.
    pub(crate) mark: ClockMark,
    /// By how many nanoseconds everything is moved that is kept until a moment; 0 while the clock just went on.
    pub(crate) shift: i64,
    /// The same for claims: the proofs that they are of are judged by the wall clock. So a claim never ends at an
    /// earlier moment than it was made for, and moves forward only as far as the clock was not set back before.
    pub(crate) claims_shift: i64,
}

impl ClockMark {
    /// The first reading of a store.
    fn first(now: &MachineTime) -> Self {
        Self { wall: nanos(now.wall), uptime: length(now.uptime), boot: now.boot.clone(), behind: 0 }
    }

    /// What `now` says after the last reading, if there was one.
    pub(crate) fn step(last: Option<&Self>, now: &MachineTime) -> ClockStep {
        let mark = Self::first(now);
        let Some(last) = last else { return ClockStep { mark, shift: 0, claims_shift: 0 } };
        let jump = mark.wall.saturating_sub(last.wall.saturating_add(last.passed_until(&mark)));
        let shift = if jump.unsigned_abs() > CLOCK_SKEW_MAX.as_nanos() as u64 { jump } else { 0 };
        let made_up_for = shift.clamp(0, last.behind);
        let behind = last.behind.saturating_sub(if shift < 0 { shift } else { made_up_for });
        ClockStep { mark: Self { behind, ..mark }, shift, claims_shift: shift.max(0) - made_up_for }
    }

    /// How long it is from here to `now`, as far as anybody can tell.
    fn passed_until(&self, now: &Self) -> i64 {
        let is_same_boot = self.boot.is_some() && self.boot == now.boot && self.uptime <= now.uptime;
        match is_same_boot {
            true => now.uptime - self.uptime,
            false => now.wall.saturating_sub(self.wall).clamp(0, length(DOWNTIME_COUNTED_MAX)),
        }
    }
}

/// The last time that what is kept was moved, for as long as somebody may still go by the clock of before: between
/// the moment at which a caller looked at its clock and the one at which the store does what it asked for, the clock may
/// have been set, and what it writes then would be kept for too short or too long. Conversations and their routes do not say when they
/// were written, and are kept for longer with the next turn.
#[derive(Debug, Default)]
pub(crate) struct LastMove(Mutex<Option<ClockMove>>);

/// A move, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct ClockMove {
    shift: i64,
    claims_shift: i64,
    /// The clocks when it was made.
    wall: i64,
    uptime: i64,
}

impl LastMove {
    /// Takes note of a step, before anything else is written.
    pub(crate) fn note(&self, step: &ClockStep) {
        let ClockMark { wall, uptime, .. } = step.mark;
        let mut last = self.0.lock();
        if step.shift != 0 {
            *last = Some(ClockMove { shift: step.shift, claims_shift: step.claims_shift, wall, uptime });
        } else if last.is_some_and(|last| uptime.saturating_sub(last.uptime) > length(LATE_MAX)) {
            *last = None;
        }
    }

    /// What is kept until `end` by a caller whose clock said `now`: moved like everything else, where that was the clock
    /// of before.
    pub(crate) fn end(&self, now: Timestamp, end: Timestamp) -> Timestamp {
        self.moved(now, end, |last| last.shift)
    }

    /// The same of a claim.
    pub(crate) fn claim_end(&self, now: Timestamp, end: Timestamp) -> Timestamp {
        self.moved(now, end, |last| last.claims_shift)
    }

    /// The time by which a caller reads whose clock said `now`: the earlier of the clocks of before and after a move, so
    /// that nothing is taken for expired whether it was moved yet or not.
    pub(crate) fn reading(&self, now: Timestamp) -> Timestamp {
        let Some(last) = *self.0.lock() else { return now };
        let before = if last.is_of_before(now) { nanos(now) } else { nanos(now).saturating_sub(last.shift) };
        moment(before.min(before.saturating_add(last.shift)))
    }

    fn moved(&self, now: Timestamp, end: Timestamp, by: impl Fn(ClockMove) -> i64) -> Timestamp {
        match *self.0.lock() {
            Some(last) if last.is_of_before(now) => moment(nanos(end).saturating_add(by(last))),
            _ => end,
        }
    }
}

impl ClockMove {
    /// Whether `now` is nearer to what the clock of before would have said.
    fn is_of_before(self, now: Timestamp) -> bool {
        let (now, before) = (nanos(now), self.wall.saturating_sub(self.shift));
        now.abs_diff(before) < now.abs_diff(self.wall)
    }
}

fn length(of: Duration) -> i64 {
    i64::try_from(of.as_nanos()).unwrap_or(i64::MAX)
}

/// Says that the clock was set, and what came of it.
pub(crate) fn tell_of(shift: i64) {
    let seconds = shift / 1_000_000_000;
    match seconds {
        0 => {}
        _ => tracing::warn!(
            seconds,
            "the clock of this machine was set, or it was off: what is kept was moved as far, and stays for as long as was said"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const HOUR: i64 = 3_600 * SECOND;

    /// A reading so many seconds after some start: the wall clock, and the uptime within a boot.
    fn at(wall: i64, uptime: u64, boot: Option<&str>) -> MachineTime {
        let wall = Timestamp::from_second(1_800_000_000 + wall).unwrap();
        MachineTime { wall, uptime: Duration::from_secs(uptime), boot: boot.map(str::to_owned) }
    }

    /// The moves of everything and of claims in seconds, by one reading after another.
    fn moves(readings: &[MachineTime]) -> Vec<(i64, i64)> {
        let mut last = None;
        let all = readings.iter().map(|reading| {
            let step = ClockMark::step(last.as_ref(), reading);
            last = Some(step.mark);
            (step.shift / SECOND, step.claims_shift / SECOND)
        });
        all.collect()
    }

    #[test]
    fn a_clock_that_just_goes_on_moves_nothing() {
        let (a, week) = (Some("a"), 7 * 24 * 3_600);
        let readings = [at(0, 5, a), at(3, 8, a), at(13, 8, a), at(3, 8, a), at(week, 5 + week.unsigned_abs(), a)];
        assert_eq!(moves(&readings), [(0, 0); 5], "ten seconds are what a clock may be corrected by");
    }

    #[test]
    fn a_clock_that_was_set_moves_everything_as_far() {
        let a = Some("a");
        let readings = [at(0, 5, a), at(14, 8, a), at(86_417, 11, a), at(17 + 3, 14, a), at(-3_577, 17, a)];
        let moved = moves(&readings);
        assert_eq!(moved.iter().map(|(all, _)| *all).collect::<Vec<_>>(), [0, 11, 86_400, -86_400, -3_600]);
    }

    #[test]
    fn claims_end_no_earlier_than_their_proofs_whichever_way_the_clock_was_set() {
        let (a, day) = (Some("a"), 86_400);
        let forward_and_back = [at(0, 0, a), at(day, 0, a), at(0, 0, a), at(day, 0, a)];
        assert_eq!(moves(&forward_and_back), [(0, 0), (day, day), (-day, 0), (day, 0)]);
        // A machine without a battery begins in 1970 each time, until the network says what time it is.
        let years = 50 * 365 * day;
        let no_battery = [at(0, 9, a), at(-years, 1, Some("b")), at(0, 1, Some("b")), at(100, 1, Some("b"))];
        assert_eq!(moves(&no_battery), [(0, 0), (-years, 0), (years, 0), (100, 100)]);
    }

    #[test]
    fn of_the_time_that_a_machine_was_off_an_hour_counts() {
        let hour = HOUR / SECOND;
        let off = |wall: i64, boot: Option<&str>| moves(&[at(0, 900, Some("a")), at(wall, 2, boot)])[1].0;
        for boot in [Some("b"), None, Some("a")] {
            assert_eq!((off(hour, boot), off(hour + 10, boot)), (0, 0), "{boot:?}");
            assert_eq!((off(hour + 11, boot), off(25 * hour, boot)), (11, 24 * hour), "{boot:?}");
            assert_eq!(off(-hour, boot), -hour, "{boot:?}");
        }
    }

    /// A moment so many seconds after the start of [`at`].
    fn when(wall: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + wall).unwrap()
    }

    #[test]
    fn what_was_asked_for_by_the_clock_of_before_is_kept_for_as_long_as_was_said() {
        let (day, minute) = (86_400, 60);
        for by in [day, -day, 3_600, 30, -30] {
            let last = LastMove::default();
            assert_eq!(last.end(when(0), when(minute)), when(minute));
            let mark = ClockMark::first(&at(0, 5, Some("a")));
            let step = ClockMark::step(Some(&mark), &at(by + 3, 8, Some("a")));
            last.note(&step);
            for late in [0, 2, 4] {
                assert_eq!(last.end(when(late), when(late + minute)), when(by + late + minute), "{by}");
                assert_eq!(last.end(when(by + 3 + late), when(by + minute)), when(by + minute), "{by}: by the new one");
                let earlier = if by > 0 { 0 } else { by };
                assert_eq!(last.reading(when(late)), when(late + earlier), "{by}");
                assert_eq!(last.reading(when(by + 3 + late)), when(3 + late + earlier), "{by}: by the new one");
            }
            assert_eq!(last.claim_end(when(0), when(minute)), when(by.max(0) + minute), "{by}: no claim ends early");
            // Later nobody goes by the clock of before, and an hour after it was set back it says the same again.
            let later = ClockMark::step(Some(&step.mark), &at(by + 9, 14, Some("a")));
            last.note(&later);
            assert_eq!(last.end(when(0), when(minute)), when(minute), "{by}");
            assert_eq!(last.reading(when(0)), when(0), "{by}");
        }
    }

    #[test]
    fn the_ends_of_time_are_no_trouble() {
        let (a, no_time) = (Some("a".to_owned()), Duration::ZERO);
        let read = |wall| MachineTime { wall, uptime: no_time, boot: a.clone() };
        moves(&[read(Timestamp::MIN), read(Timestamp::MAX), read(Timestamp::MIN), read(Timestamp::MAX)]);
        let endless = MachineTime { wall: Timestamp::MAX, uptime: Duration::MAX, boot: a.clone() };
        moves(&[endless.clone(), read(Timestamp::MIN), endless]);
    }
}
