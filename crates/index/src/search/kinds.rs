//! What it adds that an item is of a kind which the question names: that a word of it is the item's category, genre
//! or another short property that many items share.
//!
//! It is a bonus and never evidence against a rarer word. An item that lacks words of the question is lifted by its
//! kinds to half of what the rarest of these is worth, and no further: they never put it before an item that has that
//! word, unless its text is more than three times as long as others are, in which a word is worth less than half.

use std::collections::BTreeSet;

use tantivy::postings::SegmentPostings;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, SegmentReader, Term};

use super::query_words::QueryWord;
use super::subjects::OtherName;
use crate::analysis::fact_word;
use crate::index::Snapshot;
use crate::limits::KIND_WORDS_MAX;

/// What a kind adds where nothing is missing, as part of what its word is worth: more than a text gains that repeats
/// the word without end (1 + k1 of BM25).
const PART: f32 = 2.2;
/// The part of a missing word's worth up to which kinds lift an item. The rest is for texts that are longer than
/// others, in which that word is worth less.
const PART_BELOW_MISSING: f32 = 0.5;

/// How far sums may stray from what they come to.
const ROUNDED: f32 = 1.000_01;

/// The kinds that the words of a query name.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// All words of the query that items have. Empty: no word is a kind.
    words: Vec<NamedKind>,
}

/// A word of a query, and what says that an item is of that kind.
#[derive(Debug)]
struct NamedKind {
    word: String,
    worth: f32,
    texts: Vec<Term>,
    /// Other names, each with all of its words.
    others: Vec<Vec<Term>>,
    kinds: Vec<Term>,
}

impl Kinds {
    /// Those of a query's words, at most [`KIND_WORDS_MAX`]: longer queries name no kind.
    pub(super) fn of(snapshot: &Snapshot, words: &[QueryWord]) -> Self {
        // A word that no item has is missing everywhere and tells no two items apart.
        let known = || words.iter().filter(|word| word.is_known());
        if known().count() > KIND_WORDS_MAX {
            return Self::default();
        }
        let words: Vec<NamedKind> = known().map(|word| NamedKind::of(snapshot, word)).collect();
        match words.iter().any(|word| !word.kinds.is_empty()) {
            true => Self { words },
            false => Self::default(),
        }
    }

    /// The score that an item which lacks a word needs by its words alone, to have this one together with its kinds.
    pub(super) fn needed_for(&self, score: f32) -> f32 {
        let worths = || self.words.iter().map(|word| word.worth);
        // Kinds lift such an item no further than this, however many they are.
        let reached = PART_BELOW_MISSING * worths().fold(0.0, f32::max) * ROUNDED;
        let kinds = self.words.iter().filter(|word| !word.kinds.is_empty());
        let most: f32 = if score > reached { 0.0 } else { kinds.map(|word| PART * word.worth).sum() };
        // A step below, so that what is tied is seen.
        (score.next_down() - most).next_down()
    }

    /// What has all words and is a kind of one, which kinds lift by all that they are worth. `None`: no word is a kind.
    pub(super) fn whole(&self, query: &dyn Query) -> Option<BooleanQuery> {
        let kinds: Vec<&Term> = self.words.iter().flat_map(|word| &word.kinds).collect();
        if kinds.is_empty() {
            return None;
        }
        let each = self.words.iter().map(NamedKind::in_texts);
        let all = std::iter::once(query.box_clone()).chain(each).chain([any_of(kinds.into_iter())]);
        Some(BooleanQuery::new(all.map(|query| (Occur::Must, query)).collect()))
    }

