//! Snapshots of candidates that are kept for a moment: one question asks for them several times.

use std::collections::VecDeque;
use std::sync::Arc;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::index::Snapshot;
use crate::limits::{VIEW_SECONDS, VIEWS_KEPT};
use crate::search::Query;

/// A snapshot of candidates, and for what and when it was taken.
struct View {
    query: Query,
    taken: Timestamp,
    snapshot: Arc<Snapshot>,
}

/// The snapshots of the last questions.
#[derive(Default)]
pub(super) struct Views(Mutex<VecDeque<View>>);

impl Views {
    /// The one that was taken for a query less than [`VIEW_SECONDS`] ago.
    pub(super) fn get(&self, query: &Query, now: Timestamp) -> Option<Arc<Snapshot>> {
        let kept = self.0.lock();
        let is_it = |view: &&View| view.query == *query && is_fresh(view.taken, now, VIEW_SECONDS);
        kept.iter().find(is_it).map(|view| view.snapshot.clone())
    }

    /// Keeps one, in the place of the oldest where there are [`VIEWS_KEPT`].
    pub(super) fn put(&self, query: Query, taken: Timestamp, snapshot: Arc<Snapshot>) {
        let mut kept = self.0.lock();
        kept.retain(|view| view.query != query && is_fresh(view.taken, taken, VIEW_SECONDS));
        if kept.len() >= VIEWS_KEPT {
            kept.pop_front();
        }
        kept.push_back(View { query, taken, snapshot });
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// Whether something was taken less than so many seconds ago. A clock that was set back makes it old as well.
pub(super) fn is_fresh(taken: Timestamp, now: Timestamp, seconds: i64) -> bool {
    let age = now.duration_since(taken);
    !age.is_negative() && age.as_secs() < seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Overview, Statistics, Summary};

    fn snapshot() -> Arc<Snapshot> {
        let reading = crate::index::Reading {
            vocabulary: &forecourt_vocabulary::Vocabulary::shipped(),
            tongue: crate::analysis::LanguageAnalyzer::ENGLISH,
        };
        let (summary, statistics) = (Summary::default(), Statistics::default());
        Snapshot::of_candidates(&[], reading, summary, statistics, Overview::default()).unwrap().into()
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    #[test]
    fn views_are_kept_for_a_moment_and_so_many_of_them() {
        let (views, snapshot) = (Views::default(), snapshot());
        let query = |number: usize| Query::new(number.to_string());
        (0..VIEWS_KEPT).for_each(|number| views.put(query(number), at(0), snapshot.clone()));
        assert!(views.get(&query(0), at(0)).is_some());
        views.put(query(VIEWS_KEPT), at(0), snapshot.clone());
        assert!(views.get(&query(0), at(0)).is_none() && views.get(&query(1), at(0)).is_some());
        let last = VIEW_SECONDS * 1_000 - 1;
        assert!(views.get(&query(1), at(last)).is_some() && views.get(&query(1), at(last + 1)).is_none());
        assert!(views.get(&query(1), at(-1)).is_none(), "the clock was set back");
        views.clear();
        assert!(views.get(&query(1), at(0)).is_none());
    }
}
