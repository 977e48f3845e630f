//! Two rankings to one, by reciprocal ranks (Cormack, Clarke, Büttcher 2009).

use std::collections::HashMap;

use super::rank::{Ranked, sort};
use crate::dense::Near;

/// How much the first places count over the later ones.
const K: f32 = 60.0;

/// What a place in the list by meaning is worth beside one in the list by words: static vectors
/// know what a text is about, but not as well as its words do.
const MEANING_WEIGHT: f32 = 0.6;

/// Each document's score is the sum of `weight / (K + rank)` over the lists it is in.
pub(super) fn fuse(words: Vec<Ranked>, near: Vec<Near>) -> Vec<Ranked> {
    let mut fused: HashMap<u64, Ranked> = HashMap::with_capacity(words.len() + near.len());
    let words = words.iter().map(|ranked| (ranked.key, ranked.address, 1.0)).zip(1_u16..);
    let near = near.iter().map(|near| (near.key, near.address, MEANING_WEIGHT)).zip(1_u16..);
    for ((key, address, weight), rank) in words.chain(near) {
        let entry = fused.entry(key).or_insert(Ranked { score: 0.0, key, address });
        entry.score += weight / (K + f32::from(rank));
    }
    let mut fused: Vec<Ranked> = fused.into_values().collect();
    sort(&mut fused);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use tantivy::DocAddress;

    #[test]
    fn being_in_both_lists_counts_more_than_leading_one() {
        let address = DocAddress::new(0, 0);
        let words = [1, 2, 3].map(|key| Ranked { score: 9.0, key, address }).to_vec();
        let near = [4, 2].map(|key| Near { cosine: 0.9, key, address }).to_vec();
        let fused = fuse(words, near);
        assert_eq!(fused.iter().map(|ranked| ranked.key).collect::<Vec<_>>(), [2, 1, 3, 4]);
        assert_eq!(fused[1].score, 1.0 / 61.0);
    }
}
