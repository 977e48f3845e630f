//! The endpoints ranked by a question, indexed once for as long as there are the same.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use forecourt_ranking::{Description, Ranking};
use parking_lot::Mutex;

use crate::limits::{METHODS_LISTED_MAX, METHODS_SCORE_MIN};

/// The index that was made last, with a hash of the endpoints that are in it.
#[derive(Default)]
pub(crate) struct EndpointRanking(Mutex<Option<(u64, Arc<Ranking>)>>);

impl EndpointRanking {
    /// The places of those of `all` that fit a question, the best first. Those that fit far worse than the best are
    /// left out.
    pub(crate) fn search<'a>(&self, all: impl Iterator<Item = Description<'a>> + Clone, question: &str) -> Vec<usize> {
        let found = self.index(all).search(question, METHODS_LISTED_MAX);
        let least = found.first().map_or(0.0, |best| best.score * METHODS_SCORE_MIN);
        found.into_iter().take_while(|found| found.score >= least).map(|found| found.at).collect()
    }

    fn index<'a>(&self, all: impl Iterator<Item = Description<'a>> + Clone) -> Arc<Ranking> {
        // Endpoints are fixed while the host runs, and contracts are made and end: their names and words say which.
        let mut hasher = DefaultHasher::new();
        all.clone().for_each(|one| (one.name, one.title, one.text).hash(&mut hasher));
        let hash = hasher.finish();
        if let Some((_, ranking)) = self.0.lock().as_ref().filter(|(known, _)| *known == hash) {
            return Arc::clone(ranking);
        }
        let made = Arc::new(Ranking::new(all));
        *self.0.lock() = Some((hash, Arc::clone(&made)));
        made
    }
}
