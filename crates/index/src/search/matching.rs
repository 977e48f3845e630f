//! Items that have all words of a question, for what is asked of all of them alike: an order, how many there
//! are, whether there is any. Ranking asks for any of the words instead.

use forecourt_retrieval::{Predicate, TermField};
use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query as Search};
use tantivy::schema::Field;
use tantivy::{DocSet, TERMINATED, Term};

use super::clauses::{Clause, clauses};
use super::one_variant::{limit_clauses, limit_predicates};
use super::other_names::OtherName;
use super::plan::{self, Plan};
use super::predicate::predicates;
use super::query::Query;
use super::subjects::subjects;
use crate::analysis::{LanguageAnalyzer, Words, fold_text, is_generic_word, is_stop_word};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::{LEFT_OUT_MAX, NAME_WORDS_MAX};
use forecourt_understanding::limits::QUERY_WORDS_MAX;
use forecourt_understanding::{Filter, Test};

/// What has all words of a text that the index knows, and passes the filters.
pub(super) fn matching(snapshot: &Snapshot, text: &str, filters: &[Filter]) -> Box<dyn Search> {
    let tongues = tongues(snapshot);
    Box::new(passing(snapshot, &all_words(snapshot, text, &tongues).known, filters, &tongues))
}

/// What passes these tests and the filters.
fn passing(snapshot: &Snapshot, tests: &[Predicate], filters: &[Filter], tongues: &[LanguageAnalyzer]) -> BooleanQuery {
    let mut all: Vec<Clause> = vec![(Occur::Must, Box::new(AllQuery))];
    all.extend(clauses(snapshot, tests));
    all.extend(limit_clauses(snapshot, filters, tongues));
    BooleanQuery::new(all)
}

/// What every item passes that has all words of a text and passes the filters.
pub(crate) fn matching_predicate(snapshot: &Snapshot, text: &str, filters: &[Filter]) -> Predicate {
    let tongues = tongues(snapshot);
    let mut all = all_words(snapshot, text, &tongues).known;
    all.extend(limit_predicates(&snapshot.summary, filters, &tongues));
    Predicate::All(all)
}

/// What every item passes that has a word of a query, or another name of what it names, and passes the filters.
pub(crate) fn any_word_predicate(snapshot: &Snapshot, query: &Query, default: LanguageAnalyzer) -> Result<Predicate> {
    let tongue = query.tongue(default);
    let mut all = limit_predicates(&snapshot.summary, &query.filters, &plan::tongues(&snapshot.summary, tongue));
    let plan = Plan::of(snapshot, query, tongue)?;
    if plan.has_text() {
        all.push(plan.words.any());
    }
    Ok(Predicate::All(all))
}

/// Whether some item has every word of a text, or another name of what it names, and passes the filters. A word that no
/// item has is not left out, as it is elsewhere.
pub(crate) fn says_all(snapshot: &Snapshot, text: &str, filters: &[Filter]) -> bool {
    let tongues = tongues(snapshot);
    let words = all_words(snapshot, text, &tongues);
    let any = || count(snapshot, &passing(snapshot, &words.known, filters, &tongues), 1);
    words.are_all_known && !words.known.is_empty() && any().is_ok_and(|found| found > 0)
}

/// What is asked of an item that has all words of a text.
struct AllWords {
    known: Vec<Predicate>,
    /// Whether each word that says something is among them.
    are_all_known: bool,
}

/// That all words of a text are there, of those that the index knows, or other names of what they name.
fn all_words(snapshot: &Snapshot, text: &str, tongues: &[LanguageAnalyzer]) -> AllWords {
    let words: Vec<&str> = content_words(text, tongues).take(QUERY_WORDS_MAX).collect();
    let folded: Vec<String> = words.iter().map(|word| fold_text(without_article(word))).collect();
    let subjects = subjects(snapshot, tongues, text, &folded.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut all, mut at, mut are_all_known) = (Vec::new(), 0, true);
    while at < words.len() {
        let named = subjects.at(at).filter(|subject| subject.words.start == at && !subject.others.is_empty());
        let end = named.map_or(at + 1, |subject| subject.words.end);
        // What only ties words together is asked of nothing.
        let saying = words[at..end].iter().zip(&folded[at..end]).filter(|(_, folded)| !subjects.is_tie(folded));
        let says_something = saying.clone().next().is_some();
        let own: Option<Vec<Predicate>> = saying.map(|(word, _)| any_stem(snapshot, word, tongues)).collect();
        let own = own.filter(|words| !words.is_empty()).map(Predicate::All);
        let others = named.into_iter().flat_map(|subject| &subject.others).map(OtherName::predicate);
        let names: Vec<Predicate> = own.into_iter().chain(others).collect();
        match names.is_empty() {
            false => all.push(Predicate::Any(names)),
            true => are_all_known &= !says_something,
        }
        at = end;
    }
    AllWords { known: all, are_all_known }
}

/// A word without what an apostrophe ties to it: "estomac" of "d'estomac", "chef" of "chef's".
fn without_article(word: &str) -> &str {
    match word.split_once(['\'', '\u{2019}']) {
        Some((before, after)) if after.chars().nth(1).is_none() => before,
        Some((_, after)) => after,
        None => word,
    }
}

/// What has a word, read in one of these languages. `None`: the index does not have it.
fn any_stem(snapshot: &Snapshot, word: &str, tongues: &[LanguageAnalyzer]) -> Option<Predicate> {
    let stems = tongues.iter().flat_map(|tongue| known_stems(snapshot, word, *tongue));
    let terms: Vec<Predicate> = stems.map(|stem| Predicate::Term(TermField::Words, stem)).collect();
    (!terms.is_empty()).then_some(Predicate::Any(terms))
}

