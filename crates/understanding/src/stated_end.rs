//! The least and the most of what items state themselves: "the lightest", "the longest range", "a wider one".

use forecourt_vocabulary::WordClass;

use crate::filter::SortOrder;
use crate::found::{FoundMeaning, UnderstoodPart};
use crate::learnt::{LearntMeaning, LearntProperty};
use crate::order;
use crate::paths::YEARLY_PAY;
use crate::reader::Reader;
use crate::stated_amount::{is_numeric, names};
use crate::stated_limit::is_same;
use crate::yearly_pay::PAID;

/// What a comparative says of things that are not named.
const ONES: &[&str] = &["one", "ones"];
const SOMETHING: &[&str] = &["something", "anything", "etwas", "was", "quelque", "algo"];

/// Whether a comparative is of what was shown before: "a wider one", "something wider".
fn is_of_ones(reader: &Reader<'_>, at: usize, end: usize) -> bool {
    reader.says(end, ONES)
        || (at > 0 && reader.says(at - 1, SOMETHING) && reader.token(end).is_none())
        || is_definite(reader, at, end)
}

/// Articles of one thing that is known, without accents.
const DEFINITE: &[&str] = &["the", "der", "die", "das", "den", "dem", "le", "la", "les", "el", "los", "las"];
/// Words between such an article and a comparative behind its noun: "la bouteille de vin plus grande".
const NOUN_WORDS_MAX: usize = 3;
/// Words that follow where something is compared.
const THAN: &[&str] = &["than", "als", "wie", "que", "de"];

/// Whether a comparative is of one thing that is known, which makes it a superlative: "the bigger bottle", "la bouteille la
/// plus grande", "el bungalow más grande".
fn is_definite(reader: &Reader<'_>, at: usize, end: usize) -> bool {
    let compares = reader.says(end, THAN) && reader.amount(end + 1).is_some();
    let is_romance = reader.says(at, &["plus", "mas", "moins", "menos"]);
    let before = if is_romance { NOUN_WORDS_MAX + 1 } else { 1 };
    !compares && (at.saturating_sub(before)..at).any(|before| reader.says(before, DEFINITE))
}

/// The least or the most of a property.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let ends = reader.learnt(at).filter_map(|(meaning, end)| match meaning {
        LearntMeaning::End(property, is_most) => Some((reader.aids.learnt.get(*property), *is_most, end)),
        LearntMeaning::Comparative(property, is_more) if is_of_ones(reader, at, end) => {
            Some((reader.aids.learnt.get(*property), *is_more, end))
        }
        _ => None,
    });
    let mut ends: Vec<(&LearntProperty, bool, usize)> = ends.collect();
    ends.extend(named_end(reader, at));
    // The longest phrases.
    let end = ends.iter().map(|(.., end)| *end).max()?;
    ends.retain(|(.., other)| *other == end);
    if reader.is_name() {
        return None;
    }
    let start = reader.absorb(at, WordClass::Article, floor);
    let orders = ends.iter().map(|(property, is_most, _)| order_by(reader, &ends, property, *is_most));
    let mut all: Vec<SortOrder> = Vec::new();
    for order in orders {
        if all.iter().all(|other| other.fields != order.fields) {
            all.push(order);
        }
    }
    // The longest book has most pages, and the longest audiobook takes most time.
    all.extend(
        order::by_quantities(reader, at)
            .filter(|order| all.iter().all(|other| other.fields != order.fields))
            .collect::<Vec<_>>(),
    );
    let meaning = FoundMeaning::Order(all.remove(0), all);
    Some(UnderstoodPart::new(start..order::behind_first(reader, end), meaning))
}

/// Words between a superlative and the name of what it is of.
const MOST_OF: &[&str] = &["of", "de", "d", "an", "in", "en"];
/// Words that make a superlative of an adjective, and whether it is the most.
const DEGREES: &[(&str, bool)] =
    &[("most", true), ("plus", true), ("mas", true), ("least", false), ("moins", false), ("menos", false)];
/// What German superlatives behind "am" end in.
const AM_ENDING: &str = "sten";

