//! Superlatives and counts: "the cheapest", "most recent", "three soups", "top 5".

use forecourt_vocabulary::{PhraseMeaning, Quantity, WordClass};

use crate::filter::SortOrder;
use crate::found::{FoundMeaning, UnderstoodPart};
use crate::learnt::LearntMeaning;
use crate::limits::ITEMS_ASKED_MAX;
use crate::reader::Reader;
use crate::{quantity, value};

/// Words between a superlative and what it goes by.
const BY: &[&str] = &["by", "nach", "par", "por"];

/// What may begin like an order and compares with an amount.
const COMPARISONS: [WordClass; 7] = [
    WordClass::AtMost,
    WordClass::LessThan,
    WordClass::AtLeast,
    WordClass::MoreThan,
    WordClass::Before,
    WordClass::After,
    WordClass::Since,
];

/// Words between a superlative and the unit that says once more what it goes by.
const SAID_AGAIN_WORDS_MAX: usize = 8;

/// The order that is asked for here.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    said_again(reader, at).or_else(|| superlative(reader, at, floor))
}

/// "The longest course by hours" says at its end once more what it goes by. A unit of something else says nothing of it.
fn said_again(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let (unit, end) = if reader.says(at, BY) { reader.unit(at + 1)? } else { return None };
    let is_in_unit = |quantity: &Quantity| reader.table.measured(unit).any(|(measured, _)| measured == *quantity);
    let is_said = |before: &usize| {
        extreme(reader, *before).is_some_and(|(quantity, ..)| may_mean(quantity).iter().any(is_in_unit))
    };
    let before = (at.saturating_sub(SAID_AGAIN_WORDS_MAX + 1)..at).rev().find(is_said)?;
    Some(UnderstoodPart { tokens: at..end, ..superlative(reader, before, before)? })
}

/// The least (`false`) or the most of a quantity that is said here, and the token behind it.
fn extreme(reader: &Reader<'_>, at: usize) -> Option<(Quantity, bool, usize)> {
    let order = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Order(quantity, descending) => Some((*quantity, *descending)),
        _ => None,
    };
    reader.longest(at, order).map(|((quantity, descending), end)| (quantity, descending, end))
}

/// The quantities that a superlative of one may mean: `shortest` asks for the time that a recipe takes, or for the length
/// of a film where items have no other time.
fn may_mean(quantity: Quantity) -> Vec<Quantity> {
    if quantity == Quantity::Time { vec![Quantity::Time, Quantity::Length] } else { vec![quantity] }
}

/// The orders by quantities that a superlative here may mean.
pub(crate) fn by_quantities(reader: &Reader<'_>, at: usize) -> impl Iterator<Item = SortOrder> {
    let said = extreme(reader, at).into_iter();
    let all =
        said.flat_map(|(quantity, descending, _)| may_mean(quantity).into_iter().map(move |one| (one, descending)));
    all.map(|(quantity, descending)| quantity::by(reader, quantity, descending))
        .filter(|order| !order.fields.is_empty())
}

fn superlative(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let (quantity, descending, end) = extreme(reader, at)?;
    // "Cheaper than 20 euros" is a limit, and "older people" are no order.
    let compares = |other: &usize| *other > end && reader.amount(*other).is_some();
    let goes_on = COMPARISONS.iter().filter_map(|class| reader.class(at, *class)).any(|other| compares(&other));
    if goes_on || reader.learnt(at).any(|(_, other)| other > end) {
        return None;
    }
    let start = reader.absorb(at, WordClass::Article, floor);
    let known = may_mean(quantity).into_iter().map(|quantity| quantity::by(reader, quantity, descending));
    let Some(order) = known.into_iter().find(|order| !order.fields.is_empty()) else {
        let is_limit = reader.states_facts() && !reader.is_name();
        return is_limit.then(|| UnderstoodPart::new(start..end, FoundMeaning::NotUnderstood));
    };
    // `The Longest Day` is a film, and no order by length.
    if reader.is_name() {
        return None;
    }
    Some(UnderstoodPart::new(start..behind_first(reader, end), FoundMeaning::Order(order, Vec::new())))
}

/// Words behind a superlative that say that it is an order, without accents: "cheapest first".
const FIRST: &[&[&str]] = &[
    &["first"],
    &["zuerst"],
    &["voran"],
    &["d", "abord"],
    &["dabord"],
    &["en", "premier"],
    &["en", "premiere"],
    &["primero"],
    &["primera"],
];

