//! How much of a graph has to be looked at, measured with questions.

use super::Walk;
use crate::dense::file::Rows;
use crate::dense::links::Links;
use crate::dense::quantized::QuantizedVector;

/// Short texts whose neighbours are looked up to find out how much has to be looked at.
pub(in crate::dense) const TRIALS: usize = 64;
/// Neighbours of each of them.
const NEIGHBOURS: usize = 100;
/// How many of those have to be found: a little more than is wanted of other questions.
const FOUND_MIN: f64 = 0.97;
/// What is tried, the least first.
const EFFORTS: [usize; 7] = [100, 150, 250, 400, 700, 1_200, 2_000];

/// The least effort that finds nearly all of what is near, as measured with the trials of a file: names of
/// items, which are as short as questions. Without trials, with some of its rows.
pub(in crate::dense) fn effort(rows: &Rows, links: &impl Links) -> usize {
    let mut trials: Vec<QuantizedVector> = rows.trials().map(QuantizedVector::from).collect();
    if trials.is_empty() {
        trials = spread(rows.len(), TRIALS).map(|at| rows.row(at).into()).collect();
    }
    let count = NEIGHBOURS.min(rows.len());
    let wanted: Vec<f32> = trials.iter().map(|vector| last_of_the_nearest(rows, vector, count)).collect();
    let enough = (trials.len() * count) as f64 * FOUND_MIN;
    let mut walk = Walk::through(rows.len());
    let mut is_enough = |effort: usize| {
        let found = trials.iter().zip(&wanted).map(|(vector, last)| {
            let close = walk.closest((rows, rows.len()), links, vector, effort, |_| true);
            close.iter().take(count).filter(|one| one.cosine >= *last).count()
        });
        found.sum::<usize>() as f64 >= enough
    };
    EFFORTS.into_iter().find(|effort| is_enough(*effort)).unwrap_or(EFFORTS[EFFORTS.len() - 1])
}

/// How close the last of the nearest rows is to a vector.
fn last_of_the_nearest(rows: &Rows, vector: &QuantizedVector, count: usize) -> f32 {
    let mut all: Vec<f32> = (0..rows.len()).map(|at| vector.dot(rows.row(at))).collect();
    match count.checked_sub(1) {
        Some(last) => *all.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1,
        None => 0.0,
    }
}

/// At most `count` different numbers below `len`, spread over all of them without a rhythm that
/// the rows could have too.
pub(in crate::dense) fn spread(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(len);
    (0..count).map(move |n| {
        let (start, end) = (n * len / count, (n + 1) * len / count);
        // Multiples of the golden ratio fall on no period that the rows could have.
        start + ((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % (end - start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_different_rows() {
        for (len, count) in [(10, 3), (10, 10), (3, 10), (0, 5), (1_000, 999)] {
            let picked: Vec<usize> = spread(len, count).collect();
            assert_eq!(picked.len(), count.min(len));
            assert!(picked.is_sorted_by(|a, b| a < b) && picked.iter().all(|at| *at < len), "{picked:?}");
        }
    }
}
