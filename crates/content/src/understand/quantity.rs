//! Limits of quantities: "under 30 minutes", "at most 5 ingredients", "for 8 people", "4 stars or better", "20
//! bucks", and "quick" or "cheap" where nothing else is said.

use forecourt_vocabulary::{PhraseMeaning, Quantity, WordClass};

use super::amount::{Comparison, Span};
use super::found::{Found, FoundMeaning, Rank};
use super::reader::Reader;
use crate::search::{Filter, Test};

/// What "quick" promises, in minutes.
const QUICK_MINUTES: f64 = 30.0;
/// Of all prices, the part that is cheap, and the part that is dear.
const THIRD: f64 = 1.0 / 3.0;

/// What a quantity is limited to here.
pub(super) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<Found> {
    let (asked, behind) = asked_quantity(reader, at);
    let span = reader.span(behind)?;
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    let has_lead = start < at || behind > at;
    match quantity(reader, &span, asked, has_lead) {
        Resolved::Known(quantity, factor, path) => {
            let (from, to) = ends(reader, quantity, &span, has_lead)?;
            let (from, to) = (from.map(|end| end * factor), to.map(|end| end * factor));
            let filter = within(path, from, to, words(reader, quantity, from, to));
            let fields = reader.table.paths(quantity).iter().filter(|other| reader.aids.known.has_number(other));
            let fields = if quantity == Quantity::Price { fields.cloned().collect() } else { filter.fields.clone() };
            Some(Found::limit(start..span.end, Rank::Quantity(quantity), Filter { fields, ..filter }))
        }
        Resolved::NotChecked => Some(Found::new(start..span.end, FoundMeaning::NotUnderstood)),
        Resolved::None => None,
    }
}

/// What an amount is of.
enum Resolved {
    Known(Quantity, f64, &'static str),
    /// A limit of something that no item states.
    NotChecked,
    /// Mere words.
    None,
}

/// The quantity that words in front of an amount name.
fn asked_quantity(reader: &Reader<'_>, at: usize) -> (Option<Option<Quantity>>, usize) {
    let led = [
        (WordClass::Serves, Some(Quantity::People)),
        (WordClass::Rated, Some(Quantity::Rating)),
        (WordClass::Costs, Some(Quantity::Price)),
        (WordClass::For, None),
    ];
    let found = led.into_iter().filter_map(|(class, quantity)| Some((quantity, reader.class(at, class)?)));
    let longest = found.reduce(|best, next| if next.1 > best.1 { next } else { best });
    longest.map_or((None, at), |(quantity, end)| (Some(quantity), end))
}

fn quantity(reader: &Reader<'_>, span: &Span, asked: Option<Option<Quantity>>, has_lead: bool) -> Resolved {
    let is_limit = span.comparison != Comparison::Bare;
    let unchecked = |is_limit: bool| match is_limit && reader.states_facts() && !reader.is_name() {
        true => Resolved::NotChecked,
        false => Resolved::None,
    };
    if let Some(unit) = span.amount.unit {
        let mut measured = reader.table.measured(unit);
        let known = measured.find_map(|(quantity, factor)| Some((quantity, factor, reader.path(quantity)?)));
        let Some((quantity, factor, path)) = known else {
            let is_people = unit == forecourt_vocabulary::Unit::Person && asked.is_some();
            return unchecked(is_limit || is_people);
        };
        return Resolved::Known(quantity, factor, path);
    }
    let named = |quantity| match reader.path(quantity) {
        Some(path) => Resolved::Known(quantity, 1.0, path),
        None => unchecked(is_limit),
    };
    let ends = reader.ends_clause(span.end);
    let is_price = is_limit && span.amount.in_digits && span.comparison == Comparison::Compared;
    match asked {
        Some(Some(quantity)) if !span.amount.is_article => named(quantity),
        Some(None) if !is_limit && ends && !span.amount.is_article && reader.path(Quantity::People).is_some() => {
            named(Quantity::People)
        }
        // Where things have prices and take no time, a bare number can only be a price.
        _ if is_price && ends && reader.path(Quantity::Time).is_none() => named(Quantity::Price),
        _ => unchecked(is_price && ends && (has_lead || reader.path(Quantity::Price).is_some())),
    }
}

/// The ends of a limit. An amount without a comparison means what people mean by it.
fn ends(reader: &Reader<'_>, quantity: Quantity, span: &Span, has_lead: bool) -> Option<(Option<f64>, Option<f64>)> {
    let value = span.amount.value;
    if quantity == Quantity::Age {
        return Some((None, Some(span.to.unwrap_or(value))));
    }
    if span.comparison != Comparison::Bare {
        let is_count = matches!(quantity, Quantity::People | Quantity::Parts);
        let step = if span.is_strict && is_count { 1.0 } else { 0.0 };
        return Some((span.from.map(|from| from + step), span.to.map(|to| to - step)));
    }
    match quantity {
        Quantity::Time if span.amount.is_article && !has_lead && !span.amount.is_joined => None,
        // "127 hours" is a title, "a 90 minute film" is a limit.
        Quantity::Length => {
            let is_film = reader.class(span.end, WordClass::Kind).is_some() && !span.amount.is_article;
            is_film.then_some((Some(value * 0.9), Some(value * 1.1)))
        }
        Quantity::Rating | Quantity::People => Some((Some(value), None)),
        _ => (value > 0.0).then_some((None, Some(value))),
    }
}

/// A limit in words.
pub(super) fn words(reader: &Reader<'_>, quantity: Quantity, from: Option<f64>, to: Option<f64>) -> String {
    let spell = |end: f64| match quantity {
        Quantity::Time | Quantity::Length => reader.spell_minutes(end),
        _ => reader.spell(end),
    };
    let id = quantity.id();
    match (from, to) {
        (Some(from), Some(to)) => reader.say(&format!("{id}_between"), &[&spell(from), &spell(to)]),
        (Some(from), None) => reader.say(&format!("{id}_least"), &[&spell(from)]),
        (None, Some(to)) => reader.say(&format!("{id}_most"), &[&spell(to)]),
        (None, None) => String::new(),
    }
}

pub(super) fn within(path: &str, from: Option<f64>, to: Option<f64>, words: String) -> Filter {
    Filter { fields: vec![path.to_owned()], test: Test::Within { from, to }, words }
}

/// "Cheap", "quick", "easy": little or much of a quantity.
pub(super) fn read_level(reader: &Reader<'_>, at: usize, _: usize) -> Option<Found> {
    let level = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Level(quantity, is_high) => Some((*quantity, *is_high)),
        _ => None,
    };
    let ((quantity, is_high), end) = reader.longest(at, level)?;
    Some(Found::new(at..end, FoundMeaning::Level(quantity, is_high)))
}

