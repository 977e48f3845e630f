//! Two rankings to one, by what their scores say about a document rather than by places: a document
//! that has all the rare words of a question stands far above the next one, and places would forget
//! how far (Bruch, Gai, Ingber 2023 compare the two).
//!
//! BM25 is kept as it is, an amount of evidence. Rare words that all fit leave little doubt; one
//! frequent word leaves much, and then meaning decides. A cosine counts by its square, so that what is
//! close in earnest counts, and the many that are a little close do not.

use std::collections::HashMap;

use forecourt_embed::Kind;
use tantivy::DocAddress;

use super::rank::{Ranked, sort};
use crate::dense::Near;

/// Words of a query that are taken at their full worth. The more there are, the more of them say the
/// same once more: the worth of all grows with the root of their number.
const WORDS_IN_FULL: f32 = 4.0;

/// What the best cosine is worth, in points of BM25.
fn worth_of(kind: Kind) -> f32 {
    match kind {
        // Vectors of single tokens know what a text is about; so do its words, and better.
        Kind::Static => 12.0,
        Kind::Contextual => 24.0,
    }
}

/// The documents of both lists, best first. A document has a cosine even when it is not among the
/// nearest: `cosine` gives it. `asked` are the words of the query.
pub(super) fn fuse(
    words: &[Ranked],
    near: &[Near],
    asked: usize,
    kind: Kind,
    cosine: impl Fn(DocAddress) -> f32,
) -> Vec<Ranked> {
    let by_words = (WORDS_IN_FULL / asked as f32).min(1.0).sqrt();
    let by_meaning = |cosine: f32| worth_of(kind) * cosine.max(0.0).powi(2);
    let mut fused: HashMap<u64, Ranked> = HashMap::with_capacity(words.len() + near.len());
    for near in near {
        fused.insert(near.key, Ranked { score: by_meaning(near.cosine), key: near.key, address: near.address });
    }
    for ranked in words {
        let unlisted = || Ranked { score: by_meaning(cosine(ranked.address)), ..*ranked };
        fused.entry(ranked.key).or_insert_with(unlisted).score += by_words * ranked.score;
    }
    let mut fused: Vec<Ranked> = fused.into_values().collect();
    sort(&mut fused);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: DocAddress = DocAddress { segment_ord: 0, doc_id: 0 };

    fn keys(words: &[(u64, f32)], near: &[(u64, f32)], asked: usize, kind: Kind) -> Vec<u64> {
        let words: Vec<Ranked> =
            words.iter().map(|(key, score)| Ranked { score: *score, key: *key, address: ADDRESS }).collect();
        let near: Vec<Near> =
            near.iter().map(|(key, cosine)| Near { cosine: *cosine, key: *key, address: ADDRESS }).collect();
        fuse(&words, &near, asked, kind, |_| 0.3).iter().map(|ranked| ranked.key).collect()
    }

    #[test]
    fn much_evidence_by_words_stands_against_meaning_and_little_does_not() {
        let near = [(2, 0.7), (3, 0.6)];
        assert_eq!(keys(&[(1, 20.0), (3, 9.0)], &near, 3, Kind::Contextual), [1, 3, 2]);
        assert_eq!(keys(&[(1, 3.0), (3, 2.0)], &near, 1, Kind::Contextual), [2, 3, 1]);
        assert_eq!(keys(&[(1, 8.0), (3, 2.0)], &near, 1, Kind::Static), [1, 3, 2]);
    }

    #[test]
    fn many_words_count_less_each() {
        let (words, near) = ([(1, 12.0)], [(2, 0.7)]);
        assert_eq!(keys(&words, &near, 4, Kind::Contextual), [1, 2]);
        assert_eq!(keys(&words, &near, 16, Kind::Contextual), [2, 1]);
    }

    #[test]
    fn one_list_alone_keeps_its_order() {
        assert_eq!(keys(&[(1, 2.0), (2, 1.0)], &[], 1, Kind::Static), [1, 2]);
        assert_eq!(keys(&[], &[(1, 0.9), (2, 0.2)], 0, Kind::Static), [1, 2]);
        assert!(keys(&[], &[], 0, Kind::Static).is_empty());
    }
}