/// The languages of the items, and English.
pub(super) fn tongues(snapshot: &Snapshot) -> Vec<LanguageAnalyzer> {
    let mut tongues = vec![LanguageAnalyzer::ENGLISH];
    tongues.extend(snapshot.summary.tongues().filter(|tongue| *tongue != LanguageAnalyzer::ENGLISH));
    tongues
}

/// The words that say something in at least one of the languages.
fn content_words<'t>(text: &'t str, tongues: &[LanguageAnalyzer]) -> impl Iterator<Item = &'t str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '\u{2019}'));
    words.filter(move |word| {
        let lower = word.to_lowercase();
        let says_nothing =
            |tongue: &LanguageAnalyzer| is_stop_word(&lower, *tongue) || is_generic_word(&lower, *tongue);
        // A word that means nothing in one of the languages can't be asked of every item.
        !lower.is_empty() && !tongues.iter().any(says_nothing)
    })
}

/// The stems of a word in one language that items have.
pub(super) fn known_stems(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> Vec<String> {
    let is_known = |stem: &&str| snapshot.doc_freq(&Term::from_field_text(snapshot.fields.text, stem)) > 0;
    Words::of(word, tongue).iter().filter(is_known).map(str::to_owned).collect()
}

/// Whether some item has all words of a text and passes the filters.
pub(super) fn has_any(snapshot: &Snapshot, text: &str, filters: &[Filter]) -> bool {
    count(snapshot, &*matching(snapshot, text, filters), 1).is_ok_and(|found| found > 0)
}

/// How many living items a query finds, at most `most`.
pub(super) fn count(snapshot: &Snapshot, query: &dyn Search, most: usize) -> Result<usize> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(&snapshot.searcher))?;
    let mut found = 0;
    for reader in snapshot.searcher.segment_readers() {
        let mut docs = weight.scorer(reader, 1.0)?;
        let mut doc = docs.doc();
        while doc != TERMINATED && found < most {
            // Scorers give deleted documents, too.
            found += usize::from(!reader.is_deleted(doc));
            doc = docs.advance();
        }
    }
    Ok(found)
}

/// Whether a text may be the name of an item: all its neighbouring words stand together in names.
pub(super) fn has_name(snapshot: &Snapshot, text: &str) -> bool {
    // "For beginners" stands in many names and is none.
    let says = |word: &&str| !is_stop_word(&word.to_lowercase(), LanguageAnalyzer::ENGLISH);
    if text.split_whitespace().filter(says).count() < 2 {
        return false;
    }
    let has = |field: Field, text: &str| snapshot.doc_freq(&Term::from_field_text(field, text)) > 0;
    tongues(snapshot).into_iter().any(|tongue| {
        let words = Words::of(text, tongue);
        let mut pairs = words.iter().zip(words.iter().skip(1));
        (2..=NAME_WORDS_MAX).contains(&words.len())
            && pairs.all(|(first, second)| has(snapshot.fields.pairs, &format!("{first} {second}")))
    })
}

/// For each limit, how many items that otherwise fit don't state what it asks about: at most [`LEFT_OUT_MAX`] each.
pub(crate) fn left_out(snapshot: &Snapshot, query: &Query) -> Result<Vec<(String, usize)>> {
    counted_left_out(snapshot, query, |text, others, unstated| {
        let mut all = vec![(Occur::Must, matching(snapshot, text, others))];
        all.extend(clauses(snapshot, unstated));
        count(snapshot, &BooleanQuery::new(all), LEFT_OUT_MAX)
    })
}

/// The same, counted by whoever holds the items: those that have all words of a text, keep these limits and pass these
/// tests.
pub(crate) fn counted_left_out(
    snapshot: &Snapshot,
    query: &Query,
    count: impl Fn(&str, &[Filter], &[Predicate]) -> Result<usize>,
) -> Result<Vec<(String, usize)>> {
    let mut all = Vec::new();
    for (at, filter) in query.filters.iter().enumerate() {
        let mut others = query.filters.clone();
        others.remove(at);
        let Some(unstated) = unstated(snapshot, filter, &mut others) else { continue };
        let items = count(&query.text, &others, &unstated)?;
        if items > 0 {
            all.push((filter.words.clone(), items));
        }
    }
    Ok(all)
}

/// The tests of what does not state what a limit asks about, or that as one more of the other limits. `None`: every item
/// does.
fn unstated(snapshot: &Snapshot, filter: &Filter, others: &mut Vec<Filter>) -> Option<Vec<Predicate>> {
    if let Some(unstated) = filter.unstated() {
        others.push(unstated);
        return Some(Vec::new());
    }
    // What states none of the properties of which one would do.
    if let Test::AnyOf(all) = &filter.test {
        let each: Option<Vec<Vec<Predicate>>> = all.iter().map(|one| unstated(snapshot, one, others)).collect();
        return each.map(|each| each.into_iter().flatten().collect());
    }
    let any = match filter.test {
        Test::Within { .. } | Test::Near { .. } => {
            Filter { test: Test::Within { from: None, to: None }, ..filter.clone() }
        }
        Test::NoneOf(_) => Filter { test: Test::NoneOf(Vec::new()), ..filter.clone() },
        Test::Overlaps { or_unstated: false, .. } => {
            Filter { test: Test::Overlaps { from: None, to: None, or_unstated: false }, ..filter.clone() }
        }
        _ => return None,
    };
    let stated = predicates(&snapshot.summary.numbers, &any, &tongues(snapshot));
    // That nothing is excluded says nothing of an item.
    let says = |predicate: &Predicate| !matches!(predicate, Predicate::Not(_));
    Some(stated.into_iter().filter(says).map(Predicate::negated).collect())
}
