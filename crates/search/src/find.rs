//! From what is asked to what was found, and what would be found if less were asked.

use forecourt_core::findings::LeftOut;
use forecourt_index::{Correction, Effect, Error, Hit, Library, Query};
use forecourt_loaders::item::SECTION;
use forecourt_sentences::Sentences;
use forecourt_understanding::{Filter, PartRole, Test};
use forecourt_vocabulary::folded;

use super::beside_limits;
use super::boost;
use super::broader::{self, BroaderSubject};
use super::closest;
use super::current;
use super::document::{self, SectionMatch};
use super::fact_question::is_question;
use super::features::{self, Features};
use super::head_noun::{HeadNoun, KINDS};
use super::kind_named;
use super::phrases::{content, content_words};
use super::request::NamedFilter;
use super::request::SearchRequest;
use super::sold_out;
use super::yes_or_no;
use crate::limits::COVERED_ITEMS;

/// What a search found, and what it did with the limits of the question.
#[derive(Debug, Default)]
pub(super) struct SearchResults {
    /// The best items, best first.
    pub(super) hits: Vec<Hit>,
    /// Whether there are more behind them.
    pub(super) has_more: bool,
    /// The constraints that were applied.
    pub(super) applied: Vec<Filter>,
    /// Filters by name of properties that no item has, and so were left out.
    pub(super) ignored: Vec<NamedFilter>,
    /// Filters by name whose values no item has: nothing is found for them.
    pub(super) unmet: Vec<UnmetFilter>,
    /// Whether items only share a word with the question, and none answers it.
    pub(super) is_off_topic: bool,
    /// Words of the question that no item has, and what was looked for instead.
    pub(super) corrections: Vec<Correction>,
    /// What would have been found, had less been asked.
    pub(super) relaxations: Vec<Relaxation>,
    /// How well the first hit answers, when it is a section of a document and that was looked at.
    pub(super) section: Option<SectionMatch>,
    /// Items that otherwise fit and don't state what a limit asks about.
    pub(super) left_out: Vec<LeftOut>,
    /// The words beside the limits, where nothing fits them and they were let go of.
    pub(super) unmatched: Option<String>,
    /// Words that say what is asked for and that no item has: they are told.
    pub(super) unknown: Vec<String>,
    /// What nothing here is, and the broader thing that was looked for instead.
    pub(super) broadened: Option<BroaderSubject>,
    /// What was asked whether the only hit keeps it, and it does not.
    pub(super) is_not_so: Option<String>,
    /// What things were asked for with, and none of them says that it has.
    pub(super) absent: Vec<String>,
    /// What was found and is sold out or offered no more: it is told, and not listed as if it could be had.
    pub(super) gone: Vec<Hit>,
    /// Whether nothing has all that was asked for, and what was found has some of it.
    pub(super) is_closest: bool,
}

/// What would have been found without a part of the question.
#[derive(Debug, Clone)]
pub(super) struct Relaxation {
    /// The part, in words: a limit, or the words beside the limits.
    pub(super) without: String,
    /// The best of what is found without it.
    pub(super) best: Hit,
}

/// A filter by name whose value no item has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnmetFilter {
    /// The name that the caller gave.
    pub(super) name: String,
    /// The value, in words.
    pub(super) value: String,
    /// Values that there are, the nearest first.
    pub(super) nearest: Vec<String>,
}

