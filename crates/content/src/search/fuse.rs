//! Two rankings to one, by reciprocal ranks (Cormack, Clarke, Büttcher 2009).

use std::collections::HashMap;

use super::rank::{Ranked, sort};
use crate::dense::Near;

/// How much the first places count over the later ones.
const K: f32 = 60.0;

/// Each document's score is the sum of `1 / (K + rank)` over the lists it is in.
pub(super) fn fuse(words: Vec<Ranked>, near: Vec<Near>) -> Vec<Ranked> {
    let mut fused: HashMap<u64, Ranked> = HashMap::with_capacity(words.len() + near.len());
    let lists = [
        words.iter().map(|ranked| (ranked.key, ranked.address)).collect::<Vec<_>>(),
        near.iter().map(|near| (near.key, near.address)).collect(),
    ];
    for list in lists {
        for (rank, (key, address)) in (1_u16..).zip(list) {
            let entry = fused.entry(key).or_insert(Ranked { score: 0.0, key, address });
            entry.score += 1.0 / (K + f32::from(rank));
        }
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
        assert_eq!(fused.iter().map(|ranked| ranked.key).collect::<Vec<_>>(), [2, 1, 4, 3]);
        assert_eq!(fused[1].score, 1.0 / 61.0);
    }
}
