//! Superlatives and counts: "the cheapest", "most recent", "three soups", "top 5".

use forecourt_vocabulary::{PhraseMeaning, Quantity, WordClass};

use crate::filter::SortOrder;
use crate::found::{FoundMeaning, UnderstoodPart};
use crate::learnt::LearntMeaning;
use crate::limits::ITEMS_ASKED_MAX;
use crate::reader::Reader;
use crate::value;

/// Words between a superlative and what it goes by.
const BY: &[&str] = &["by", "nach", "par", "por"];

/// The order that is asked for here.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // "The longest course by hours" says at its end once more what it goes by.
    let is_unit = |at: usize| reader.meanings(at).any(|(meaning, _)| matches!(meaning, PhraseMeaning::Unit(_)));
    if reader.token(at).is_some_and(|token| BY.contains(&token.word.as_str())) && is_unit(at + 1) {
        let said = (0..at).find_map(|before| superlative(reader, before, before))?;
        return Some(UnderstoodPart { tokens: at..at + 2, ..said });
    }
    superlative(reader, at, floor)
}

fn superlative(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let order = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Order(quantity, descending) => Some((*quantity, *descending)),
        _ => None,
    };
    let ((quantity, descending), end) = reader.longest(at, order)?;
    let start = reader.absorb(at, WordClass::Article, floor);
    // `Shortest` asks for the time that a recipe takes, or for the length of a film where items have no other time.
    let quantities = if quantity == Quantity::Time { vec![Quantity::Time, Quantity::Length] } else { vec![quantity] };
    let known = quantities.into_iter().find_map(|quantity| Some((quantity, reader.path(quantity)?)));
    let Some((quantity, first)) = known else {
        let is_limit = reader.states_facts() && !reader.is_name();
        return is_limit.then(|| UnderstoodPart::new(start..end, FoundMeaning::NotUnderstood));
    };
    // `The Longest Day` is a film, and no order by length.
    if reader.is_name() {
        return None;
    }
    let others =
        reader.table.paths(quantity).iter().filter(|path| *path != first && reader.aids.known.has_number(path));
    let fields = std::iter::once(first.to_owned()).chain(others.cloned()).collect();
    let end_of = if descending { "descending" } else { "ascending" };
    let words = reader.say(&format!("{}_{end_of}", quantity.id()), &[]);
    Some(UnderstoodPart::new(start..end, FoundMeaning::Order(SortOrder { fields, descending, words })))
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
    // "Three vegan soups": what is said of them comes first.
    let at = (at..at + DESCRIBED_MAX).find(|at| !describes(reader, *at)).unwrap_or(at);
    let Some(token) = reader.token(at).filter(|token| token.is_word() && !token.is_joined) else { return false };
    let is_kind =
        reader.class(at, WordClass::Kind).is_some() || reader.aids.vocabulary.kind_named(&token.word).is_some();
    is_kind
        || (reader.ends_clause(at + 1) && value::is_sort(reader.aids.known, &token.word))
        || (reader.class(at + 1, WordClass::Kind).is_some() && value::is_sort(reader.aids.known, &token.word))
}
