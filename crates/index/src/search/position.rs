//! Where something is that has a name: a place that items are in, or an item.

use serde_json::Value;
use tantivy::Term;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query as Search, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::clauses::clauses as limits;
use super::matching::tongues;
use super::predicate::predicates;
use super::rank::by_key;
use crate::analysis::{Words, fold_text};
use crate::facts;
use crate::index::Snapshot;
use crate::limits::POSITIONS_READ;
use forecourt_understanding::{Filter, PLACE_PATHS, Test};

/// Where something of this name is: the middle of what lies in a place that is called so, else an item whose name is
/// this or has all of its words, the shortest name first.
pub(super) fn position(snapshot: &Snapshot, name: &str) -> Option<(f64, f64)> {
    let folded = fold_text(name.trim());
    if folded.is_empty() {
        return None;
    }
    let place = Filter {
        fields: PLACE_PATHS.iter().map(|path| (*path).to_owned()).collect(),
        test: Test::Is(name.trim().to_owned()),
        words: String::new(),
    };
    let mut clauses: Vec<(Occur, Box<dyn Search>)> = vec![(Occur::Must, Box::new(AllQuery))];
    clauses.extend(limits(snapshot, &predicates(&snapshot.summary.numbers, &place, &tongues(snapshot))));
    let in_place = positions(snapshot, &BooleanQuery::new(clauses), |_| true);
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    let (latitudes, longitudes): (Vec<f64>, Vec<f64>) = in_place.into_iter().map(|(_, at)| at).unzip();
    if let (Some(latitude), Some(longitude)) = (middle(latitudes), middle(longitudes)) {
        return Some((latitude, longitude));
    }
    let words: Vec<String> = folded.split_whitespace().map(str::to_owned).collect();
    let has_all = |other: &str| {
        let other = fold_text(other);
        let has = |word: &String| other.split(|c: char| !c.is_alphanumeric()).any(|one| one == word);
        words.iter().all(has)
    };
    let mut named = positions(snapshot, &*named(snapshot, name), has_all);
    named.sort_by_key(|(name, _)| name.chars().count());
    named.first().map(|(_, at)| *at)
}

/// What has all words of a name somewhere.
fn named(snapshot: &Snapshot, name: &str) -> Box<dyn Search> {
    let terms = |words: Words| -> Vec<Box<dyn Search>> {
        let one = |word: &str| -> Box<dyn Search> {
            let term = Term::from_field_text(snapshot.fields.text, word);
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        };
        words.iter().map(one).collect()
    };
    let each = tongues(snapshot)
        .into_iter()
        .map(|tongue| -> Box<dyn Search> { Box::new(BooleanQuery::intersection(terms(Words::of(name, tongue)))) });
    Box::new(BooleanQuery::union(each.collect()))
}

/// The names and positions of some items that a query finds and whose names fit.
fn positions(snapshot: &Snapshot, query: &dyn Search, fits: impl Fn(&str) -> bool) -> Vec<(String, (f64, f64))> {
    // What can't be read is passed over: the search itself will fail, and say why.
    let found = by_key(snapshot, query, POSITIONS_READ).unwrap_or_default();
    let stored = found.into_iter().filter_map(|one| snapshot.stored(one.address).ok());
    stored.filter(|item| fits(&item.name)).filter_map(|item| Some((item.name, stated(&item.item)?))).collect()
}

/// The first position that an item states.
fn stated(item: &Value) -> Option<(f64, f64)> {
    let (mut latitude, mut longitude) = (None, None);
    facts::visit(item, |fact| match fact.path.rsplit('.').next() {
        Some("latitude") => latitude = latitude.or(fact.number),
        Some("longitude") => longitude = longitude.or(fact.number),
        _ => {}
    });
    latitude.zip(longitude)
}