/// The limit that a level is here. What is little, the items say themselves.
pub(super) fn level(reader: &Reader<'_>, quantity: Quantity, is_high: bool) -> Option<Filter> {
    let (known, id) = (reader.aids.known, quantity.id());
    let Some(path) = reader.path(quantity) else { return level_in_words(reader, quantity, is_high) };
    let at = |part: f64| known.quantile(path, part);
    let (from, to) = match (quantity, is_high) {
        (Quantity::Time, false) => (None, Some(QUICK_MINUTES)),
        (Quantity::Rating, true) => (Some(at(1.0 - THIRD)?), None),
        (_, false) => (None, Some(at(THIRD)?)),
        (_, true) => (Some(at(1.0 - THIRD)?), None),
    };
    let end = from.or(to)?;
    let words = match quantity {
        Quantity::Price | Quantity::Difficulty => {
            reader.say(&format!("{id}_{}", if is_high { "high" } else { "low" }), &[&reader.spell(end)])
        }
        _ => words(reader, quantity, from, to),
    };
    Some(within(path, from, to, words))
}

/// The same where items say it in words.
fn level_in_words(reader: &Reader<'_>, quantity: Quantity, is_high: bool) -> Option<Filter> {
    let values = reader.table.level(quantity, is_high);
    let has = |path: &&String| values.iter().any(|value| reader.aids.known.has_word(path, value));
    let fields: Vec<String> = reader.table.paths(quantity).iter().filter(has).cloned().collect();
    let end = if is_high { "high" } else { "low" };
    let words = reader.say(&format!("{}_{end}_word", quantity.id()), &[]);
    (!fields.is_empty()).then(|| Filter { fields, test: Test::OneOf(values.to_vec()), words })
}
