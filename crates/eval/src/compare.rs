//! Two rankings of the same questions, compared.

use crate::limits::DRAWS;

/// Differences smaller than this are none.
const TIE: f64 = 1e-9;

/// What a second ranking does better or worse than a first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Comparison {
    /// Questions.
    pub questions: usize,
    /// Of these, where the second is better.
    pub wins: usize,
    /// Where it is worse.
    pub losses: usize,
    /// The mean of the differences, the second less the first.
    pub difference: f64,
    /// How often chance alone makes a mean difference this large or larger, from 0 to 1: a paired randomization
    /// test (Smucker, Allan, Carterette 2007), two-sided. Below 0.05 it is hard to call it chance.
    pub p_value: f64,
}

impl Comparison {
    /// Of the scores of each question by both rankings. The draws are the same in every run with a `seed`.
    pub fn of(pairs: &[(f64, f64)], seed: u64) -> Self {
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
        let count = differences.len().max(1) as f64;
        let sum: f64 = differences.iter().sum();
        Self {
            questions: differences.len(),
            wins: differences.iter().filter(|difference| **difference > TIE).count(),
            losses: differences.iter().filter(|difference| **difference < -TIE).count(),
            difference: sum / count,
            p_value: p_value(&differences, sum.abs(), seed),
        }
    }
}

/// How often the sum is as large when every question's two scores may as well have been swapped.
fn p_value(differences: &[f64], sum: f64, seed: u64) -> f64 {
    // Equal scores change no sum, whichever way they are swapped.
    let differences: Vec<f64> = differences.iter().copied().filter(|difference| difference.abs() > TIE).collect();
    if differences.is_empty() {
        return 1.0;
    }
    let mut bits = Bits { state: seed, left: 0, word: 0 };
    let as_large = (0..DRAWS).filter(|_| {
        let drawn: f64 = differences.iter().map(|difference| if bits.next() { *difference } else { -difference }).sum();
        drawn.abs() >= sum - TIE
    });
    // The observed order is one of the draws: otherwise a p-value could be 0, which no sample proves.
    (as_large.count() + 1) as f64 / (DRAWS + 1) as f64
}

/// Coins that fall the same in every run with a seed (SplitMix64, Steele et al. 2014).
struct Bits {
    state: u64,
    word: u64,
    left: u32,
}

impl Bits {
    fn next(&mut self) -> bool {
        if self.left == 0 {
            self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (self.word, self.left) = (mixed ^ (mixed >> 31), u64::BITS);
        }
        let bit = self.word & 1 == 1;
        self.word >>= 1;
        self.left -= 1;
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_better_nearly_everywhere_is_no_chance() {
        let pairs: Vec<(f64, f64)> = (0..30).map(|n| (0.5, if n == 0 { 0.4 } else { 0.6 })).collect();
        let compared = Comparison::of(&pairs, 1);
        assert_eq!((compared.questions, compared.wins, compared.losses), (30, 29, 1));
        assert!(compared.difference > 0.09 && compared.p_value < 0.001, "{compared:?}");
    }

    #[test]
    fn what_is_better_half_of_the_time_is_chance() {
        let pairs: Vec<(f64, f64)> = (0..30).map(|n| (0.5, if n % 2 == 0 { 0.4 } else { 0.6 })).collect();
        assert!(Comparison::of(&pairs, 1).p_value > 0.9);
        assert_eq!(Comparison::of(&pairs, 1), Comparison::of(&pairs, 1));
    }

    #[test]
    fn equal_rankings_and_none_at_all_differ_in_nothing() {
        let same = Comparison::of(&[(0.3, 0.3), (1.0, 1.0)], 1);
        assert_eq!((same.wins, same.losses, same.difference, same.p_value), (0, 0, 0.0, 1.0));
        assert_eq!(Comparison::of(&[], 1), Comparison { p_value: 1.0, ..Comparison::default() });
    }

    #[test]
    fn three_questions_are_too_few_to_tell() {
        let compared = Comparison::of(&[(0.1, 0.9); 3], 7);
        // One of four ways that the signs may fall is as far from 0: 2 of 8.
        assert!((compared.p_value - 0.25).abs() < 0.02, "{compared:?}");
    }
}