/// Searches for `results` items. When nothing is found, it is tried without each of the constraints.
pub(super) fn find(library: &Library, asked: &SearchRequest, results: usize) -> Result<SearchResults, Error> {
    let mut found = SearchResults { applied: asked.filters.clone(), ..SearchResults::default() };
    apply_named(library, &asked.named, &mut found)?;
    // NLWeb 3.1: a filter that nothing meets is said, not dropped. Results without it would look as if they met it.
    if !found.unmet.is_empty() {
        return Ok(found);
    }
    let mut query = query_of(library, asked, &found.applied, results);
    query.filters.extend(shelf(library, asked, &query.filters));
    let features = Features::of(library, asked, &query.filters)?;
    let leanings: Vec<String> = features.leanings().chain(asked.leanings.iter().cloned()).collect();
    let mut hits = match query.order.is_some() && !query.text.trim().is_empty() {
        true => kind_named::ordered(library, &query, asked)?,
        false => boost::search(library, &query, &leanings, &asked.unwanted)?,
    };
    let is_pinned = asked.adjustments.iter().any(|rule| rule.effect == Effect::Pin { even_alone: true });
    let is_first = asked.offset == 0 && !is_pinned;
    // A rocking chair under 100 is no other chair under 100.
    let is_otherwise = is_first && !found.applied.is_empty() && is_of_other_kinds(library, asked, &hits)?;
    if is_otherwise {
        hits.clear();
    }
    // One step up is nearer than whatever keeps the limits.
    if hits.is_empty()
        && (is_otherwise || is_first_page_empty(library, asked, &query)?)
        && !broaden(library, asked, &mut query, &mut hits, &mut found)?
    {
        let wordless = beside_limits::without_words(library, asked, &query)?;
        if let Some(wordless) = wordless.filter(|all| !all.is_empty()) {
            hits = wordless;
            query.text = String::new();
            found.unmatched = Some(content(&asked.text)).filter(|words| !words.is_empty());
        }
    }
    // With filters, what is found keeps what was asked for in full, whatever the words are.
    let is_words_alone = is_first && found.applied.is_empty() && found.broadened.is_none();
    if is_words_alone
        && answers_nothing(library, &asked.text, &hits)?
        && !broaden(library, asked, &mut query, &mut hits, &mut found)?
    {
        return Ok(SearchResults { is_off_topic: true, ..found });
    }
    let is_near =
        asked.offset == 0 && !beside_limits::is_named(asked) && kind_named::is_of_another_kind(library, &query, &hits)?;
    let near = is_near.then(|| std::mem::take(&mut hits).into_iter().next()).flatten();
    if is_first && near.is_none() {
        place_asked_of(library, asked, &query, &mut hits, &mut found)?;
    }
    if is_first {
        found.gone = keep_fitting(library, asked, &query, &features, &mut hits);
    }
    found.has_more = hits.len() > results;
    hits.truncate(results);
    found.relaxations = match hits.is_empty() && found.gone.is_empty() && asked.offset == 0 {
        true => relaxations(library, &query, near)?,
        false => Vec::new(),
    };
    found.hits = hits;
    with_what_is_told(library, asked, features, &query, found)
}

/// What was found, with what is told beside it.
fn with_what_is_told(
    library: &Library,
    asked: &SearchRequest,
    features: Features,
    query: &Query,
    mut found: SearchResults,
) -> Result<SearchResults, Error> {
    // Counted for the first page alone: further ones leave out the same items.
    found.left_out = if asked.offset == 0 { library.left_out(query)? } else { Vec::new() };
    found.corrections = library.corrections(query)?;
    tell_lacking(library, asked, features, &mut found)?;
    let told = [&asked.not_understood, &found.unknown, &found.absent];
    let is_told = told.iter().any(|told| !told.is_empty()) || found.unmatched.is_some() || found.broadened.is_some();
    found.is_closest = closest::lacks_something(library, asked, query, (&found.hits, &found.corrections), is_told)?;
    Ok(found)
}

/// Leaves out what was found and is no answer, and gives back what can't be had of it.
fn keep_fitting(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
    features: &Features,
    hits: &mut Vec<Hit>,
) -> Vec<Hit> {
    if query.order.is_none() {
        kind_named::only_called(library, &query.text, hits);
    }
    features::leave_out_denied(library, &features.present, hits);
    sold_out::taken_out(library, asked, hits)
}

/// Leaves the one place of which it is asked whether it is open then, where it is not: that is told.
fn place_asked_of(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
    hits: &mut Vec<Hit>,
    found: &mut SearchResults,
) -> Result<(), Error> {
    let Some((place, limit)) = yes_or_no::closed(library, asked, query, !hits.is_empty())? else { return Ok(()) };
    found.applied.retain(|filter| filter.words != limit);
    found.is_not_so = Some(limit);
    *hits = vec![place];
    Ok(())
}

