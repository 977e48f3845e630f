//! A query in the search engine's terms. It is built from analysed words, never parsed: nothing
//! that a stranger types is syntax.

use std::collections::BTreeSet;
use std::ops::Bound;

use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, EnableScoring, Occur, Query as Search, RangeQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Term};

use super::query::{ClassLimit, Filter, Query, Test};
use super::spelling;
use crate::analysis::{LanguageAnalyzer, Words, fact_word, is_generic_word, is_stop_word, whole_fact};
use crate::classes::{CLASS, FREE_OF, STATED};
use crate::error::Result;
use crate::index::{Snapshot, number_key};
use crate::item::hash;
use crate::limits::{QUERY_BYTES_MAX, QUERY_WORDS_MAX, WHOLE_FACT_BYTES_MAX};

/// What a word in the name is worth beside the same word in the text, which has the name too.
const NAME_BOOST: f32 = 0.6;
/// What two of the query's neighbouring words side by side in the name are worth.
const PAIR_BOOST: f32 = 0.4;

/// Unknown words of a query that are read as others: the work is more than that of a known one.
const UNKNOWN_WORDS_READ: usize = 8;

/// A query that is ready to run.
pub(crate) struct Plan {
    /// Stems that are looked for, each with its idea of how often it was asked.
    pub(crate) stems: Vec<String>,
    pub(crate) tongue: LanguageAnalyzer,
    scored: Option<BooleanQuery>,
    filters: Vec<(Occur, Box<dyn Search>)>,
    asked_text: bool,
    /// Words of the text, known or not, the ones that say nothing included.
    pub(super) asked: usize,
    /// Whether the words say no more than that something to eat, read or see is wanted.
    is_generic: bool,
}

impl Plan {
    pub(crate) fn of(snapshot: &Snapshot, query: &Query, tongue: LanguageAnalyzer) -> Self {
        let text = head(&query.text);
        let content = content_words(text, tongue);
        // "Something quick" asks for nothing but quickness; alone, "something" would be looked for.
        let only_filters = query.text.trim().is_empty() || (content.is_empty() && !query.filters.is_empty());
        let kept = if content.is_empty() { text } else { &content };
        let mut tongues: Vec<LanguageAnalyzer> = snapshot.summary.tongues().filter(|other| *other != tongue).collect();
        tongues.insert(0, tongue);
        let mut terms = Terms { snapshot, clauses: Vec::new(), stems: Vec::new() };
        if !only_filters {
            terms.add(kept, &tongues);
            terms.add_pairs(text, &tongues);
        }
        let filters = query.filters.iter().flat_map(|filter| filter_clauses(snapshot, filter, &tongues)).collect();
        let scored = (!terms.clauses.is_empty()).then(|| BooleanQuery::new(terms.clauses));
        let asked = Words::of(text, tongue).len();
        let is_generic = content.split_whitespace().all(|word| is_generic_word(&bare(word), tongue));
        Self { stems: terms.stems, tongue, scored, filters, asked_text: !only_filters, asked, is_generic }
    }

    /// Lets go of the words where they asked for nothing in particular: "quick dinner" is answered
    /// by whatever is quick when nothing quick calls itself a dinner. Returns whether it did.
    pub(crate) fn relax(&mut self) -> bool {
        let relaxes = self.is_generic && self.asked_text && !self.filters.is_empty();
        if relaxes {
            self.scored = None;
            self.asked_text = false;
        }
        relaxes
    }

    /// Whether there was text to search for, known words or not.
    pub(crate) fn has_text(&self) -> bool {
        self.asked_text
    }

