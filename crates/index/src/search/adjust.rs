//! What changes the order of what is found beyond how well it fits: what nobody can have comes later, and an operator's
//! rules pin, lift and bury items. Nothing that breaks a limit of the question gets into the list by a rule.

use std::collections::HashSet;

use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query as Search};
use tantivy::{DocAddress, DocSet};

use super::adjustment::{Adjustment, Effect};
use super::one_variant::limit_clauses;
use super::plan::Plan;
use super::query::Query;
use super::rank::{RankedDoc, by_key};
use super::{hit, variant_tests};
use crate::analysis::LanguageAnalyzer;
use crate::error::Result;
use crate::facts;
use crate::index::Snapshot;
use crate::limits::{ADJUSTED_ITEMS_MAX, PINNED_ITEMS_MAX};
use forecourt_understanding::Filter;

/// What a thing counts that nobody can have, as part of its score: it comes behind what fits half as well.
const SOLD_OUT_WORTH: f32 = 0.5;

/// How many documents have to be ranked so that this many can be told.
pub(super) fn depth(snapshot: &Snapshot, query: &Query, end: usize) -> usize {
    match query.adjustments.is_empty() && !(query.sold_out_later && snapshot.sells_out()) {
        true => end,
        // From the first item on, whichever page is asked for: else an item could be on two pages or on none.
        false => end.max(ADJUSTED_ITEMS_MAX),
    }
}

/// Gives documents their places, and says how many of them are pinned, from the first on.
pub(super) fn adjust(snapshot: &Snapshot, query: &Query, plan: &Plan, ranked: &mut Vec<RankedDoc>) -> Result<usize> {
    let sells = query.sold_out_later && snapshot.sells_out();
    let first = ranked.len().min(ADJUSTED_ITEMS_MAX);
    let mut worths = vec![1.0_f32; first];
    if sells {
        for (worth, one) in worths.iter_mut().zip(ranked.iter()) {
            if is_sold_out(snapshot, plan, one)? {
                *worth *= SOLD_OUT_WORTH;
            }
        }
    }
    // An order that the question asks for is changed by no rule.
    let rules = if query.order.is_none() { query.adjustments.as_slice() } else { &[] };
    for rule in rules {
        if let Effect::Worth(factor) = rule.effect {
            let passing = passing(snapshot, &rule.items, &ranked[..first])?;
            let touched = worths.iter_mut().zip(ranked.iter()).filter(|(_, one)| passing.contains(&one.key));
            touched.for_each(|(worth, _)| *worth *= factor);
        }
    }
    if worths.iter().any(|worth| *worth != 1.0) {
        reorder(&mut ranked[..first], &worths, plan.has_text() && query.order.is_none());
    }
    pin(snapshot, query, rules, ranked)
}

/// Whether a document, or the variant of it that is told, is sold out.
fn is_sold_out(snapshot: &Snapshot, plan: &Plan, one: &RankedDoc) -> Result<bool> {
    match variant_tests::column(snapshot, one.address).is_empty() {
        true => Ok(snapshot.term_docs(&snapshot.sold_out())?.has(one.address)),
        // Which variant it is, the words of the question decide, too.
        false => Ok(facts::is_sold_out(&hit::read(snapshot, one, plan)?.item)),
    }
}

