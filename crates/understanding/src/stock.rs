//! "In stock", "sold out", "free entry", "size M".

use forecourt_vocabulary::{Quantity, TextProperties, WordClass};

use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::LearntMeaning;
use crate::quantity::{beyond, within};
use crate::reader::Reader;

use crate::stated_amount;

pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let classes = [(WordClass::Unavailable, false), (WordClass::Available, true)];
    match reader.longest_of(at, &classes) {
        Some((is_there, end)) => available(reader, is_there, reader.absorb(at, WordClass::WithoutLead, floor), end),
        None => size(reader, at).or_else(|| paid(reader, at)).or_else(|| free_of_charge(reader, at)),
    }
}

fn available(reader: &Reader<'_>, is_there: bool, start: usize, end: usize) -> Option<UnderstoodPart> {
    let TextProperties { availability, in_stock, out_of_stock, .. } = &reader.table.texts;
    let has = |path: &&String| in_stock.iter().chain(out_of_stock).any(|value| reader.aids.known.has_word(path, value));
    let fields: Vec<String> = availability.iter().filter(has).cloned().collect();
    if fields.is_empty() {
        let is_limit = reader.path(Quantity::Price).is_some() && !reader.is_name();
        return is_limit.then(|| UnderstoodPart::new(start..end, FoundMeaning::NotUnderstood));
    }
    let (values, key) = if is_there { (in_stock, "in_stock") } else { (out_of_stock, "out_of_stock") };
    let filter = Filter { fields, test: Test::OneOf(values.clone()), words: reader.say(key, &[]) };
    Some(UnderstoodPart::limit(start..end, Rank::Stock, filter))
}

/// A size that is said to be one.
fn size(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let behind = reader.class(at, WordClass::Size)?;
    let is_joining =
        [WordClass::For, WordClass::With, WordClass::And, WordClass::Or, WordClass::AtTime, WordClass::Article]
            .iter()
            .any(|class| reader.is_single(behind, *class));
    let value =
        reader.token(behind).filter(|token| token.number().is_some() || (token.word.len() <= 4 && !is_joining))?;
    let fields: Vec<String> =
        reader.table.texts.size.iter().filter(|path| reader.aids.known.share(path) > 0.0).cloned().collect();
    let tokens = at..behind + 1;
    if fields.is_empty() {
        // "In size 8", of what items state under a name of their own: the rule for that reads it.
        let is_learnt = (at..behind).any(|at| !stated_amount::names(reader, at, stated_amount::is_numeric).is_empty());
        let is_limit = reader.path(Quantity::Price).is_some() && !reader.is_name() && !is_learnt;
        return is_limit.then(|| UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood));
    }
    let value = reader.text[value.range.clone()].to_owned();
    let words = reader.say("of_size", &[&value]);
    Some(UnderstoodPart::limit(tokens, Rank::Stock, Filter { fields, test: Test::Is(value), words }))
}

/// "Free museums", "free apps": the word stands at a kind of thing.
fn free_kind(reader: &Reader<'_>, at: usize) -> Option<usize> {
    let is_free = reader.token(at)?.word == "free" && reader.is_word(at + 1);
    let kind = reader.token(at + 1).filter(|_| is_free)?;
    reader.aids.vocabulary.kind_named(&kind.word).map(|_| at + 2)
}

/// "Exposiciones de pago": what costs more than nothing.
fn paid(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let end = reader.class(at, WordClass::Paid)?;
    let price = reader.path(Quantity::Price).filter(|_| !reader.is_name())?;
    let (from, _) = beyond(Some(0.0), None);
    let filter = within(price, from, None, reader.say("paid", &[]));
    Some(UnderstoodPart::limit(at..end, Rank::Stock, filter))
}

/// "Parking gratuit", "free parking": of what items state beside an item, that it is free. `None`: no such thing is named
/// beside the word. `Some(None)`: one is, and no item says that it is free.
fn free_feature(reader: &Reader<'_>, at: usize, end: usize) -> Option<Option<Filter>> {
    let of = |at: usize, is_end: &dyn Fn(usize) -> bool| {
        let named = reader.learnt(at).filter_map(|(meaning, behind)| match meaning {
            LearntMeaning::Name(property) if is_end(behind) => Some(reader.aids.learnt.get(*property)),
            _ => None,
        });
        named.filter(|property| property.is_feature).collect::<Vec<_>>()
    };
    let before = (at.saturating_sub(NAME_WORDS_MAX)..at).map(|first| of(first, &|behind| behind == at));
    let named = before.chain([of(end, &|_| true)]).find(|named| !named.is_empty())?;
    let says_free = |path: &str| FREE_WORDS.iter().copied().find(|word| reader.aids.known.has_word(path, word));
    let words = reader.written(at..end).to_lowercase();
    let free = named.iter().filter_map(|property| {
        let (path, word) = (property.stated.path.as_str(), says_free(&property.stated.path)?);
        Some(Filter {
            words: format!("{}: {words}", property.name(reader.aids.answer_in.as_str())),
            ..Filter::mentions(path, word)
        })
    });
    let free: Vec<Filter> = free.collect();
    Some(free.first().map(|first| first.words.clone()).map(|words| Filter::any_of(free, words)))
}

/// Words of the longest name of a feature.
const NAME_WORDS_MAX: usize = 3;
/// How items say that a feature is free.
const FREE_WORDS: &[&str] = &[
    "free",
    "kostenlos",
    "kostenfrei",
    "gratis",
    "gratuit",
    "gratuite",
    "gratuito",
    "gratuita",
    "inklusive",
    "included",
];

fn free_of_charge(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let end = reader.class(at, WordClass::FreeOfCharge).or_else(|| free_kind(reader, at))?;
    match free_feature(reader, at, end) {
        Some(Some(filter)) => return Some(UnderstoodPart::limit(at..end, Rank::Stated, filter).keeping_words()),
        Some(None) => return None,
        None => {}
    }
    let (known, words) = (reader.aids.known, reader.say("free_of_charge", &[]));
    let paths = &reader.table.texts.free_of_charge;
    let path = paths.iter().find(|path| known.has_value(path, "true") || known.has_value(path, "false"));
    let price = || reader.path(Quantity::Price);
    let filter = match (path, price()) {
        (Some(path), _) => Filter { words, ..Filter::is(path, "true") },
        (None, Some(price)) => within(price, None, Some(0.0), words),
        (None, None) => return None,
    };
    // The kind in "free concerts" stays, the rest is said by the limit.
    let last = reader.token(end - 1).map_or("", |token| token.word.as_str());
    let names_kind = end > at + 1 && reader.aids.vocabulary.kind_named(last).is_some();
    Some(UnderstoodPart::limit(at..if names_kind { end - 1 } else { end }, Rank::Stock, filter))
}