    /// Whether some documents may not be found, whatever they say.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.filters.is_empty()
    }

    /// What adds to a document's score.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &dyn Search> {
        let clauses = self.scored.iter().flat_map(|scored| scored.clauses());
        clauses.map(|(_, clause)| &**clause)
    }

    /// The words and the filters. `None` when there was text and no word of it is known.
    pub(crate) fn ranking(&self) -> Option<Box<dyn Search>> {
        match &self.scored {
            Some(scored) if self.filters.is_empty() => Some(Box::new(scored.clone())),
            Some(scored) => Some(self.with_filters(Box::new(scored.clone()))),
            None if self.asked_text => None,
            None => Some(self.only_filters()),
        }
    }

    fn only_filters(&self) -> Box<dyn Search> {
        self.with_filters(Box::new(AllQuery))
    }

    fn with_filters(&self, first: Box<dyn Search>) -> Box<dyn Search> {
        let mut clauses = vec![(Occur::Must, first)];
        clauses.extend(self.filters.iter().map(|(occur, query)| (*occur, query.box_clone())));
        Box::new(BooleanQuery::new(clauses))
    }

    /// Visits the living documents of a segment that pass the filters.
    pub(crate) fn allowed(&self, snapshot: &Snapshot, segment: usize, take: &mut dyn FnMut(DocId)) -> Result<()> {
        let reader = &snapshot.searcher.segment_readers()[segment];
        if self.filters.is_empty() {
            reader.doc_ids_alive().for_each(take);
            return Ok(());
        }
        let weight = self.only_filters().weight(EnableScoring::disabled_from_searcher(&snapshot.searcher))?;
        weight.for_each_no_score(reader, &mut |docs| {
            docs.iter().filter(|doc| !reader.is_deleted(**doc)).for_each(|doc| take(*doc));
        })?;
        Ok(())
    }
}

/// Collects the scored clauses.
struct Terms<'s> {
    snapshot: &'s Snapshot,
    clauses: Vec<(Occur, Box<dyn Search>)>,
    stems: Vec<String>,
}

impl Terms<'_> {
    /// The words, each as its stems in all tongues. The first tongue is the query's.
    fn add(&mut self, kept: &str, tongues: &[LanguageAnalyzer]) {
        let all: Vec<Words> = tongues.iter().map(|tongue| Words::of(kept, *tongue)).collect();
        let mut unknown = Vec::new();
        for at in 0..all.first().map_or(0, Words::len) {
            // Not a short circuit: every tongue may add a stem of its own.
            let known = all.iter().filter_map(|words| words.get(at)).fold(false, |known, stem| self.stem(stem) | known);
            if !known {
                unknown.push(at);
            }
        }
        for at in unknown.into_iter().take(UNKNOWN_WORDS_READ) {
            self.unknown(
                all.iter().zip(tongues).filter_map(|(words, tongue)| Some((words.get(at)?, *tongue))).collect(),
            );
        }
    }

    /// Words that stand side by side in the query, stop words too: names are full of them.
    fn add_pairs(&mut self, text: &str, tongues: &[LanguageAnalyzer]) {
        let mut pairs = BTreeSet::new();
        for tongue in tongues {
            let words = Words::of(text, *tongue);
            let neighbours = words.iter().zip(words.iter().skip(1)).take(QUERY_WORDS_MAX);
            pairs.extend(neighbours.map(|(first, second)| format!("{first} {second}")));
        }
        for pair in pairs.iter().take(QUERY_WORDS_MAX) {
            self.push(self.snapshot.fields.pairs, pair, PAIR_BOOST);
        }
    }

    /// A stem in text and name. Whether the index has it.
    fn stem(&mut self, stem: &str) -> bool {
        self.worth(stem, 1.0)
    }

    fn worth(&mut self, stem: &str, worth: f32) -> bool {
        let fields = self.snapshot.fields;
        if self.stems.iter().any(|other| other == stem) {
            return true;
        }
        if self.stems.len() == QUERY_WORDS_MAX || !self.push(fields.text, stem, worth) {
            return false;
        }
        self.push(fields.name, stem, worth * NAME_BOOST);
        self.stems.push(stem.to_owned());
        true
    }

    /// Adds a term if the index has it.
    fn push(&mut self, field: Field, word: &str, boost: f32) -> bool {
        let term = Term::from_field_text(field, word);
        if self.snapshot.doc_freq(&term) == 0 {
            return false;
        }
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        let boosted: Box<dyn Search> = match boost == 1.0 {
            true => Box::new(query),
            false => Box::new(BoostQuery::new(Box::new(query), boost)),
        };
        self.clauses.push((Occur::Should, boosted));
        true
    }

    /// A word that the index does not have, as its stems in all tongues: read as words that it has.
    fn unknown(&mut self, mut stems: Vec<(&str, LanguageAnalyzer)>) {
        stems.dedup_by_key(|(stem, _)| *stem);
        let mut readings: Vec<_> = stems.iter().flat_map(|(stem, _)| spelling::almost(self.snapshot, stem)).collect();
        if readings.is_empty() {
            readings = stems.iter().flat_map(|(stem, tongue)| spelling::parts(self.snapshot, stem, *tongue)).collect();
        }
        for (stem, worth) in readings {
            self.worth(&stem, worth);
        }
    }
}

