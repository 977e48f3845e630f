//! How far events are durable: a session that goes on is told again of all behind that.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::session::ResumePoint;

/// The events of a session on one connection.
pub(super) struct Progress(Mutex<Events>);

#[derive(Default)]
struct Events {
    /// The number of the last one that was heard.
    seen: Option<u64>,
    /// Those that are in the works; as many as there are places for them.
    pending: BTreeSet<u64>,
    point: Option<ResumePoint>,
}

impl Progress {
    /// Of a session that goes on from a point, or begins.
    pub(super) fn new(point: Option<ResumePoint>) -> Self {
        let seen = point.as_ref().map(|point| point.number);
        Self(Mutex::new(Events { seen, pending: BTreeSet::new(), point }))
    }

    /// The number of the last event that was heard.
    pub(super) fn seen(&self) -> Option<u64> {
        self.0.lock().seen
    }

    /// An event was heard.
    pub(super) fn begin(&self, number: u64) {
        let events = &mut *self.0.lock();
        events.seen = events.seen.max(Some(number));
        events.pending.insert(number);
    }

    /// An event is durable. Where the session goes on after it.
    pub(super) fn done(&self, number: u64) -> Option<ResumePoint> {
        let events = &mut *self.0.lock();
        events.pending.remove(&number);
        events.point()
    }

    /// The session is known: where it goes on by now.
    pub(super) fn go_on_from(&self, point: ResumePoint) -> ResumePoint {
        let events = &mut *self.0.lock();
        events.point = Some(point.clone());
        events.point().unwrap_or(point)
    }
}

impl Events {
    fn point(&self) -> Option<ResumePoint> {
        let durable = match self.pending.first() {
            Some(first) => first.saturating_sub(1),
            None => self.seen?,
        };
        Some(ResumePoint { number: durable, ..self.point.clone()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(number: u64) -> ResumePoint {
        ResumePoint { session: "s".to_owned(), url: "u".to_owned(), us: "1".to_owned(), number }
    }

    #[test]
    fn a_session_goes_on_behind_the_first_event_that_is_not_durable() {
        let progress = Progress::new(Some(point(7)));
        assert_eq!(progress.seen(), Some(7));
        [8, 9, 10].into_iter().for_each(|number| progress.begin(number));
        assert_eq!((progress.seen(), progress.done(9)), (Some(10), Some(point(7))));
        assert_eq!(progress.done(8), Some(point(9)));
        assert_eq!(progress.done(10), Some(point(10)));
        // Told again after the session went on.
        progress.begin(9);
        assert_eq!((progress.seen(), progress.done(9)), (Some(10), Some(point(10))));
    }

    #[test]
    fn nothing_goes_on_before_the_session_is_known() {
        let progress = Progress::new(None);
        progress.begin(1);
        assert_eq!((progress.seen(), progress.done(1)), (Some(1), None));
        progress.begin(2);
        assert_eq!(progress.go_on_from(point(0)), point(1));
    }
}
