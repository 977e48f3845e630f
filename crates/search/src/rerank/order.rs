//! The order of items that are judged window by window: what is surely good goes out as soon as its window
//! is judged, and the rest when all are.

use std::cmp::Reverse;
use std::ops::Range;

/// The score from which an item goes out before other windows are judged.
pub(super) const SURE: u8 = 70;
/// Where items stand that nobody judged: behind good ones, before bad ones.
const UNJUDGED: u8 = 50;
/// Where items stand that were left out when those beside them were judged.
const PASSED_OVER: u8 = 25;

/// Candidates by their places in the search, and what is known of them.
#[derive(Debug)]
pub(super) struct RankOrder {
    scores: Vec<Option<u8>>,
    passed_over: Vec<bool>,
    given: Vec<bool>,
}

impl RankOrder {
    /// `count` candidates, best first as the search has it.
    pub(super) fn new(count: usize) -> Self {
        Self { scores: vec![None; count], passed_over: vec![false; count], given: vec![false; count] }
    }

    /// Someone judged the candidate at this place.
    pub(super) fn judge(&mut self, at: usize, score: u8) {
        if let Some(slot) = self.scores.get_mut(at) {
            *slot = Some(score);
        }
    }

    /// The candidates at these places were before somebody who judged: those without a score were left out.
    pub(super) fn pass_over(&mut self, places: Range<usize>) {
        for at in places {
            if let Some(slot) = self.passed_over.get_mut(at) {
                *slot = self.scores[at].is_none();
            }
        }
    }

    /// The score of a candidate.
    pub(super) fn score(&self, at: usize) -> Option<u8> {
        self.scores.get(at).copied().flatten()
    }

    /// Those that surely are good and were not given before, best first.
    pub(super) fn sure(&mut self) -> Vec<usize> {
        self.give(|score| score.is_some_and(|score| score >= SURE))
    }

    /// All others, best first.
    pub(super) fn rest(&mut self) -> Vec<usize> {
        self.give(|_| true)
    }

    /// What decides its place.
    fn worth(&self, at: usize) -> u8 {
        let unscored = if self.passed_over[at] { PASSED_OVER } else { UNJUDGED };
        self.scores[at].unwrap_or(unscored)
    }

    fn give(&mut self, is_wanted: impl Fn(Option<u8>) -> bool) -> Vec<usize> {
        let left = (0..self.scores.len()).filter(|at| !self.given[*at] && is_wanted(self.scores[*at]));
        let mut given: Vec<usize> = left.collect();
        // Stable: equal scores stay as the search has them.
        given.sort_by_key(|at| Reverse(self.worth(*at)));
        given.iter().for_each(|at| self.given[*at] = true);
        given
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sure_ones_go_first_and_unjudged_ones_stay_in_the_middle() {
        let mut order = RankOrder::new(6);
        order.judge(0, 10);
        order.judge(1, SURE);
        order.judge(2, SURE - 1);
        assert_eq!(order.sure(), [1]);
        order.judge(3, 100);
        order.judge(9, 100);
        assert_eq!(order.sure(), [3]);
        assert_eq!(order.rest(), [2, 4, 5, 0]);
        assert_eq!(order.rest(), [] as [usize; 0]);
    }

    #[test]
    fn what_was_left_out_stands_behind() {
        let mut order = RankOrder::new(4);
        order.judge(1, 30);
        order.judge(2, 20);
        order.pass_over(0..3);
        order.pass_over(9..12);
        assert_eq!(order.rest(), [3, 1, 0, 2]);
    }

    #[test]
    fn without_any_judgement_the_search_decides() {
        assert_eq!(RankOrder::new(4).rest(), [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn every_candidate_is_given_once(scores in proptest::collection::vec(proptest::option::of(0u8..=100), 0..40), halfway in 0usize..40) {
            let mut order = RankOrder::new(scores.len());
            let mut given = Vec::new();
            for (at, score) in scores.iter().enumerate() {
                if let Some(score) = score { order.judge(at, *score) }
                if at == halfway { given.extend(order.sure()) }
            }
            given.extend(order.sure());
            given.extend(order.rest());
            given.sort_unstable();
            prop_assert_eq!(given, (0..scores.len()).collect::<Vec<_>>());
        }
    }
}