/// "Le plus riche en protéines", "am reichsten an Eiweiß": whether it is the most, and the token behind the words for that.
fn most_in(reader: &Reader<'_>, at: usize) -> Option<(bool, usize)> {
    let is_led = reader.is_word(at + 1) && reader.says(at + 2, MOST_OF);
    let degree = DEGREES.iter().find(|(word, _)| reader.says(at, &[*word]));
    let german = reader.says(at, &["am"]) && reader.token(at + 1).is_some_and(|token| token.word.ends_with(AM_ENDING));
    let is_most = degree.map(|(_, is_most)| *is_most).or(german.then_some(true))?;
    is_led.then_some((is_most, at + 3))
}

/// A superlative of a property that is named: "the longest range", "la autonomía más larga".
fn named_end<'a>(reader: &Reader<'a>, at: usize) -> Vec<(&'a LearntProperty, bool, usize)> {
    let extreme = |at: usize| reader.longest_of(at, &[(WordClass::Most, true), (WordClass::Least, false)]);
    let of = |named: Vec<(usize, usize)>, is_most: bool, end: Option<usize>| {
        let named = named.into_iter();
        named.map(|(property, behind)| (reader.aids.learnt.get(property), is_most, end.unwrap_or(behind))).collect()
    };
    let led = extreme(at).map(|(is_most, end)| (is_most, end + usize::from(reader.says(end, MOST_OF))));
    // "The one with the longer range".
    let is_definite = at.checked_sub(1).is_some_and(|before| reader.says(before, DEFINITE));
    let classes = [(WordClass::Greater, true), (WordClass::Lesser, false)];
    let compared = if is_definite { reader.longest_of(at, &classes) } else { None };
    for (is_most, end) in led.into_iter().chain(most_in(reader, at)).chain(compared) {
        let behind = reader.skip(end, &[WordClass::Article]);
        let named = names(reader, behind, is_numeric);
        let named = if named.is_empty() { parts(reader, behind) } else { named };
        if !named.is_empty() {
            return of(named, is_most, None);
        }
    }
    let named = names(reader, at, is_numeric);
    let behind = named.first().map(|(_, end)| reader.skip(*end, &[WordClass::Article]));
    match behind.and_then(extreme) {
        Some((is_most, end)) => of(named, is_most, Some(end)),
        None => Vec::new(),
    }
}

/// The measured properties of which the word here is a part of the name: the "battery" of a battery life.
fn parts(reader: &Reader<'_>, at: usize) -> Vec<(usize, usize)> {
    let of = reader.learnt(at).filter_map(|(meaning, end)| match meaning {
        LearntMeaning::FirstWord(property) => Some((*property, end)),
        _ => None,
    });
    of.collect()
}

/// The order by a property, among `ends` of the same phrase. Of one property in bare numbers and in a unit, the one in a
/// unit: all items state that alike.
fn order_by(
    reader: &Reader<'_>,
    ends: &[(&LearntProperty, bool, usize)],
    property: &LearntProperty,
    is_most: bool,
) -> SortOrder {
    let is_measured = |other: &&LearntProperty| {
        property.dimension.is_none() && other.dimension.is_some() && other.name("en") == property.name("en")
    };
    let property = ends.iter().map(|(other, ..)| *other).find(is_measured).unwrap_or(property);
    let key = if is_most { "stated_descending" } else { "stated_ascending" };
    let words = reader.say(key, &[property.name(reader.aids.answer_in.as_str())]);
    let others = reader
        .aids
        .learnt
        .all()
        .map(|(_, other)| other)
        .filter(|other| is_numeric(other) && other.stated.path != property.stated.path && is_same(property, other));
    let own = std::iter::once(property).chain(others).map(|property| property.stated.path.clone());
    // Pay for an hour is no less than pay for a year.
    let is_paid = property.id.as_deref() == Some(PAID) && reader.aids.known.has_number(YEARLY_PAY[0]);
    let fields = if is_paid { vec![YEARLY_PAY[usize::from(is_most)].to_owned()] } else { own.collect() };
    SortOrder { fields, descending: is_most, words }
}
