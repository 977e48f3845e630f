//! Rows sorted into lists of what is alike, so that a search looks into a few of them: k-means over
//! a sample, with cosines for distances. The same rows always give the same lists.

use super::file::Rows;
use super::quantized::{Quantized, Row};

/// How many lists there are for the root of the number of rows: with more, less has to be looked at,
/// and sorting takes longer.
const LISTS_PER_ROOT: usize = 2;
/// Rows that a list is made from, on the mean.
const SAMPLED_PER_LIST: usize = 40;
/// How often the middles of lists are moved.
const ROUNDS: usize = 8;
/// Short texts whose neighbours are looked up to find out how many lists have to be looked into.
pub(super) const TRIALS: usize = 64;
/// Neighbours of each of them.
const NEIGHBOURS: usize = 100;
/// How many of those have to be found: a little more than is wanted of other questions.
const FOUND_MIN: f64 = 0.97;

/// Rows in lists.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The middle of each list, of length 1.
    pub(super) centres: Vec<Quantized>,
    /// Where each list ends in `order`.
    pub(super) ends: Vec<u32>,
    /// How many lists, the closest first, have nearly all of what is nearest.
    pub(super) probes: usize,
    /// The rows, list by list.
    pub(super) order: Vec<u32>,
}

impl Lists {
    /// Sorts rows into lists.
    pub(super) fn of(rows: &Rows) -> Self {
        let centres = centres(rows, LISTS_PER_ROOT * rows.len().isqrt());
        let list_of: Vec<u32> = (0..rows.len()).map(|at| closest(&centres, rows.row(at)) as u32).collect();
        let mut ends = vec![0; centres.len()];
        list_of.iter().for_each(|list| ends[*list as usize] += 1);
        let mut end = 0;
        ends.iter_mut().for_each(|length| {
            end += *length;
            *length = end;
        });
        let mut order: Vec<u32> = (0..).take(rows.len()).collect();
        order.sort_by_key(|row| list_of[*row as usize]);
        let probes = probes(rows, &centres, &list_of);
        Self { centres, ends, probes, order }
    }
}

/// The lists of a file, those closest to a vector first.
pub(super) fn by_closeness<'r>(centres: impl Iterator<Item = Row<'r>>, vector: &Quantized) -> Vec<usize> {
    let mut lists: Vec<(f32, usize)> = centres.map(|centre| vector.dot(centre)).zip(0..).collect();
    lists.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    lists.into_iter().map(|(_, list)| list).collect()
}

/// The middles of lists.
fn centres(rows: &Rows, count: usize) -> Vec<Quantized> {
    let sample: Vec<usize> = spread(rows.len(), count * SAMPLED_PER_LIST).collect();
    let mut centres: Vec<Quantized> = spread(sample.len(), count).map(|at| rows.row(sample[at]).into()).collect();
    for _ in 0..ROUNDS {
        let mut sums = vec![vec![0.0; rows.dims()]; centres.len()];
        for at in &sample {
            let row = rows.row(*at);
            row.add_to(&mut sums[closest(&centres, row)]);
        }
        // A list that nothing is closest to keeps its middle.
        let means = centres.iter_mut().zip(&sums).filter_map(|(centre, sum)| Some((centre, Quantized::unit(sum)?)));
        means.for_each(|(centre, mean)| *centre = mean);
    }
    centres
}

/// The list that a row belongs to: the first of the closest.
fn closest(centres: &[Quantized], row: Row<'_>) -> usize {
    let cosines = centres.iter().map(|centre| centre.dot(row)).zip(0..);
    cosines.fold((f32::NEG_INFINITY, 0), |best, one| if one.0 > best.0 { one } else { best }).1
}

/// How many lists have to be looked into, as measured with the trials of the file: names of items,
/// which are as short as questions. Without trials, with some of its rows.
fn probes(rows: &Rows, centres: &[Quantized], list_of: &[u32]) -> usize {
    let written: Vec<Vec<u8>> = centres.iter().map(Quantized::to_bytes).collect();
    let mut found = vec![0; centres.len()];
    let mut trials: Vec<Quantized> = rows.trials().map(Quantized::from).collect();
    if trials.is_empty() {
        trials = spread(rows.len(), TRIALS).map(|at| rows.row(at).into()).collect();
    }
    for vector in trials {
        let mut place = vec![0; centres.len()];
        let closest = by_closeness(written.iter().map(|centre| Row::read(centre)), &vector);
        closest.into_iter().zip(0..).for_each(|(list, at)| place[list] = at);
        for row in neighbours(rows, &vector) {
            found[place[list_of[row] as usize]] += 1;
        }
    }
    let enough = (found.iter().sum::<usize>() as f64 * FOUND_MIN).ceil() as usize;
    let mut sum = 0;
    let missing = found.iter().take_while(|found| {
        sum += **found;
        sum < enough
    });
    missing.count() + 1
}

/// The rows nearest to a vector.
fn neighbours(rows: &Rows, vector: &Quantized) -> impl Iterator<Item = usize> {
    let mut all: Vec<(f32, usize)> = (0..rows.len()).map(|at| (vector.dot(rows.row(at)), at)).collect();
    let count = NEIGHBOURS.min(all.len());
    if count < all.len() {
        all.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    all.into_iter().take(count).map(|(_, at)| at)
}

/// At most `count` different numbers below `len`, spread over all of them without a rhythm that
/// the rows could have too.
pub(super) fn spread(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(len);
    (0..count).map(move |n| {
        let (start, end) = (n * len / count, (n + 1) * len / count);
        // The golden ratio's multiples are in no step with anything.
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
