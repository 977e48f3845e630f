//! What it adds that an item is of a kind which the question names: that a word of it is the item's category, genre
//! or another short property that many items share.
//!
//! It is a bonus and never evidence against a rarer word. An item that lacks words of the question is lifted by its
//! kinds to half of what the rarest of these is worth, and no further: they never put it before an item that has that
//! word, unless its text is more than three times as long as others are, in which a word is worth less than half.

use std::collections::BTreeSet;
use std::sync::Arc;

use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, Term};

use super::other_names::OtherName;
use super::query_words::QueryWord;
use crate::analysis::fact_word;
use crate::index::{SegmentDocs, Snapshot, TermDocs};
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
#[derive(Default)]
pub(super) struct Kinds {
    /// All words of the query that items have. Empty: no word is a kind.
    words: Vec<NamedKind>,
}

/// A word of a query, and what says that an item is of that kind.
#[derive(Default)]
struct NamedKind {
    word: String,
    worth: f32,
    texts: Vec<Term>,
    /// Other names, each with all of its words.
    others: Vec<Vec<Term>>,
    kinds: Vec<Term>,
    /// The documents that have the word, and those that are a kind of it. Read where a word of the query is a kind.
    with_text: Vec<Arc<TermDocs>>,
    with_other: Vec<Vec<Arc<TermDocs>>>,
    of_kind: Vec<Arc<TermDocs>>,
}

impl Kinds {
    /// Those of a query's words, at most [`KIND_WORDS_MAX`]: longer queries name no kind.
    pub(super) fn of(snapshot: &Snapshot, words: &[QueryWord]) -> tantivy::Result<Self> {
        // A word that no item has is missing everywhere and tells no two items apart.
        let known = || words.iter().filter(|word| word.is_known());
        if known().count() > KIND_WORDS_MAX {
            return Ok(Self::default());
        }
        let mut words: Vec<NamedKind> = known().map(|word| NamedKind::of(snapshot, word)).collect();
        if words.iter().all(|word| word.kinds.is_empty()) {
            return Ok(Self::default());
        }
        words.iter_mut().try_for_each(|word| word.read(snapshot))?;
        Ok(Self { words })
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

    /// Whether kinds may lift an item which lacks a word to this score.
    pub(super) fn lift_over(&self, score: f32) -> bool {
        PART_BELOW_MISSING * self.words.iter().map(|word| word.worth).fold(0.0, f32::max) * ROUNDED >= score
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
    pub(super) fn of_segment(&self, segment: u32) -> SegmentKinds<'_> {
        let words = self.words.iter().map(|word| SegmentWord::of(word, segment));
        SegmentKinds { words: words.collect() }
    }

    /// The words that a document is a kind of, each with what that adds to its score by words.
    pub(super) fn explain(&self, address: DocAddress, score: f32) -> Vec<(String, f32)> {
        let segment = self.of_segment(address.segment_ord);
        let bonus = segment.bonus(address.doc_id, score);
        let kinds = segment.words.iter().filter(|word| has_any(&word.of_kind, address.doc_id));
        let kinds: Vec<&NamedKind> = kinds.map(|word| word.named).collect();
        let all: f32 = kinds.iter().map(|word| word.worth).sum();
        kinds.into_iter().map(|word| (word.word.clone(), bonus * word.worth / all)).collect()
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
            ..Self::default()
        }
    }

    fn read(&mut self, snapshot: &Snapshot) -> tantivy::Result<()> {
        let docs =
            |terms: &[Term]| terms.iter().map(|term| snapshot.term_docs(term)).collect::<tantivy::Result<Vec<_>>>();
        self.with_text = docs(&self.texts)?;
        self.with_other = self.others.iter().map(|other| docs(other)).collect::<tantivy::Result<_>>()?;
        self.of_kind = docs(&self.kinds)?;
        Ok(())
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

/// The kinds of the items of one segment.
pub(super) struct SegmentKinds<'q> {
    words: Vec<SegmentWord<'q>>,
}

/// A word of a query, and the documents of one segment that have it and that are a kind of it.
struct SegmentWord<'q> {
    named: &'q NamedKind,
    with_text: Vec<&'q SegmentDocs>,
    with_other: Vec<Vec<&'q SegmentDocs>>,
    of_kind: Vec<&'q SegmentDocs>,
}