/// The part of a text that is read.
pub(super) fn head(text: &str) -> &str {
    let mut end = text.len().min(QUERY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The text without stop words. Empty when there is nothing else.
pub(super) fn content_words(text: &str, tongue: LanguageAnalyzer) -> String {
    let is_content = |word: &&str| {
        let bare = bare(word);
        !bare.is_empty() && !is_stop_word(&bare, tongue)
    };
    text.split_whitespace().filter(is_content).collect::<Vec<_>>().join(" ")
}

/// A word in lower case without the punctuation around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

fn filter_clauses(snapshot: &Snapshot, filter: &Filter, tongues: &[LanguageAnalyzer]) -> Vec<(Occur, Box<dyn Search>)> {
    match &filter.test {
        Test::Is(value) if value.len() <= WHOLE_FACT_BYTES_MAX || filter.fields.iter().any(|field| is_key(field)) => {
            vec![must(any(filter.fields.iter().map(|field| one(whole_term(snapshot, field, value))).collect()))]
        }
        // A long value is not kept whole; what has all its words is taken for it.
        Test::Is(words) | Test::Mentions(words) => {
            let in_field =
                |field: &String| any(tongues.iter().map(|tongue| mentions(snapshot, field, words, *tongue)).collect());
            vec![must(any(filter.fields.iter().map(in_field).collect()))]
        }
        Test::OneOf(texts) => {
            let each = filter.fields.iter().flat_map(|field| texts.iter().map(move |text| (field, text)));
            let each = each.flat_map(|(field, text)| tongues.iter().map(move |tongue| (field, text, *tongue)));
            vec![must(any(each.map(|(field, text, tongue)| mentions(snapshot, field, text, tongue)).collect()))]
        }
        Test::Without { classes, words } => without(snapshot, classes, words, tongues),
        Test::Unstated(classes) => vec![must(unstated(snapshot, classes))],
        Test::OfClass(classes) => {
            vec![must(any(classes.iter().map(|class| one(mark(snapshot, CLASS, class))).collect()))]
        }
        Test::Within { from, to } => {
            let in_field = |field: &String| range(snapshot, field, *from, *to);
            vec![must(any(filter.fields.iter().map(in_field).collect()))]
        }
    }
}

fn must(query: Box<dyn Search>) -> (Occur, Box<dyn Search>) {
    (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)))
}

fn any(mut queries: Vec<Box<dyn Search>>) -> Box<dyn Search> {
    match queries.len() {
        0 => Box::new(EmptyQuery),
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::union(queries)),
    }
}

fn one(term: Term) -> Box<dyn Search> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// The term of a whole value. Ids and links are found by the item's key: they are its id.
fn whole_term(snapshot: &Snapshot, field: &str, value: &str) -> Term {
    match is_key(field) {
        true => Term::from_field_u64(snapshot.fields.key, hash(&[value.as_bytes()])),
        false => Term::from_field_text(snapshot.fields.facts, &whole_fact(field, value)),
    }
}

