//! The order of items that are judged window by window: that of their scores over all windows. No item is placed
//! before everybody was judged, or the time was over.

use std::cmp::Reverse;
use std::ops::Range;

/// The score of items that no model judged: behind good ones, before bad ones.
const UNJUDGED: u8 = 50;
/// The score of items that a model left out while it judged others of the same window.
const PASSED_OVER: u8 = 25;

/// Candidates by their places in the search, and what is known of them.
#[derive(Debug)]
pub(super) struct RankOrder {
    scores: Vec<Option<u8>>,
    passed_over: Vec<bool>,
}

impl RankOrder {
    /// `count` candidates, best first as the search has it.
    pub(super) fn new(count: usize) -> Self {
        Self { scores: vec![None; count], passed_over: vec![false; count] }
    }

    /// Someone judged the candidate at this place.
    pub(super) fn judge(&mut self, at: usize, score: u8) {
        if let Some(slot) = self.scores.get_mut(at) {
            *slot = Some(score);
        }
    }

    /// Notes that the candidates at these places were shown to a model: those without a score were left out by it.
    pub(super) fn pass_over(&mut self, places: Range<usize>) {
        for at in places {
            if let Some(slot) = self.passed_over.get_mut(at) {
                // A model that scores only some of a window has preferred those.
                *slot = self.scores[at].is_none();
            }
        }
    }

    /// The score of a candidate.
    pub(super) fn score(&self, at: usize) -> Option<u8> {
        self.scores.get(at).copied().flatten()
    }

    /// Whether anybody was judged.
    pub(super) fn is_judged(&self) -> bool {
        self.scores.iter().any(Option::is_some)
    }

    /// All candidates, best first.
    pub(super) fn best_first(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.scores.len()).collect();
        // Stable: equal scores stay as the search has them.
        places.sort_by_key(|at| Reverse(self.worth(*at)));
        places
    }

    /// What decides its place.
    fn worth(&self, at: usize) -> u8 {
        let unscored = if self.passed_over[at] { PASSED_OVER } else { UNJUDGED };
        self.scores[at].unwrap_or(unscored)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scores_decide_over_all_windows_and_unjudged_ones_stay_in_the_middle() {
        let mut order = RankOrder::new(6);
        assert!(!order.is_judged());
        for (at, score) in [(0, 10), (1, 70), (2, 69), (3, 100), (9, 100)] {
            order.judge(at, score);
        }
        assert!(order.is_judged());
        assert_eq!(order.best_first(), [3, 1, 2, 4, 5, 0]);
    }

    #[test]
    fn what_was_left_out_stands_behind() {
        let mut order = RankOrder::new(4);
        order.judge(1, 30);
        order.judge(2, 20);
        order.pass_over(0..3);
        order.pass_over(9..12);
        assert_eq!(order.best_first(), [3, 1, 0, 2]);
    }

    #[test]
    fn without_any_judgement_the_search_decides() {
        assert_eq!(RankOrder::new(4).best_first(), [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn every_candidate_is_given_once(scores in proptest::collection::vec(proptest::option::of(0u8..=100), 0..40)) {
            let mut order = RankOrder::new(scores.len());
            for (at, score) in scores.iter().enumerate() {
                if let Some(score) = score { order.judge(at, *score) }
            }
            let mut given = order.best_first();
            given.sort_unstable();
            prop_assert_eq!(given, (0..scores.len()).collect::<Vec<_>>());
        }
    }
}
