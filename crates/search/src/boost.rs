//! What is known of a caller in the order of what was found: an item that has more of those words comes
//! earlier. Among the first items only, so that pages follow on each other and nothing is left out.

use std::collections::BTreeSet;

use forecourt_index::{Error, Hit, Library, Query, RankedHits};
use forecourt_understanding::{AGES, Filter, Test};
use forecourt_vocabulary::PropertyTable;
use serde_json::Value;

use crate::head_noun::{BESIDE_WORTH, HeadNoun};
use crate::limits::LEANING_ITEMS_MAX;
use crate::unwanted::unwanted_later;

/// What one such word adds to an item's score, as part of it.
const WORTH: f32 = 0.15;
/// Words of one item that count.
const COUNTED_MAX: usize = 3;

/// Searches, with the first [`LEANING_ITEMS_MAX`] items in the order that `leanings` give them, and those that mention
/// something of `unwanted` behind what fits about as well.
pub(super) fn search(
    library: &Library,
    query: &Query,
    leanings: &[String],
    unwanted: &[String],
) -> Result<Vec<Hit>, Error> {
    // An order that the question asks for (`the cheapest`) is not changed by what is known of the caller.
    let leans = !leanings.is_empty() && query.order.is_none();
    if query.offset >= LEANING_ITEMS_MAX {
        return library.search(query);
    }
    let age = asked_age(&query.filters).filter(|_| query.order.is_none());
    let end = query.offset + query.limit;
    // From the first item on, whichever page is asked for: else an item could be on two pages or on none.
    let ranked = library.ranked(Query { offset: 0, limit: end.max(LEANING_ITEMS_MAX), ..query.clone() })?;
    let mut all = ranked.read(0..query.limit)?;
    // By the first page, for the same reason.
    let names = HeadNoun::ends(library, &query.text).filter(|_| query.order.is_none());
    let head = names.as_ref().map(|(last, _)| last).filter(|head| head.has_others(&all));
    let called = names.as_ref().and_then(|(last, first)| [last, first].into_iter().find(|head| head.calls(&all)));
    let called = called.filter(|called| called.tells_apart(&all));
    let by_names = head.is_some() || called.is_some();
    let is_more = leans || !unwanted.is_empty() || age.is_some() || ranked.pinned() > 0;
    if !is_more && by_names && end <= LEANING_ITEMS_MAX {
        let all = beside_later(&ranked, all, head, called, end)?;
        return Ok(told(&ranked, all.into_iter().skip(query.offset).take(query.limit)));
    }
    if is_more || by_names || query.offset > 0 {
        all.extend(ranked.read(query.limit..usize::MAX)?);
    }
    let mut all = if leans { lean(all, leanings) } else { all };
    if let Some(called) = called {
        let (pinned, first) = (pinned(&all), all.len().min(LEANING_ITEMS_MAX));
        called.called_first(&mut all[pinned.min(first)..first]);
    }
    if let Some(age) = age {
        let behind = pinned(&all)..all.len().min(LEANING_ITEMS_MAX);
        all[behind.clone()].iter_mut().for_each(|hit| hit.score *= nearness(&hit.item, age));
        all[behind].sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    if let Some(head) = head {
        let (pinned, first) = (pinned(&all), all.len().min(LEANING_ITEMS_MAX));
        head.first(&mut all[pinned.min(first)..first]);
    }
    if !unwanted.is_empty() {
        let pinned = pinned(&all);
        unwanted_later(&mut all[pinned..], unwanted, query.order.is_some(), library.vocabulary());
    }
    Ok(told(&ranked, all.into_iter().skip(query.offset).take(query.limit)))
}

/// Hits with what their texts say about the query.
fn told(ranked: &RankedHits, hits: impl Iterator<Item = Hit>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = hits.collect();
    hits.iter_mut().for_each(|hit| ranked.tell(hit));
    hits
}

/// Items that are read together, where the first of them do not tell which come first.
const READ_ON: usize = 5;

/// A hit, and what it counts as part of its score by what it is called, and by what it is.
type HitWeights = (Hit, [f32; 2]);

/// The first `end` hits, at least, where those come later that are not `called` so, and those that are only for what the
/// question names, where something is sorted in as it. As many are read as may be among these: to read one costs more than
/// to rank all. `all` are the first ones.
fn beside_later(
    ranked: &RankedHits,
    all: Vec<Hit>,
    head: Option<&HeadNoun>,
    called: Option<&HeadNoun>,
    end: usize,
) -> Result<Vec<Hit>, Error> {
    let later = |is_later: bool| if is_later { BESIDE_WORTH } else { 1.0 };
    let weigh = |hit: Hit| -> HitWeights {
        let by_call = later(called.is_some_and(|called| !called.is_mentioned(&hit)));
        let by_head = later(head.is_some_and(|head| head.is_beside(&hit)));
        (hit, [by_call, by_head])
    };
    let mut all: Vec<HitWeights> = all.into_iter().map(weigh).collect();
    let mut has_kind = false;
    let mut looked_at = 0;
    while let Some(next) = ranked.score(all.len()) {
        has_kind |= head.is_some_and(|head| all[looked_at..].iter().any(|(hit, _)| head.is_kind_of(hit)));
        looked_at = all.len();
        // Nothing behind counts more than the next one at its best.
        let sure = all.iter().filter(|(hit, worths)| hit.score * worths[0] * worths[1] > next).count();
        if sure >= end && (has_kind || head.is_none()) {
            break;
        }
        all.extend(ranked.read(all.len()..all.len() + READ_ON)?.into_iter().map(weigh));
    }
    has_kind |= head.is_some_and(|head| all[looked_at..].iter().any(|(hit, _)| head.is_kind_of(hit)));
    let orders = [called.is_some(), has_kind];
    for at in (0..orders.len()).filter(|at| orders[*at]) {
        all.iter_mut().for_each(|(hit, worths)| hit.score *= worths[at]);
        all.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
    }
    Ok(all.into_iter().map(|(hit, _)| hit).collect())
}

/// What a thing counts that is for much younger people, or does not say from which age on it is, as part of its score.
const YOUNGER_WORTH: f32 = 0.5;

/// The one age that is asked for. `None`: none is, or several are.
fn asked_age(filters: &[Filter]) -> Option<f64> {
    filters.iter().find_map(|filter| match filter.test {
        Test::Overlaps { from: Some(from), to: Some(to), .. } if filter.fields == AGES && from == to => Some(from),
        _ => None,
    })
}

/// How near the age from which on a thing is meant for somebody lies to theirs: of what is for six and what is for three
/// years on, the first is the better present for somebody of six.
fn nearness(item: &Value, age: f64) -> f32 {
    let places = ["/audience/suggestedMinAge", "/suggestedMinAge", "/audience/suggestedAge/minValue"];
    let from = places.iter().find_map(|place| item.pointer(place)?.as_f64());
    match from.filter(|from| (0.0..=age).contains(from) && age > 0.0) {
        Some(from) => 1.0 - (1.0 - YOUNGER_WORTH) * ((age - from) / age) as f32,
        None => YOUNGER_WORTH,
    }
}

/// How many of these hits are pinned, from the first on: nothing puts another one before them.
fn pinned(hits: &[Hit]) -> usize {
    hits.iter().take_while(|hit| hit.is_pinned).count()
}

/// Whether a limit is one of what can be had.
pub(super) fn asks_availability(filter: &Filter) -> bool {
    filter.fields.iter().any(|field| PropertyTable::shipped().texts.availability.contains(field))
}

fn lean(mut hits: Vec<Hit>, leanings: &[String]) -> Vec<Hit> {
    let first = hits.len().min(LEANING_ITEMS_MAX);
    let behind = pinned(&hits[..first])..first;
    for hit in &mut hits[behind.clone()] {
        let mut words = BTreeSet::new();
        gather(&hit.item, &mut words);
        let counted = leanings.iter().filter(|leaning| has(&words, leaning)).take(COUNTED_MAX).count();
        hit.score *= 1.0 + WORTH * counted as f32;
    }
    hits[behind].sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

/// Whether a word is there, in the singular or the plural.
fn has(words: &BTreeSet<String>, word: &str) -> bool {
    let single = word.strip_suffix('s').unwrap_or(word);
    words.contains(word) || words.contains(single) || words.contains(&format!("{single}s"))
}

/// The words of all texts of an item.
fn gather(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if !text.starts_with("http") => {
            let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.extend(split.map(str::to_lowercase));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, words)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::Vocabulary;
    use serde_json::json;

    use super::*;

    fn hit(name: &str, score: f32) -> Hit {
        Hit {
            score,
            id: name.to_owned(),
            item: json!({"name": name, "keywords": ["a", {"x": "Peas"}], "url": "https://sweet.example/"}).into(),
            name: name.to_owned(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
            is_pinned: false,
        }
    }

    fn order(hits: Vec<Hit>, leanings: &[&str]) -> Vec<String> {
        let leanings: Vec<String> = leanings.iter().map(|word| (*word).to_owned()).collect();
        lean(hits, &leanings).into_iter().map(|hit| hit.name).collect()
    }

    #[test]
    fn s3_2_what_has_more_of_the_words_comes_earlier() {
        let hits = || vec![hit("Plain soup", 1.0), hit("Sweet soup", 0.9), hit("Other", 0.5)];
        assert_eq!(order(hits(), &["sweet"]), ["Sweet soup", "Plain soup", "Other"]);
        assert_eq!(order(hits(), &["soups", "pea"]), ["Plain soup", "Sweet soup", "Other"]);
        assert_eq!(order(vec![hit("a", 1.0), hit("sweet", 0.5)], &["sweet"]), ["a", "sweet"], "it is no trump");
    }

    #[test]
    fn what_begins_nearest_to_an_age_is_best_for_it() {
        let worth = |from: f64| nearness(&json!({"audience": {"suggestedMinAge": from}}), 6.0);
        assert!(worth(6.0) > worth(3.0) && worth(3.0) > worth(1.0) && worth(0.0) >= YOUNGER_WORTH);
        assert!((nearness(&json!({}), 6.0) - YOUNGER_WORTH).abs() < f32::EPSILON);
    }

    #[test]
    fn what_is_pinned_stays_where_it_is() {
        let first = |name: &str| Hit { is_pinned: true, ..hit(name, 1.0) };
        let hits = || vec![first("Plain"), first("Sweet pinned"), hit("Plain soup", 1.0), hit("Sweet soup", 0.9)];
        assert_eq!(order(hits(), &["sweet"]), ["Plain", "Sweet pinned", "Sweet soup", "Plain soup"]);
        let later = |is_ordered: bool| {
            let mut hits = hits();
            let pinned = pinned(&hits);
            unwanted_later(&mut hits[pinned..], &["plain".to_owned()], is_ordered, &Vocabulary::shipped());
            hits.into_iter().map(|hit| hit.name).collect::<Vec<_>>()
        };
        assert_eq!(later(false), ["Plain", "Sweet pinned", "Sweet soup", "Plain soup"]);
        assert_eq!(later(true), ["Plain", "Sweet pinned", "Sweet soup", "Plain soup"]);
    }

    #[test]
    fn only_the_first_items_change_places() {
        let hits = |plain: usize| (0..plain).map(|_| hit("plain", 1.0)).chain([hit("sweet", 1.0)]).collect();
        assert_eq!(order(hits(LEANING_ITEMS_MAX - 1), &["sweet"])[0], "sweet");
        assert_eq!(order(hits(LEANING_ITEMS_MAX), &["sweet"])[0], "plain");
    }
}
