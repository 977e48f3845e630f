//! A query in the search engine's terms. It is built from analysed words, never parsed: nothing
//! that a stranger types is syntax.

use std::borrow::Cow;
use std::ops::Bound;

use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, EnableScoring, Occur, Query as Search, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Term};

use super::circle::Circle;
use super::kinds::Kinds;
use super::one_variant::limit_clauses;
use super::query::Query;
use super::query_words::QueryWords;
use super::range::range;
use super::spelling::Correction;
use super::terms::{ScoredTerms, Terms};
use super::variant_tests::VariantTests;
use crate::analysis::{
    LanguageAnalyzer, Words, bare_word, content_words, fact_word, fold_text, is_generic_word, whole_fact,
};
use crate::classes::{CLASS, FREE_OF, STATED};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::WHOLE_FACT_BYTES_MAX;
use forecourt_loaders::item::hash;
use forecourt_understanding::limits::QUERY_BYTES_MAX;
use forecourt_understanding::{ClassLimit, FORBIDDING, Filter, PERMITTING, Test};

/// The property that sorts items in.
const CATEGORY: &str = "category";

/// A query that is ready to run.
pub(crate) struct Plan {
    /// Words that are looked for, each once.
    pub(crate) words: QueryWords,
    /// Words of the text that no item has, and what was looked for instead.
    pub(crate) corrections: Vec<Correction>,
    pub(crate) tongue: LanguageAnalyzer,
    /// What is added to the scores of items of the kinds that the words name.
    pub(super) kinds: Kinds,
    scored: Option<BooleanQuery>,
    filters: Vec<(Occur, Box<dyn Search>)>,
    /// What the filters ask of one variant of an item.
    pub(super) variants: VariantTests,
    asked_text: bool,
    /// Whether the words say no more than that something to eat, read or see is wanted.
    is_generic: bool,
}

impl Plan {
    pub(crate) fn of(snapshot: &Snapshot, query: &Query, tongue: LanguageAnalyzer) -> Result<Self> {
        let text = head(&query.text);
        let content = content_words(text, tongue);
        // "Something quick" asks for nothing but quickness; alone, "something" would be looked for.
        let only_filters = query.text.trim().is_empty() || (content.is_empty() && !query.filters.is_empty());
        // A question of stop words alone, such as `the who`, looks for these: the index has them.
        let kept = if content.is_empty() { text } else { &content };
        let tongues = tongues(snapshot, tongue);
        let mut terms = Terms::new(snapshot, &tongues);
        if !only_filters {
            terms.add(kept, text);
            // The whole text: names keep stop words that the words of a query go without.
            let read = read_as(text, terms.corrections());
            terms.add_names(&read);
        }
        let filters = limit_clauses(snapshot, &query.filters, &tongues, filter_clauses);
        let variants = VariantTests::of(&query.filters, &tongues);
        let ScoredTerms { words, corrections, query: scored } = terms.finish();
        let kinds = Kinds::of(snapshot, words.all())?;
        let is_generic = content.split_whitespace().all(|word| is_generic_word(&bare_word(word), tongue));
        let asked_text = !only_filters;
        Ok(Self { words, corrections, kinds, tongue, scored, filters, variants, asked_text, is_generic })
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

    /// The text with its corrections: a model knows no more of misspelled words than the index does.
    pub(super) fn corrected<'t>(&self, text: &'t str) -> Cow<'t, str> {
        read_as(text, &self.corrections)
    }

    /// Whether there was text to search for, known words or not.
    pub(crate) fn has_text(&self) -> bool {
        self.asked_text
    }

    /// Whether some documents may not be found, whatever they say.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.filters.is_empty()
    }

    /// The clauses that add to a document's score.
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

/// A text with its corrections.
fn read_as<'t>(text: &'t str, corrections: &[Correction]) -> Cow<'t, str> {
    if corrections.is_empty() {
        return Cow::Borrowed(text);
    }
    let read = |word: &str| {
        let correction = corrections.iter().find(|correction| correction.written == fold_text(bare(word)));
        correction.map_or_else(|| word.to_owned(), |correction| word.replace(bare(word), &correction.read_as()))
    };
    Cow::Owned(text.split_whitespace().map(read).collect::<Vec<_>>().join(" "))
}