impl<'q> SegmentWord<'q> {
    fn of(named: &'q NamedKind, segment: u32) -> Self {
        let docs = |all: &'q [Arc<TermDocs>]| -> Vec<_> { all.iter().map(|docs| docs.of_segment(segment)).collect() };
        Self {
            named,
            with_text: docs(&named.with_text),
            with_other: named.with_other.iter().map(|other| docs(other)).collect(),
            of_kind: docs(&named.of_kind),
        }
    }

    /// Whether a document has neither the word nor all words of another name.
    fn lacks(&self, doc: DocId) -> bool {
        !has_any(&self.with_text, doc) && !self.with_other.iter().any(|other| other.iter().all(|docs| docs.has(doc)))
    }
}

impl SegmentKinds<'_> {
    /// The documents that are of a kind, in order.
    pub(super) fn partly(&self) -> Vec<DocId> {
        let mut docs = Vec::new();
        for kind in self.words.iter().flat_map(|word| &word.of_kind) {
            kind.for_each(|doc| docs.push(doc));
        }
        docs.sort_unstable();
        docs.dedup();
        docs
    }

    /// Whether its kinds may lift a document to this score that lacks a word.
    pub(super) fn lifts_over(&self, doc: DocId, score: f32) -> bool {
        let (all, missing) = self.of(doc);
        all != 0.0 && missing.is_some_and(|missing| PART_BELOW_MISSING * missing * ROUNDED >= score)
    }

    /// The documents that lack no word and are of a kind, in order.
    pub(super) fn whole(&self) -> Vec<DocId> {
        // Each of these has all of them: the kinds, and what has one of the words.
        let kinds: Vec<&SegmentDocs> = self.words.iter().flat_map(|word| word.of_kind.iter().copied()).collect();
        let words = self.words.iter().map(|word| {
            let others = word.with_other.iter().filter_map(|other| other.iter().min_by_key(|docs| docs.count()));
            word.with_text.iter().chain(others).copied().collect()
        });
        let count = |all: &Vec<&SegmentDocs>| all.iter().map(|docs| docs.count()).sum::<usize>();
        let Some(fewest) = std::iter::once(kinds).chain(words).min_by_key(count) else { return Vec::new() };
        let mut whole = Vec::new();
        for docs in fewest {
            docs.for_each(|doc| whole.extend(matches!(self.of(doc), (all, None) if all != 0.0).then_some(doc)));
        }
        whole.sort_unstable();
        whole.dedup();
        whole
    }

    /// What its kinds add to a document that has this score by its words.
    pub(super) fn bonus(&self, doc: DocId, score: f32) -> f32 {
        let (all, missing) = self.of(doc);
        if all == 0.0 { 0.0 } else { bounded(all, missing, score) }
    }

    /// The same of a document that lacks a word. `None`: it lacks none, and is of a kind.
    pub(super) fn bonus_of_part(&self, doc: DocId, score: f32) -> Option<f32> {
        match self.of(doc) {
            (0.0, _) => Some(0.0),
            (all, missing) => missing.map(|missing| bounded(all, Some(missing), score)),
        }
    }

    /// What the kinds of a document add where nothing is missing, and the worth of the rarest word that is.
    fn of(&self, doc: DocId) -> (f32, Option<f32>) {
        let kinds = self.words.iter().filter(|word| has_any(&word.of_kind, doc));
        let all: f32 = kinds.map(|word| PART * word.named.worth).sum();
        if all == 0.0 {
            return (0.0, None);
        }
        let missing = self.words.iter().filter(|word| word.lacks(doc));
        (all, missing.map(|word| word.named.worth).reduce(f32::max))
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

fn has_any(docs: &[&SegmentDocs], doc: DocId) -> bool {
    docs.iter().any(|docs| docs.has(doc))
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
            let word = |worth, kinds| NamedKind { worth, kinds, ..NamedKind::default() };
            let kinds = Kinds { words: vec![word(worth, vec![term]), word(missing, vec![])] };
            let reaches = score + bounded(PART * worth, Some(missing), score);
            prop_assert!(score > kinds.needed_for(reaches));
        }
    }
}