    /// The kinds of the items of one segment.
    pub(super) fn of_segment(&self, segment: &SegmentReader) -> tantivy::Result<SegmentKinds<'_>> {
        let words = self.words.iter().map(|word| Ok((word, word.postings(segment)?)));
        Ok(SegmentKinds { words: words.collect::<tantivy::Result<_>>()? })
    }

    /// The words that a document is a kind of, each with what that adds to its score by words.
    pub(super) fn explain(
        &self,
        snapshot: &Snapshot,
        address: DocAddress,
        score: f32,
    ) -> tantivy::Result<Vec<(String, f32)>> {
        let mut segment = self.of_segment(snapshot.searcher.segment_reader(address.segment_ord))?;
        let bonus = segment.bonus(address.doc_id, score);
        let is_kind = |(word, postings): &mut (&NamedKind, WordPostings)| {
            has_any(&mut postings.kinds, address.doc_id).then(|| (word.word.clone(), word.worth))
        };
        let kinds: Vec<(String, f32)> = segment.words.iter_mut().filter_map(is_kind).collect();
        let all: f32 = kinds.iter().map(|(_, worth)| worth).sum();
        Ok(kinds.into_iter().map(|(word, worth)| (word, bonus * worth / all)).collect())
    }
}

impl NamedKind {
    fn of(snapshot: &Snapshot, word: &QueryWord) -> Self {
        let text = |stem: &String| Term::from_field_text(snapshot.fields.text, stem);
        let texts = |stems: &[String]| stems.iter().map(text).collect::<Vec<Term>>();
        let paths = snapshot.sample().kinds();
        // Kinds of one word, by other names where no item has the question's own.
        let is_other = |other: &&OtherName| word.stems.is_empty() && !other.is_narrower && other.stems.len() == 1;
        let same = word.others.iter().filter(is_other);
        let stems: Vec<&String> = word.stems.iter().chain(same.flat_map(|other| &other.stems)).collect();
        let each = paths.flat_map(|path| stems.iter().map(move |stem| fact_word(path, stem)));
        let terms: BTreeSet<Term> = each.map(|word| Term::from_field_text(snapshot.fields.facts, &word)).collect();
        Self {
            word: stems.first().map(|stem| (*stem).clone()).unwrap_or_default(),
            worth: word.information,
            texts: word.stems.iter().chain(&word.begun).map(text).collect(),
            others: word.others.iter().map(|other| texts(&other.stems)).collect(),
            kinds: terms.into_iter().filter(|term| snapshot.doc_freq(term) > 0).collect(),
        }
    }

    fn postings(&self, segment: &SegmentReader) -> tantivy::Result<WordPostings> {
        let others = self.others.iter().map(|other| postings(segment, other));
        // A name whose words this segment does not all have is not in it.
        let whole = others
            .zip(&self.others)
            .filter(|(found, other)| found.as_ref().is_ok_and(|found| found.len() == other.len()) || found.is_err());
        Ok(WordPostings {
            texts: postings(segment, &self.texts)?,
            others: whole.map(|(found, _)| found).collect::<tantivy::Result<_>>()?,
            kinds: postings(segment, &self.kinds)?,
        })
    }

    /// What has the word or another name, which adds nothing to a score.
    fn in_texts(&self) -> Box<dyn Query> {
        let own = self.texts.iter().map(one);
        let others = self
            .others
            .iter()
            .map(|other| -> Box<dyn Query> { Box::new(BooleanQuery::intersection(other.iter().map(one).collect())) });
        Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(own.chain(others).collect())), 0.0))
    }
}

fn postings(segment: &SegmentReader, terms: &[Term]) -> tantivy::Result<Vec<SegmentPostings>> {
    let mut found = Vec::new();
    for term in terms {
        found.extend(segment.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?);
    }
    Ok(found)
}

/// The documents of one segment that have a word, and those that are a kind of it.
struct WordPostings {
    texts: Vec<SegmentPostings>,
    others: Vec<Vec<SegmentPostings>>,
    kinds: Vec<SegmentPostings>,
}

impl WordPostings {
    /// Whether a document has the word or another name.
    fn are_in(&mut self, doc: DocId) -> bool {
        has_any(&mut self.texts, doc)
            || self.others.iter_mut().any(|other| other.iter_mut().all(|word| has_any(std::slice::from_mut(word), doc)))
    }
}