/// Tells what nothing of what was found has: features, and words that no item has.
fn tell_lacking(
    library: &Library,
    asked: &SearchRequest,
    features: Features,
    found: &mut SearchResults,
) -> Result<(), Error> {
    let are_things = !found.hits.is_empty() && found.hits.iter().all(|hit| hit.item.get(SECTION).is_none());
    let unknown = if are_things { unknown_words(library, asked, &found.corrections)? } else { Vec::new() };
    found.absent = features.told(&found.hits);
    // What none has is told once.
    found.unmatched = found.unmatched.take().and_then(|words| features::without(&words, &found.absent));
    let is_told = |word: &String| {
        let told = found.absent.iter().chain(&found.unmatched);
        told.chain(found.broadened.iter().map(|one| &one.asked)).any(|told| told.split(' ').any(|other| other == word))
    };
    found.unknown = unknown.into_iter().filter(|word| !is_told(word)).collect();
    Ok(())
}

/// What is asked of the index, with the limits that hold.
fn query_of(library: &Library, asked: &SearchRequest, applied: &[Filter], results: usize) -> Query {
    Query {
        text: asked.text.clone(),
        filters: current::with_current(library, applied, asked.current.as_ref()),
        // One more than is shown tells whether there are more.
        limit: results + 1,
        offset: asked.offset,
        language: None,
        order: asked.order.clone(),
        adjustments: asked.adjustments.clone(),
        // What is cheapest is so, whoever can have it.
        sold_out_later: asked.order.is_none() && !applied.iter().any(boost::asks_availability),
        items_only: asked.items_only,
    }
}

/// The limit to the shelf that the words beside the limits name: a laptop under 800 is no vacuum cleaner. What a limit says
/// of shelves itself counts instead.
fn shelf(library: &Library, asked: &SearchRequest, filters: &[Filter]) -> Option<Filter> {
    let is_of_kind = |filter: &Filter| filter.fields.iter().any(|field| KINDS.contains(&field.as_str()));
    if filters.iter().any(is_of_kind) { None } else { library.shelf_limit(&asked.text) }
}

/// Searches one step up in what things are kinds of; whether that found something.
fn broaden(
    library: &Library,
    asked: &SearchRequest,
    query: &mut Query,
    hits: &mut Vec<Hit>,
    found: &mut SearchResults,
) -> Result<bool, Error> {
    let Some((broadened, wider, wide)) = broader::search(library, asked, query)? else { return Ok(false) };
    (*query, *hits, found.broadened) = (wider, wide, Some(broadened));
    Ok(true)
}

/// Adds the filters by name that some item meets, and tells of the others.
fn apply_named(library: &Library, all: &[NamedFilter], found: &mut SearchResults) -> Result<(), Error> {
    for named in all {
        let exactly = std::slice::from_ref(&named.filter);
        let mut known = Vec::new();
        for filters in [exactly, &named.loosely] {
            if known.is_empty() && !filters.is_empty() && is_known(library, filters)? {
                // The first reading that some item keeps: the value as it is, else as people say it.
                known = filters.to_vec();
            }
        }
        match known.is_empty() {
            false => found.applied.extend(known),
            true => match unmet(library, named)? {
                Some(unmet) => found.unmet.push(unmet),
                // No item has the property at all: the filter says nothing about them and is named as left out.
                None => found.ignored.push(named.clone()),
            },
        }
    }
    Ok(())
}

/// Whether nothing fits, and not only nothing more.
fn is_first_page_empty(library: &Library, asked: &SearchRequest, query: &Query) -> Result<bool, Error> {
    Ok(asked.offset == 0 || library.search(&Query { offset: 0, limit: 1, ..query.clone() })?.is_empty())
}

/// Lets the section of a document come first that answers best. None is left where none is about the question.
pub(super) fn choose_section(library: &Library, say: Sentences, asked: &SearchRequest, found: &mut SearchResults) {
    if asked.offset > 0 || asked.items_only || asked.order.is_some() {
        return;
    }
    found.section = document::choose(say, library, &asked.text, &mut found.hits);
    if found.section == Some(SectionMatch::Unrelated) && is_question(&asked.text) {
        found.hits.clear();
        found.has_more = false;
    }
}

/// Whether any item keeps these constraints.
fn is_known(library: &Library, filters: &[Filter]) -> Result<bool, Error> {
    let alone = Query { filters: filters.to_vec(), limit: 1, ..Query::default() };
    Ok(!library.search(&alone)?.is_empty())
}

