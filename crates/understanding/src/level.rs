//! "Quick", "cheap", "easy": little or much of a quantity, where nothing else is said of it.

use forecourt_vocabulary::{PhraseMeaning, Quantity, WordClass};

use crate::filter::{Filter, SortOrder, Test};
use crate::found::{FoundMeaning, UnderstoodPart};
use crate::left_over::DEGREES;
use crate::paths::PRICE_LEVEL;
use crate::quantity::{by, within, words};
use crate::reader::Reader;

/// What "quick" promises, in minutes.
const QUICK_MINUTES: f64 = 30.0;
/// The part of all prices that counts as cheap, and the part that counts as expensive.
const THIRD: f64 = 1.0 / 3.0;

/// "Cheap", "quick", "easy": little or much of a quantity.
pub(crate) fn read_level(reader: &Reader<'_>, at: usize, _: usize) -> Option<UnderstoodPart> {
    let level = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Level(quantity, is_high) => Some((*quantity, *is_high)),
        _ => None,
    };
    let ((quantity, is_high), end) = reader.longest(at, level)?;
    let is_degree = at.checked_sub(1).is_some_and(|before| reader.says(before, DEGREES));
    let negated = if is_degree { at - 1 } else { at };
    // "Excel, but not for beginners": what is not little need not be much, and is told. What is not too much is little.
    if reader.is_behind(negated, WordClass::Not) {
        let meaning = match is_high && quantity != Quantity::Rating {
            true => FoundMeaning::Level(quantity, false),
            false => FoundMeaning::NotUnderstood,
        };
        return Some(UnderstoodPart::new(negated - 1..end, meaning));
    }
    Some(UnderstoodPart::new(at..end, FoundMeaning::Level(quantity, is_high)))
}

/// What little or much of a quantity is here: limits, the first of which is meant where an item keeps it beside the rest
/// of the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelLimit {
    pub(crate) limits: Vec<Filter>,
    /// The order that is meant where none is kept. `None`: the first limit holds all the same.
    pub(crate) order: Option<SortOrder>,
}

/// The limits that a level is here. What is little, the items say themselves.
pub(crate) fn level(reader: &Reader<'_>, quantity: Quantity, is_high: bool) -> Option<LevelLimit> {
    let amount = amount_level(reader, quantity, is_high);
    let limits = match quantity {
        Quantity::Price => price_levels(reader, amount, is_high),
        _ => amount.into_iter().collect(),
    };
    // What is easy is so for everybody, and what is cheap for what it is.
    let order = (quantity == Quantity::Price).then(|| by(reader, quantity, is_high));
    (!limits.is_empty()).then_some(LevelLimit { limits, order })
}

/// Signs of a price range such as "€€": up to the first is cheap, up to the second not expensive, and from the third on
/// expensive.
const CHEAP_SIGNS: f64 = 1.0;
const MODERATE_SIGNS: f64 = 2.0;
const EXPENSIVE_SIGNS: f64 = 3.0;

/// A limit of what something costs, or of the signs by which items say it.
fn price_levels(reader: &Reader<'_>, amount: Option<Filter>, is_high: bool) -> Vec<Filter> {
    if !reader.aids.known.has_number(PRICE_LEVEL) {
        return amount.into_iter().collect();
    }
    let words = reader.say(if is_high { "price_high_word" } else { "price_low_word" }, &[]);
    let signs = |(from, to)| within(PRICE_LEVEL, from, to, words.clone());
    let ends: &[(Option<f64>, Option<f64>)] = match is_high {
        true => &[(Some(EXPENSIVE_SIGNS), None)],
        false => &[(None, Some(CHEAP_SIGNS)), (None, Some(MODERATE_SIGNS))],
    };
    let any = |ends: &(Option<f64>, Option<f64>)| {
        let words = amount.as_ref().map_or(&words, |amount| &amount.words).clone();
        Filter::any_of(amount.iter().cloned().chain([signs(*ends)]).collect(), words)
    };
    ends.iter().map(any).collect()
}

/// The limit of amounts that a level is.
fn amount_level(reader: &Reader<'_>, quantity: Quantity, is_high: bool) -> Option<Filter> {
    let (known, id) = (reader.aids.known, quantity.id());
    let Some(path) = reader.path(quantity) else { return level_in_words(reader, quantity, is_high) };
    let at = |part: f64| known.quantile(path, part);
    let (from, to) = match (quantity, is_high) {
        // People agree on what is quick; what is cheap depends on what there is.
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

/// Where items say in words that they are as difficult as these tokens ask, and in which words.
pub(crate) fn difficulty_in_words(reader: &Reader<'_>, at: usize, end: usize) -> Option<(Vec<String>, Vec<String>)> {
    let mut meanings = reader.meanings(at).filter(|(_, behind)| *behind == end);
    let is_high = meanings.find_map(|(meaning, _)| match meaning {
        PhraseMeaning::Level(Quantity::Difficulty, is_high) => Some(*is_high),
        _ => None,
    })?;
    let filter = level_in_words(reader, Quantity::Difficulty, is_high)?;
    Some((filter.fields, reader.table.level(Quantity::Difficulty, is_high).to_vec()))
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
