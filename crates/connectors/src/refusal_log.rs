//! Refused events in the log: anybody can send what is forged, and must not fill a disk with it.

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::limits::REFUSAL_LOG_EVERY;

/// The lines of one connector: one within [`REFUSAL_LOG_EVERY`], which says how many events it stands for.
#[derive(Default)]
pub(crate) struct RefusalLog(Mutex<LogWindow>);

#[derive(Default)]
struct LogWindow {
    begins_at: Option<Timestamp>,
    /// Events since the last line.
    events: u64,
}

impl RefusalLog {
    /// One more event was refused. How many there were since the last line, if it is time for one.
    pub(crate) fn note(&self, now: Timestamp) -> Option<u64> {
        let mut window = self.0.lock();
        window.events = window.events.saturating_add(1);
        // A clock that was set back begins anew.
        let is_quiet = window.begins_at.is_some_and(|begins_at| {
            begins_at.checked_add(REFUSAL_LOG_EVERY).is_ok_and(|end| (begins_at..end).contains(&now))
        });
        if is_quiet {
            return None;
        }
        window.begins_at = Some(now);
        Some(std::mem::take(&mut window.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_line_a_minute_which_says_how_much_it_was() {
        let (log, every) = (RefusalLog::default(), i64::try_from(REFUSAL_LOG_EVERY.as_secs()).unwrap());
        let note = |second| log.note(Timestamp::from_second(1_000_000 + second).unwrap());
        assert_eq!(note(0), Some(1));
        assert!((0..1_000).all(|_| note(every - 1).is_none()));
        assert_eq!((note(every), note(every)), (Some(1_001), None));
        assert_eq!(note(-1), Some(2));
    }
}