/// What a filter asks for that no item keeps, if items have its property at all. NLWeb 3.1.
fn unmet(library: &Library, named: &NamedFilter) -> Result<Option<UnmetFilter>, Error> {
    for path in &named.filter.fields {
        if library.has_property(path)? {
            let value = match &named.filter.test {
                Test::Is(value) | Test::Mentions(value) => value.clone(),
                Test::OneOf(values) => values.join(", "),
                _ => behind_name(&named.filter.words).to_owned(),
            };
            let nearest = library.nearest_values(path, &value)?;
            return Ok(Some(UnmetFilter { name: named.name.clone(), value, nearest }));
        }
    }
    Ok(None)
}

fn behind_name(words: &str) -> &str {
    words.split_once(": ").map_or(words, |(_, value)| value)
}

/// Whether what was found only shares a word with the question.
fn answers_nothing(library: &Library, text: &str, hits: &[Hit]) -> Result<bool, Error> {
    // A model finds what is said in other words: it needs none of the question's own.
    if hits.is_empty() || library.has_model() {
        return Ok(false);
    }
    let first = &hits[..hits.len().min(COVERED_ITEMS)];
    // "I'm looking for a gin" is answered by what is a gin, whatever stands around it.
    if library.is_answered(text, first)? || library.is_answered(&content(text), first)? {
        return Ok(false);
    }
    // What is asked for is here; what else is said of it, nobody knows, and it is told.
    let are_things = first.iter().all(|hit| hit.item.get(SECTION).is_none());
    let head = HeadNoun::of(library, text).filter(|_| are_things);
    let is_here = head.is_some_and(|head| first.iter().any(|hit| head.is_it(hit)));
    Ok(!is_here || library.names_lacking_kind(text)?)
}

/// Letters of a word that is told where no item has it.
const TOLD_LETTERS_MIN: usize = 3;

/// The words that say what is asked for and that no item has, nor another name of what they name. With a model nothing is
/// told: it finds what is said in other words.
fn unknown_words(library: &Library, asked: &SearchRequest, corrections: &[Correction]) -> Result<Vec<String>, Error> {
    let mut unknown = Vec::new();
    if library.has_model() || asked.offset > 0 {
        return Ok(unknown);
    }
    let reading = &asked.reading;
    let subjects = reading.parts().filter(|part| part.role == PartRole::Subject).filter_map(|part| reading.words(part));
    for word in subjects.flat_map(content_words) {
        let is_read = corrections.iter().any(|correction| correction.written == folded(word));
        // "UK" and "TV" are words, and "in" is none.
        let is_long =
            word.chars().count() >= TOLD_LETTERS_MIN || (word.len() > 1 && word.chars().all(char::is_uppercase));
        let is_word = is_long && word.chars().all(char::is_alphabetic);
        let is_told = unknown.iter().any(|known| known == word);
        if is_word && !is_read && !is_told && !library.says_beside(word, reading.text())? {
            unknown.push(word.to_owned());
        }
    }
    Ok(unknown)
}

/// Whether a text names a kind of thing that none of these is, though they share a word with it.
fn is_of_other_kinds(library: &Library, asked: &SearchRequest, hits: &[Hit]) -> Result<bool, Error> {
    let text = asked.text.as_str();
    Ok(!hits.is_empty()
        && !beside_limits::is_named(asked)
        && library.names_lacking_kind(text)?
        && answers_nothing(library, text, hits)?)
}

/// What would be found with one part of the query less. `near`: the best that has some of its words and all its limits.
fn relaxations(library: &Library, query: &Query, near: Option<Hit>) -> Result<Vec<Relaxation>, Error> {
    let mut found = Vec::new();
    let mut without = |part: String, less: Query| -> Result<(), Error> {
        let best = library.search(&Query { limit: 1, ..less })?.pop();
        found.extend(best.map(|best| Relaxation { without: part, best }));
        Ok(())
    };
    for (at, left_out) in query.filters.iter().enumerate() {
        let mut filters = query.filters.clone();
        filters.remove(at);
        without(left_out.words.clone(), Query { filters, ..query.clone() })?;
    }
    // The words beside the limits, as the last that could be let go of: what keeps every limit is near, and is told as
    // what it is.
    let words = query.text.trim();
    match near {
        Some(best) => found.push(Relaxation { without: words.to_owned(), best }),
        None if words.is_empty() || query.filters.is_empty() => {}
        None => without(words.to_owned(), Query { text: String::new(), ..query.clone() })?,
    }
    Ok(found)
}
