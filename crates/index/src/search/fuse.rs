//! Two rankings to one, by what their scores say about a document rather than by places: a document
//! that has all the rare words of a question stands far above the next one, and places would forget
//! how far (Bruch, Gai, Ingber 2023 compare the two).
//!
//! BM25 is kept as it is, an amount of evidence. A cosine counts by its square, so that what is close in earnest
//! counts, and the many that are a little close do not. How much a cosine counts is decided by the words of each
//! query: where the best document by words says all that is asked, and that is more than chance would bring
//! together in a collection of this size, little is left for meaning to decide; where it says half, meaning
//! decides; where no document has a word, meaning alone.

use std::collections::HashMap;

use forecourt_embed::Kind;
use tantivy::DocAddress;

use super::query_words::Coverage;
use super::rank::{RankedDoc, sort};
use crate::dense::Near;

/// Words of a query that are taken at their full worth. The more there are, the more of them say the
/// same once more: the worth of all grows with the root of their number.
const WORDS_IN_FULL: f32 = 4.0;

/// What the best cosine is worth in points of BM25, where words decide nothing.
fn worth_of(kind: Kind) -> f32 {
    match kind {
        // Vectors of single tokens know what a text is about; so do its words, and better.
        Kind::Static => 8.0,
        Kind::Contextual => 24.0,
    }
}

/// How much the words of a query are to be trusted.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordEvidence {
    /// Words of the query that say what is looked for.
    pub(super) asked: usize,
    /// How much of that the best document by words has.
    pub(super) coverage: Coverage,
    /// Documents that there are.
    pub(super) documents: u64,
}

impl WordEvidence {
    /// From 0, words say nothing, to 1, words say all.
    fn certainty(&self) -> f32 {
        let Coverage { asked, said } = self.coverage;
        if asked <= 0.0 {
            return 0.0;
        }
        // That so much comes together in one of so many documents by chance is likely up to their logarithm.
        let by_chance = (self.documents.max(2) as f32).ln();
        (said / asked).powi(4) * (said / by_chance).min(1.0)
    }
}

/// The documents of both lists, best first. A document has a cosine even when it is not among the
/// nearest: `cosine` gives it.
pub(super) fn fuse(
    words: &[RankedDoc],
    near: &[Near],
    evidence: WordEvidence,
    kind: Kind,
    cosine: impl Fn(DocAddress) -> f32,
) -> Vec<RankedDoc> {
    let by_words = (WORDS_IN_FULL / evidence.asked.max(1) as f32).min(1.0).sqrt();
    // Where no document has a word, meaning decides alone.
    let certainty = if words.is_empty() { 0.0 } else { evidence.certainty() };
    let worth = worth_of(kind) * (1.0 - certainty);
    let by_meaning = |cosine: f32| worth * cosine.max(0.0).powi(2);
    let mut fused: HashMap<u64, RankedDoc> = HashMap::with_capacity(words.len() + near.len());
    for near in near {
        fused.insert(near.key, RankedDoc { score: by_meaning(near.cosine), key: near.key, address: near.address });
    }
    for ranked in words {
        let unlisted = || RankedDoc { score: by_meaning(cosine(ranked.address)), ..*ranked };
        fused.entry(ranked.key).or_insert_with(unlisted).score += by_words * ranked.score;
    }
    let mut fused: Vec<RankedDoc> = fused.into_values().collect();
    sort(&mut fused);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: DocAddress = DocAddress { segment_ord: 0, doc_id: 0 };

    fn keys(words: &[(u64, f32)], near: &[(u64, f32)], asked: usize, said: f32) -> Vec<u64> {
        let words: Vec<RankedDoc> =
            words.iter().map(|(key, score)| RankedDoc { score: *score, key: *key, address: ADDRESS }).collect();
        let near: Vec<Near> =
            near.iter().map(|(key, cosine)| Near { cosine: *cosine, key: *key, address: ADDRESS }).collect();
        let coverage = Coverage { asked: 20.0, said };
        let evidence = WordEvidence { asked, coverage, documents: 1_000 };
        fuse(&words, &near, evidence, Kind::Contextual, |_| 0.3).iter().map(|ranked| ranked.key).collect()
    }

    #[test]
    fn words_that_say_all_rule_and_words_that_say_little_do_not() {
        let (words, near) = ([(1, 12.0), (3, 3.0)], [(2, 0.9), (3, 0.6)]);
        assert_eq!(keys(&words, &near, 3, 20.0), [1, 3, 2]);
        assert_eq!(keys(&words, &near, 3, 5.0), [2, 1, 3]);
    }

    #[test]
    fn full_coverage_by_what_chance_brings_together_is_not_certain() {
        let certain = |asked: f32, said: f32| {
            WordEvidence { asked: 1, coverage: Coverage { asked, said }, documents: 1_000_000 }.certainty()
        };
        assert!(certain(2.0, 2.0) < 0.2);
        assert_eq!((certain(30.0, 30.0), certain(30.0, 0.0), certain(0.0, 0.0)), (1.0, 0.0, 0.0));
        assert!(certain(30.0, 15.0) <= 0.25);
    }

    #[test]
    fn many_words_count_less_each() {
        let (words, near) = ([(1, 12.0)], [(2, 0.75)]);
        assert_eq!(keys(&words, &near, 4, 0.0), [1, 2]);
        assert_eq!(keys(&words, &near, 16, 0.0), [2, 1]);
    }

    #[test]
    fn one_list_alone_keeps_its_order() {
        assert_eq!(keys(&[(1, 2.0), (2, 1.0)], &[], 1, 20.0), [1, 2]);
        assert_eq!(keys(&[], &[(1, 0.9), (2, 0.3)], 0, 0.0), [1, 2]);
        assert!(keys(&[], &[], 0, 0.0).is_empty());
    }
}