/// The words that a query of this text looks for, without what else makes a plan.
pub(super) fn words_of(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> QueryWords {
    terms_of(snapshot, text, tongue).words
}

/// The same with the corrections.
pub(super) fn terms_of(snapshot: &Snapshot, text: &str, tongue: LanguageAnalyzer) -> ScoredTerms {
    let text = head(text);
    let content = content_words(text, tongue);
    let tongues = tongues(snapshot, tongue);
    let mut terms = Terms::new(snapshot, &tongues);
    terms.add(if content.is_empty() { text } else { &content }, text);
    terms.finish()
}

/// The tongue of a query, and those of items.
fn tongues(snapshot: &Snapshot, tongue: LanguageAnalyzer) -> Vec<LanguageAnalyzer> {
    let others = snapshot.summary.tongues().filter(|other| *other != tongue);
    std::iter::once(tongue).chain(others).collect()
}

/// The part of a text that is read.
pub(super) fn head(text: &str) -> &str {
    let mut end = text.len().min(QUERY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

pub(super) fn filter_clauses(
    snapshot: &Snapshot,
    filter: &Filter,
    tongues: &[LanguageAnalyzer],
) -> Vec<(Occur, Box<dyn Search>)> {
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
        Test::OneOf(texts) => vec![must(mention_any(snapshot, &filter.fields, texts, tongues))],
        Test::IsOneOf { values, or_sorted_as } => {
            vec![must(is_one_of(snapshot, &filter.fields, values, or_sorted_as, tongues))]
        }
        Test::Permits => permits(snapshot, &filter.fields, tongues),
        Test::NoneOf(values) => none_of(snapshot, filter, values, tongues),
        Test::Overlaps { from, to, or_unstated } => overlaps(snapshot, &filter.fields, (*from, *to), *or_unstated),
        Test::Without { classes, words } => without(snapshot, classes, words, tongues),
        Test::Unstated(classes) => vec![must(unstated(snapshot, classes))],
        Test::Near { .. } => Circle::of(filter).map(|circle| must(circle.query(snapshot))).into_iter().collect(),
        Test::OfClass(classes) => {
            vec![must(any(classes.iter().map(|class| one(mark(snapshot, CLASS, class))).collect()))]
        }
        Test::Within { from, to } => {
            let in_field = |field: &String| range(snapshot, field, *from, *to);
            vec![must(any(filter.fields.iter().map(in_field).collect()))]
        }
    }
}

/// What states one of some values, or states none and is sorted in as one of some words.
fn is_one_of(
    snapshot: &Snapshot,
    fields: &[String],
    values: &[String],
    or_sorted_as: &[String],
    tongues: &[LanguageAnalyzer],
) -> Box<dyn Search> {
    let mut either = vec![mention_any(snapshot, fields, values, tongues)];
    if !or_sorted_as.is_empty() {
        let each = or_sorted_as.iter().flat_map(|words| tongues.iter().map(move |tongue| (words, *tongue)));
        let sorted = any(each.map(|(words, tongue)| mentions(snapshot, CATEGORY, words, tongue)).collect());
        let mut clauses: Vec<(Occur, Box<dyn Search>)> = vec![(Occur::Must, sorted)];
        // What it states counts before where it lies.
        clauses.extend(fields.iter().map(|field| (Occur::MustNot, states(snapshot, field))));
        either.push(Box::new(BooleanQuery::new(clauses)));
    }
    any(either)
}

/// What warns in a property with a word that permits, and with none that does not.
fn permits(snapshot: &Snapshot, fields: &[String], tongues: &[LanguageAnalyzer]) -> Vec<(Occur, Box<dyn Search>)> {
    let has = |words: &[&str]| mention_any(snapshot, fields, words, tongues);
    vec![must(has(PERMITTING)), (Occur::MustNot, has(FORBIDDING))]
}

/// What mentions one of some texts in one of some properties.
fn mention_any<T: AsRef<str>>(
    snapshot: &Snapshot,
    fields: &[String],
    texts: &[T],
    tongues: &[LanguageAnalyzer],
) -> Box<dyn Search> {
    let each = fields.iter().flat_map(|field| texts.iter().map(move |text| (field, text.as_ref())));
    let each = each.flat_map(|(field, text)| tongues.iter().map(move |tongue| (field, text, *tongue)));
    any(each.map(|(field, text, tongue)| mentions(snapshot, field, text, tongue)).collect())
}

/// What states a property, and mentions none of these texts in it.
fn none_of(
    snapshot: &Snapshot,
    filter: &Filter,
    values: &[String],
    tongues: &[LanguageAnalyzer],
) -> Vec<(Occur, Box<dyn Search>)> {
    let stated = filter.fields.iter().map(|field| states(snapshot, field)).collect();
    vec![must(any(stated)), (Occur::MustNot, mention_any(snapshot, &filter.fields, values, tongues))]
}

/// What states a property, as a text or as a number.
fn states(snapshot: &Snapshot, field: &str) -> Box<dyn Search> {
    if snapshot.summary.numbers.contains(field) {
        return range(snapshot, field, None, None);
    }
    // Terms of a property begin with its code, whole values and words alike.
    let term = |text: &str| Term::from_field_text(snapshot.fields.facts, text);
    let prefix = fact_word(field, "");
    let behind = format!("{prefix}{}", char::MAX);
    Box::new(RangeQuery::new(Bound::Included(term(&prefix)), Bound::Excluded(term(&behind))))
}

/// What lies between two properties and has something of a range. Where neither end is stated it passes if it may.
fn overlaps(
    snapshot: &Snapshot,
    fields: &[String],
    (from, to): (Option<f64>, Option<f64>),
    or_unstated: bool,
) -> Vec<(Occur, Box<dyn Search>)> {
    let [lower, upper] = fields else { return vec![must(Box::new(EmptyQuery))] };
    if !or_unstated {
        return vec![must(range(snapshot, lower, None, to)), must(range(snapshot, upper, from, None))];
    }
    // An end that is next to a limit is outside of it: ages are whole years.
    let beyond = to.map(|to| range(snapshot, lower, Some(to + 1.0), None));
    let below = from.map(|from| range(snapshot, upper, None, Some(from - 1.0)));
    let outside = [beyond, below].into_iter().flatten().map(|query| (Occur::MustNot, query));
    std::iter::once(must(Box::new(AllQuery))).chain(outside).collect()
}

fn must(query: Box<dyn Search>) -> (Occur, Box<dyn Search>) {
    // A filter lets documents through and adds nothing to their scores.
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

/// All words of a phrase, in any order: the index keeps no positions.
fn together(field: Field, phrase: &str, tongue: LanguageAnalyzer) -> Option<Box<dyn Search>> {
    let words = Words::of(phrase, tongue);
    let mut terms: Vec<Box<dyn Search>> = words.iter().map(|word| one(Term::from_field_text(field, word))).collect();
    match terms.len() {
        0 => None,
        1 => Some(terms.remove(0)),
        _ => Some(Box::new(BooleanQuery::intersection(terms))),
    }
}