/// The kinds of the items of one segment, asked for in the order of its documents.
pub(super) struct SegmentKinds<'q> {
    words: Vec<(&'q NamedKind, WordPostings)>,
}

impl SegmentKinds<'_> {
    /// What its kinds add to a document that has this score by its words. Documents before the last one that was asked
    /// for add nothing.
    pub(super) fn bonus(&mut self, doc: DocId, score: f32) -> f32 {
        let (all, missing) = self.of(doc);
        if all == 0.0 { 0.0 } else { bounded(all, missing, score) }
    }

    /// The same of a document that lacks a word. `None`: it lacks none, and is of a kind.
    pub(super) fn bonus_of_part(&mut self, doc: DocId, score: f32) -> Option<f32> {
        match self.of(doc) {
            (0.0, _) => Some(0.0),
            (all, missing) => missing.map(|missing| bounded(all, Some(missing), score)),
        }
    }

    /// What the kinds of a document add where nothing is missing, and the worth of the rarest word that is.
    fn of(&mut self, doc: DocId) -> (f32, Option<f32>) {
        let mut all = 0.0;
        for (word, postings) in &mut self.words {
            if has_any(&mut postings.kinds, doc) {
                all += PART * word.worth;
            }
        }
        if all == 0.0 {
            return (0.0, None);
        }
        let lacks = |(word, postings): &mut (&NamedKind, WordPostings)| (!postings.are_in(doc)).then_some(word.worth);
        (all, self.words.iter_mut().filter_map(lacks).reduce(f32::max))
    }
}

/// What has one of these terms, which adds nothing to a score.
fn any_of<'t>(terms: impl Iterator<Item = &'t Term>) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(terms.map(one).collect())), 0.0))
}

fn one(term: &Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term.clone(), IndexRecordOption::Basic))
}

/// What kinds may add to a score by words that add `all` where nothing is missing.
fn bounded(all: f32, missing: Option<f32>, score: f32) -> f32 {
    missing.map_or(all, |missing| all.min((PART_BELOW_MISSING * missing - score).max(0.0)))
}

/// Whether one of these has a document. They go forward only.
fn has_any(postings: &mut [SegmentPostings], doc: DocId) -> bool {
    postings.iter_mut().any(|one| one.doc() == doc || (one.doc() < doc && one.seek(doc) == doc))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds_count_in_full_where_nothing_is_missing() {
        assert_eq!(bounded(3.0, None, 9.0), 3.0);
        assert_eq!(bounded(3.0, Some(4.0), 1.0), 1.0);
        assert_eq!(bounded(3.0, Some(4.0), 2.0), 0.0);
    }

    proptest! {
        #[test]
        fn kinds_never_lift_an_item_over_the_word_that_it_lacks(
            all in 0.0_f32..50.0,
            missing in 0.0_f32..20.0,
            score in 0.0_f32..50.0,
        ) {
            let lifted = score + bounded(all, Some(missing), score);
            prop_assert!(lifted >= score);
            prop_assert!(lifted == score || lifted <= PART_BELOW_MISSING * missing * 1.000_01);
        }

        /// What pruning passes over could not have reached the last score.
        #[test]
        fn an_item_that_reaches_a_score_with_its_kinds_is_seen(
            score in 0.0_f32..50.0,
            worth in 0.0_f32..20.0,
            missing in 0.0_f32..20.0,
        ) {
            let term = Term::from_field_u64(tantivy::schema::Field::from_field_id(0), 0);
            let word = |worth, kinds| NamedKind { word: String::new(), worth, texts: vec![], others: vec![], kinds };
            let kinds = Kinds { words: vec![word(worth, vec![term]), word(missing, vec![])] };
            let reaches = score + bounded(PART * worth, Some(missing), score);
            prop_assert!(score > kinds.needed_for(reaches));
        }
    }
}
