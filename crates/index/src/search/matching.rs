//! Items that have all words of a question, for what is asked of all of them alike: an order, how many there
//! are, whether there is any. Ranking asks for any of the words instead.

use tantivy::query::{AllQuery, BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query as Search, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

use super::one_variant::limit_clauses;
use super::plan::filter_clauses;
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
    let mut clauses: Vec<(Occur, Box<dyn Search>)> = vec![(Occur::Must, Box::new(AllQuery))];
    let words: Vec<&str> = content_words(text, &tongues).take(QUERY_WORDS_MAX).collect();
    let folded: Vec<String> = words.iter().map(|word| fold_text(without_article(word))).collect();
    let subjects = subjects(snapshot, &tongues, text, &folded.iter().map(String::as_str).collect::<Vec<_>>());
    let mut at = 0;
    while at < words.len() {
        let named = subjects.at(at).filter(|subject| subject.words.start == at && !subject.others.is_empty());
        let end = named.map_or(at + 1, |subject| subject.words.end);
        // What only ties words together is asked of nothing.
        let saying = words[at..end].iter().zip(&folded[at..end]).filter(|(_, folded)| !subjects.is_tie(folded));
        let own: Option<Vec<_>> = saying.map(|(word, _)| any_stem(snapshot, word, &tongues)).collect();
        let own = own
            .filter(|words| !words.is_empty())
            .map(|words| -> Box<dyn Search> { Box::new(BooleanQuery::intersection(words)) });
        let others =
            named.into_iter().flat_map(|subject| &subject.others).map(|other| all_stems(snapshot, &other.stems));
        let names: Vec<Box<dyn Search>> = own.into_iter().chain(others).collect();
        if !names.is_empty() {
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(names)), 0.0))));
        }
        at = end;
    }
    clauses.extend(limit_clauses(snapshot, filters, &tongues, filter_clauses));
    Box::new(BooleanQuery::new(clauses))
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
fn any_stem(snapshot: &Snapshot, word: &str, tongues: &[LanguageAnalyzer]) -> Option<Box<dyn Search>> {
    let stems = tongues.iter().flat_map(|tongue| known_stems(snapshot, word, *tongue));
    let terms: Vec<Box<dyn Search>> = stems.map(one).collect();
    if terms.is_empty() { None } else { Some(Box::new(BooleanQuery::union(terms))) }
}

/// What has all of these stems.
fn all_stems(snapshot: &Snapshot, stems: &[String]) -> Box<dyn Search> {
    let term = |stem: &String| one(Term::from_field_text(snapshot.fields.text, stem));
    Box::new(BooleanQuery::intersection(stems.iter().map(term).collect()))
}

fn one(term: Term) -> Box<dyn Search> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
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

fn known_stems(snapshot: &Snapshot, word: &str, tongue: LanguageAnalyzer) -> Vec<Term> {
    let term = |stem: &str| Term::from_field_text(snapshot.fields.text, stem);
    let stems: Vec<Term> = Words::of(word, tongue).iter().map(term).collect();
    stems.into_iter().filter(|term| snapshot.doc_freq(term) > 0).collect()
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
    let mut all = Vec::new();
    for (at, filter) in query.filters.iter().enumerate() {
        let mut others = query.filters.clone();
        others.remove(at);
        let Some(unstated) = unstated(snapshot, filter, &query.text, &mut others) else { continue };
        let items = count(snapshot, &*unstated, LEFT_OUT_MAX)?;
        if items > 0 {
            all.push((filter.words.clone(), items));
        }
    }
    Ok(all)
}

/// What passes the other filters and does not state what this one asks about. `None`: every item does.
fn unstated(snapshot: &Snapshot, filter: &Filter, text: &str, others: &mut Vec<Filter>) -> Option<Box<dyn Search>> {
    if let Some(unstated) = filter.unstated() {
        others.push(unstated);
        return Some(matching(snapshot, text, others));
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
    let stated =
        filter_clauses(snapshot, &any, &tongues(snapshot)).into_iter().map(|(_, clause)| (Occur::MustNot, clause));
    let mut clauses = vec![(Occur::Must, matching(snapshot, text, others))];
    clauses.extend(stated);
    Some(Box::new(BooleanQuery::new(clauses)))
}