/// Puts documents into the order of what they are worth. Where nothing has a score, each counts the same.
fn reorder(ranked: &mut [RankedDoc], worths: &[f32], is_scored: bool) {
    let mut all: Vec<(f32, RankedDoc)> = ranked
        .iter()
        .copied()
        .zip(worths)
        .map(|(one, worth)| match is_scored {
            true => (one.score * worth, RankedDoc { score: one.score * worth, ..one }),
            false => (*worth, one),
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.iter_mut().zip(all).for_each(|(place, (_, one))| *place = one);
}

/// Puts what is pinned first, of what keeps the limits of the question, and says how many these are.
fn pin(snapshot: &Snapshot, query: &Query, rules: &[Adjustment], ranked: &mut Vec<RankedDoc>) -> Result<usize> {
    let mut pinned: Vec<RankedDoc> = Vec::new();
    for rule in rules {
        let Effect::Pin { even_alone } = rule.effect else { continue };
        if ranked.is_empty() && !even_alone {
            continue;
        }
        for items in rule.items.iter() {
            let both: Vec<Filter> = items.iter().chain(&query.filters).cloned().collect();
            let found = by_key(snapshot, &all_of(snapshot, &both), PINNED_ITEMS_MAX)?;
            let new = found.into_iter().filter(|one| pinned.iter().all(|other| other.key != one.key));
            pinned.extend(new.collect::<Vec<_>>());
        }
    }
    pinned.truncate(PINNED_ITEMS_MAX);
    let best = ranked.first().map_or(0.0, |first| first.score);
    ranked.retain(|one| pinned.iter().all(|other| other.key != one.key));
    let count = pinned.len();
    ranked.splice(0..0, pinned.into_iter().map(|one| RankedDoc { score: best, ..one }));
    Ok(count)
}

/// The keys of the documents that pass all filters of one of these lists.
fn passing(snapshot: &Snapshot, items: &[Vec<Filter>], documents: &[RankedDoc]) -> Result<HashSet<u64>> {
    let each = items.iter().map(|filters| -> Box<dyn Search> { Box::new(all_of(snapshot, filters)) });
    let weight =
        BooleanQuery::union(each.collect()).weight(EnableScoring::disabled_from_searcher(&snapshot.searcher))?;
    let mut passing = HashSet::new();
    for (reader, segment) in snapshot.searcher.segment_readers().iter().zip(0..) {
        let mut of_segment: Vec<&RankedDoc> =
            documents.iter().filter(|one| one.address.segment_ord == segment).collect();
        of_segment.sort_by_key(|one| one.address.doc_id);
        if of_segment.is_empty() {
            continue;
        }
        // They go forward only.
        let mut docs = weight.scorer(reader, 1.0)?;
        for one in of_segment {
            let doc = one.address.doc_id;
            if docs.doc() == doc || (docs.doc() < doc && docs.seek(doc) == doc) {
                passing.insert(one.key);
            }
        }
    }
    Ok(passing)
}

fn all_of(snapshot: &Snapshot, filters: &[Filter]) -> BooleanQuery {
    let tongues: Vec<LanguageAnalyzer> =
        std::iter::once(LanguageAnalyzer::ENGLISH).chain(snapshot.summary.tongues()).collect();
    let mut clauses: Vec<(Occur, Box<dyn Search>)> = vec![(Occur::Must, Box::new(AllQuery))];
    clauses.extend(limit_clauses(snapshot, filters, &tongues));
    BooleanQuery::new(clauses)
}

/// What changed the place of a document, in words.
pub(super) fn explain(
    snapshot: &Snapshot,
    query: &Query,
    plan: &Plan,
    key: u64,
    address: DocAddress,
) -> Result<Vec<String>> {
    let one = RankedDoc { score: 0.0, key, address };
    let mut told = Vec::new();
    if query.sold_out_later && snapshot.sells_out() && is_sold_out(snapshot, plan, &one)? {
        told.push(format!("sold out: its score counts {SOLD_OUT_WORTH} times"));
    }
    for rule in query.adjustments.iter().filter(|_| query.order.is_none()) {
        if passing(snapshot, &rule.items, &[one])?.is_empty() {
            continue;
        }
        told.push(match rule.effect {
            Effect::Pin { .. } => format!("pinned by the rule `{}`", rule.name),
            Effect::Worth(0.0) => format!("buried by the rule `{}`", rule.name),
            Effect::Worth(factor) => format!("its score counts {factor} times by the rule `{}`", rule.name),
        });
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(scores: &[f32]) -> Vec<RankedDoc> {
        let one = |(score, doc)| RankedDoc { score, key: u64::from(doc), address: DocAddress::new(0, doc) };
        scores.iter().copied().zip(0..).map(one).collect()
    }

    #[test]
    fn what_counts_less_comes_behind_what_fits_about_as_well() {
        let keys = |scores: &[f32], worths: &[f32], is_scored| {
            let mut all = ranked(scores);
            reorder(&mut all, worths, is_scored);
            all.iter().map(|one| one.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&[3.0, 2.0, 1.0], &[0.5, 1.0, 1.0], true), [1, 0, 2]);
        assert_eq!(keys(&[3.0, 2.0, 1.0], &[1.0, 1.0, 4.0], true), [2, 0, 1]);
        assert_eq!(keys(&[3.0, 2.0, 1.0], &[0.0, 1.0, 1.0], true), [1, 2, 0]);
        assert_eq!(keys(&[0.0, 0.0, 0.0], &[0.5, 1.0, 2.0], false), [2, 1, 0], "nothing has a score");
    }
}