fn is_key(field: &str) -> bool {
    matches!(field, "@id" | "url")
}

fn mentions(snapshot: &Snapshot, field: &str, words: &str, tongue: LanguageAnalyzer) -> Box<dyn Search> {
    let words = Words::of(words, tongue);
    let mut terms: Vec<Box<dyn Search>> =
        words.iter().map(|word| one(Term::from_field_text(snapshot.fields.facts, &fact_word(field, word)))).collect();
    match terms.len() {
        0 => Box::new(EmptyQuery),
        1 => terms.remove(0),
        _ => Box::new(BooleanQuery::intersection(terms)),
    }
}

/// What has no such class and states as much, and none of the words.
fn without(
    snapshot: &Snapshot,
    classes: &[ClassLimit],
    words: &[String],
    tongues: &[LanguageAnalyzer],
) -> Vec<(Occur, Box<dyn Search>)> {
    let mut clauses: Vec<_> = classes.iter().map(|limit| must(stating(snapshot, limit))).collect();
    clauses.extend(classes.iter().map(|limit| (Occur::MustNot, one(mark(snapshot, CLASS, &limit.class)))));
    let each = words.iter().flat_map(|phrase| tongues.iter().map(move |tongue| (phrase, *tongue)));
    let unwanted = each.filter_map(|(phrase, tongue)| together(snapshot.fields.text, phrase, tongue));
    clauses.extend(unwanted.map(|query| (Occur::MustNot, query)));
    clauses
}

/// What says whether it keeps a limit: it states what it is made of, or promises that it does.
fn stating(snapshot: &Snapshot, limit: &ClassLimit) -> Box<dyn Search> {
    any(vec![one(mark(snapshot, STATED, &limit.area)), one(mark(snapshot, FREE_OF, &limit.class))])
}

/// What does not say of each class whether it has it.
fn unstated(snapshot: &Snapshot, classes: &[ClassLimit]) -> Box<dyn Search> {
    let mut clauses: Vec<(Occur, Box<dyn Search>)> = vec![(Occur::Must, Box::new(AllQuery))];
    let all = classes.iter().map(|limit| (Occur::Must, stating(snapshot, limit)));
    clauses.push((Occur::MustNot, Box::new(BooleanQuery::new(all.collect()))));
    if classes.is_empty() { Box::new(EmptyQuery) } else { Box::new(BooleanQuery::new(clauses)) }
}

/// The term of what the vocabulary says of items.
fn mark(snapshot: &Snapshot, path: &str, id: &str) -> Term {
    Term::from_field_text(snapshot.fields.facts, &whole_fact(path, id))
}

/// All words of a phrase, in any order.
fn together(field: Field, phrase: &str, tongue: LanguageAnalyzer) -> Option<Box<dyn Search>> {
    let words = Words::of(phrase, tongue);
    let mut terms: Vec<Box<dyn Search>> = words.iter().map(|word| one(Term::from_field_text(field, word))).collect();
    match terms.len() {
        0 => None,
        1 => Some(terms.remove(0)),
        _ => Some(Box::new(BooleanQuery::intersection(terms))),
    }
}

fn range(snapshot: &Snapshot, field: &str, from: Option<f64>, to: Option<f64>) -> Box<dyn Search> {
    if !snapshot.summary.numbers.contains(field) {
        return Box::new(EmptyQuery);
    }
    let bound = |value: f64| {
        let mut term = Term::from_field_json_path(snapshot.fields.numbers, &number_key(field), false);
        term.append_type_and_fast_value(value);
        Bound::Included(term)
    };
    let from = bound(from.unwrap_or(f64::MIN));
    let to = bound(to.unwrap_or(f64::MAX));
    Box::new(RangeQuery::new(from, to))
}