/// The token behind such words, where they stand here.
pub(crate) fn behind_first(reader: &Reader<'_>, at: usize) -> usize {
    let begin = at + usize::from(reader.is_mark(at, ','));
    let found = FIRST.iter().find(|words| words.iter().enumerate().all(|(of, word)| reader.says(begin + of, &[*word])));
    found.map_or(at, |words| begin + words.len())
}

/// How many items are asked for here.
pub(crate) fn read_count(reader: &Reader<'_>, at: usize, _: usize) -> Option<UnderstoodPart> {
    let top = reader.class(at, WordClass::Top);
    let asks = reader.class(at, WordClass::Asks);
    let behind = top.or(asks).unwrap_or(at);
    // Without a word that asks, a number counts items only where the question begins with it: `pasta with three
    // cheeses` does not.
    if behind == at && at > 0 {
        return None;
    }
    let (number, end, is_article) = reader.number(behind)?;
    let is_count = number.fract() == 0.0 && (1.0..=ITEMS_ASKED_MAX as f64).contains(&number) && !is_article;
    let has_unit = reader.meanings(end).any(|(meaning, _)| matches!(meaning, PhraseMeaning::Unit(_)));
    let is_told = match (top, asks) {
        (Some(_), _) => reader.token(end).is_none_or(|token| token.is_word() && !token.is_joined),
        _ => names_items(reader, end),
    };
    let is_count = is_count && is_told && !has_unit && !reader.is_name();
    is_count.then(|| UnderstoodPart::new(at..end, FoundMeaning::Count(number as usize)))
}

/// Words that describe what is counted, in front of it.
const DESCRIBED_MAX: usize = 3;

/// Whether a word says a limit of what is counted.
fn describes(reader: &Reader<'_>, at: usize) -> bool {
    let is_said = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::Diet(_) | PhraseMeaning::Level(..));
    let states = |meaning: &LearntMeaning| matches!(meaning, LearntMeaning::Values(..) | LearntMeaning::Ages(..));
    reader.meanings(at).any(|(meaning, end)| end == at + 1 && is_said(meaning))
        || reader.learnt(at).any(|(meaning, end)| end == at + 1 && states(meaning))
}

/// Whether the next words say what items are: "three soups", not "three cheese pizza".
fn names_items(reader: &Reader<'_>, at: usize) -> bool {
    // "Two paperbacks with few pages": what they are is a value that items state.
    let is_value = |at: usize| {
        let states = |meaning: &LearntMeaning| matches!(meaning, LearntMeaning::Values(..));
        let ends =
            |end: usize| reader.ends_clause(end) || COMPARISONS.iter().any(|class| reader.class(end, *class).is_some());
        reader.learnt(at).any(|(meaning, end)| states(meaning) && ends(end))
    };
    if (at..at + DESCRIBED_MAX).take_while(|at| describes(reader, *at)).any(is_value) {
        return true;
    }
    // "Three vegan soups": what is said of them comes first.
    let at = (at..at + DESCRIBED_MAX).find(|at| !describes(reader, *at)).unwrap_or(at);
    let Some(token) = reader.token(at).filter(|token| token.is_word() && !token.is_joined) else { return false };
    let is_kind =
        reader.class(at, WordClass::Kind).is_some() || reader.aids.vocabulary.kind_named(&token.word).is_some();
    is_kind
        || (reader.ends_clause(at + 1) && value::is_sort(reader.aids.known, &token.word))
        || (reader.class(at + 1, WordClass::Kind).is_some() && value::is_sort(reader.aids.known, &token.word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Everything, understood};

    #[test]
    fn a_unit_says_again_what_a_superlative_goes_by_and_nothing_of_another() {
        let left = |text: &str| understood(text, &Everything).text;
        assert_eq!(left("the longest soup by minutes"), "soup");
        assert_eq!(left("schnellste Suppe nach Minuten"), "Suppe");
        assert_eq!(left("the cheapest wine by euros"), "wine");
        assert_eq!(left("a cheaper wine"), "wine");
        assert!(understood("wine cheaper than 20 euros", &Everything).order.is_none());
        assert_eq!(left("the cheapest wine by minutes"), "wine by minutes");
        assert_eq!(left("the cheapest and longest soup by minutes"), "and longest soup by minutes", "one order");
        assert_eq!(left("soup by minutes"), "soup by minutes");
    }

    #[test]
    fn a_superlative_far_before_a_unit_is_another_one() {
        let left = |words: usize| understood(&format!("cheapest{} by euros", " wine".repeat(words)), &Everything).text;
        assert!(!left(SAID_AGAIN_WORDS_MAX).contains("euros"));
        assert!(left(SAID_AGAIN_WORDS_MAX + 1).contains("by euros"));
    }
}
