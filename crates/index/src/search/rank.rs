//! The best documents in an order that does not depend on how the index happens to be cut into
//! segments: by score, then by key.

use std::cmp::Ordering;

use tantivy::collector::TopDocs;
use tantivy::query::{EnableScoring, Query as Search};
use tantivy::{DocAddress, DocId, Order};

use super::kinds::Kinds;
use super::plan::Plan;
use super::pruned::SegmentClauses;
use super::scored::ScoredClause;
use super::weighted::WeightedClauses;
use crate::best::Best;
use crate::columns::KEY;
use crate::error::Result;
use crate::index::Snapshot;

/// A document and its place in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankedDoc {
    pub(crate) score: f32,
    pub(crate) key: u64,
    pub(crate) address: DocAddress,
}

impl Eq for RankedDoc {}

impl Ord for RankedDoc {
    /// A higher score is greater; then the smaller key.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for RankedDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `wanted` best documents of a plan.
pub(super) fn top(snapshot: &Snapshot, plan: &Plan, wanted: usize) -> Result<Vec<RankedDoc>> {
    if let Some(clauses) = plan.unlimited() {
        return by_clauses(snapshot, plan, clauses, wanted);
    }
    match plan.ranking() {
        None => Ok(Vec::new()),
        Some(query) if plan.has_text() => by_score(snapshot, &*query, &plan.kinds, wanted),
        Some(query) => by_key(snapshot, &*query, wanted),
    }
}

/// As [`by_score`], where nothing limits the documents: what kinds lift is looked at by itself, so that one pass over the
/// rest has no more to see than what reaches the last score by its words.
fn by_clauses(snapshot: &Snapshot, plan: &Plan, clauses: &[ScoredClause], wanted: usize) -> Result<Vec<RankedDoc>> {
    let weighted = WeightedClauses::of(snapshot, clauses)?;
    let segments = (0..snapshot.columns.len()).map(|segment| SegmentClauses::open(&weighted, snapshot, segment));
    let mut segments = segments.collect::<tantivy::Result<Vec<SegmentClauses>>>()?;
    let mut best: Best<RankedDoc> = Best::of(wanted);
    let ranked = |segment, doc, score| {
        let address = DocAddress::new(segment, doc);
        RankedDoc { score, key: snapshot.key(address), address }
    };
    let last = |best: &Best<RankedDoc>| best.last().map_or(f32::MIN, |last| last.score);
    // What has all words first, which is little and is lifted most; then what lacks one.
    let mut lifted: Vec<Vec<DocId>> = vec![Vec::new(); segments.len()];
    for is_whole in [true, false] {
        for ((clauses, lifted), segment) in segments.iter().zip(&mut lifted).zip(0..) {
            let (columns, of_segment) = (&snapshot.columns[segment as usize], plan.kinds.of_segment(segment));
            let docs = match is_whole {
                true => of_segment.whole(),
                false if plan.kinds.lift_over(last(&best)) => of_segment.partly(),
                false => Vec::new(),
            };
            // What goes forward only is needed once more from the beginning.
            let mut clauses = if docs.is_empty() { continue } else { clauses.clone() };
            for doc in docs.into_iter().filter(|doc| columns.is_living(*doc)) {
                if !is_whole && !of_segment.lifts_over(doc, last(&best)) {
                    continue;
                }
                if let Some(score) = clauses.score(doc) {
                    best.offer(ranked(segment, doc, score + of_segment.bonus(doc, score)));
                    lifted.push(doc);
                }
            }
        }
    }
    lifted.iter_mut().for_each(|docs| docs.sort_unstable());
    // A step below, so that what is tied is seen and the key decides.
    let threshold = |best: &Best<RankedDoc>| last(best).next_down();
    let weight = match clauses.iter().all(ScoredClause::is_term) {
        true => plan.ranking().map(|query| query.weight(scoring(snapshot))).transpose()?,
        false => None,
    };
    for ((clauses, lifted), segment) in segments.iter_mut().zip(&lifted).zip(0..) {
        let (columns, of_segment) = (&snapshot.columns[segment as usize], plan.kinds.of_segment(segment));
        let begin = threshold(&best);
        let mut take = |doc, score| {
            if columns.is_living(doc) && lifted.binary_search(&doc).is_err() {
                best.offer(ranked(segment, doc, score + of_segment.bonus(doc, score)));
            }
            threshold(&best)
        };
        match &weight {
            // Where every clause is a term, the engine knows the best of each block of documents, too.
            Some(weight) => {
                weight.for_each_pruning(begin, snapshot.searcher.segment_reader(segment), &mut take)?;
            }
            None => clauses.for_each_over(begin, &mut take),
        }
    }
    Ok(best.into_sorted())
}

fn scoring(snapshot: &Snapshot) -> EnableScoring<'_> {
    EnableScoring::enabled_from_statistics_provider(snapshot, &snapshot.searcher)
}

/// First what kinds lift most, which is little: what has all words. Then one pass over all segments, each of which
/// begins with the threshold that those before it have set. It lies a step below what reaches the last score with the
/// kinds that an item may have which lacks a word, so that what is tied with it is seen and the key decides.
fn by_score(snapshot: &Snapshot, query: &dyn Search, kinds: &Kinds, wanted: usize) -> Result<Vec<RankedDoc>> {
    let scoring = || scoring(snapshot);
    let mut best: Best<RankedDoc> = Best::of(wanted);
    if let Some(whole) = kinds.whole(query) {
        let weight = whole.weight(scoring())?;
        for ((reader, columns), segment) in snapshot.searcher.segment_readers().iter().zip(&snapshot.columns).zip(0..) {
            let of_segment = kinds.of_segment(segment);
            weight.for_each(reader, &mut |doc, score| {
                if columns.is_living(doc) {
                    let (key, address) = (columns.key.get_val(doc), DocAddress::new(segment, doc));
                    best.offer(RankedDoc { score: score + of_segment.bonus(doc, score), key, address });
                }
            })?;
        }
    }
    let weight = query.weight(scoring())?;
    let threshold = |best: &Best<RankedDoc>| best.last().map_or(f32::MIN, |last| kinds.needed_for(last.score));
    for ((reader, columns), segment) in snapshot.searcher.segment_readers().iter().zip(&snapshot.columns).zip(0..) {
        let of_segment = kinds.of_segment(segment);
        weight.for_each_pruning(threshold(&best), reader, &mut |doc, score| {
            // Scorers give deleted documents, too.
            if let Some(bonus) = of_segment.bonus_of_part(doc, score).filter(|_| columns.is_living(doc)) {
                let (key, address) = (columns.key.get_val(doc), DocAddress::new(segment, doc));
                best.offer(RankedDoc { score: score + bonus, key, address });
            }
            threshold(&best)
        })?;
    }
    Ok(best.into_sorted())
}

/// The first documents of a query, all of which count the same.
pub(super) fn by_key(snapshot: &Snapshot, query: &dyn Search, wanted: usize) -> Result<Vec<RankedDoc>> {
    // Without words all scores are equal: by key, pages don't overlap.
    let order = TopDocs::with_limit(wanted).order_by_fast_field::<u64>(KEY, Order::Asc);
    let found = snapshot.searcher.search(query, &order)?;
    let keyed = |address| RankedDoc { score: 0.0, key: snapshot.key(address), address };
    Ok(found.into_iter().map(|(_, address)| keyed(address)).collect())
}

/// Higher scores first, then smaller keys.
pub(super) fn sort(ranked: &mut [RankedDoc]) {
    ranked.sort_by(|a, b| b.cmp(a));
}
