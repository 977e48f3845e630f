//! Whether an item contains something, by what it lists, and whether it suits a diet.

use forecourt_index::Hit;
use forecourt_vocabulary::folded;
use serde_json::Value;

use crate::fact_context::FactContext;
use crate::fact_data;
use crate::fact_question::FactReading;
use crate::facts::stem;
use crate::markdown::plain;
use crate::values::{at, text_of};

/// Entries that are quoted.
const QUOTED_MAX: usize = 4;

/// Whether an item lists what it is made of.
pub(crate) fn has_entries(item: &Value) -> bool {
    !entries(item).is_empty()
}

/// Whether an item says anything by which it is told whether it contains something, or suits a diet.
pub(crate) fn is_stated(item: &Value) -> bool {
    has_entries(item) || fact_data::facts().diets.iter().any(|property| at(item, property).is_some())
}

/// Whether a question that asks for no property asks for something that there are words for: a diet, or anything
/// that an item may contain.
pub(crate) fn is_meant(tell: &FactContext<'_>, reading: &FactReading<'_>) -> bool {
    let what = reading.what.unwrap_or_default();
    match reading.ask.fact.as_str() {
        "suits" => tell.vocabulary.diet_named(what).is_some(),
        "contains" => !what.is_empty(),
        _ => true,
    }
}

/// The answer to "does it contain …?" and "is it vegan?". `None` when the item is none that could say so, or when
/// nothing is meant by what is asked about.
pub(crate) fn answer(tell: &FactContext<'_>, hit: &Hit, item: &str, reading: &FactReading<'_>) -> Option<String> {
    let what = reading.what.filter(|what| !what.is_empty())?;
    let entries = entries(&hit.item);
    match reading.ask.fact.as_str() {
        "suits" => suits(tell, hit, item, what, &entries),
        _ => contains(tell, hit, item, what, &entries),
    }
}

fn contains(tell: &FactContext<'_>, hit: &Hit, item: &str, what: &str, entries: &[&str]) -> Option<String> {
    let class = tell.vocabulary.class_named(what).map(|class| class.id.as_str());
    if entries.is_empty() {
        // What is no kind of food may be asked of anything, and is found by a search.
        let made_of = tell.say.fact_name("ingredients")?;
        return class.map(|_| tell.say.fact_unstated(item, &made_of));
    }
    let is_meant = |entry: &&&str| match class {
        // `Contains milk?` is answered by butter too, where the vocabulary knows its class.
        Some(class) => has_words(entry, what) || is_of(tell, hit, &[class], entry),
        None => has_words(entry, what),
    };
    let found: Vec<&str> = entries.iter().filter(is_meant).copied().collect();
    Some(match found.is_empty() {
        true => tell.say.contains_no(item, &plain(what), entries.len()),
        false => tell.say.contains_yes(item, &quoted(tell, &found)),
    })
}

fn suits(tell: &FactContext<'_>, hit: &Hit, item: &str, what: &str, entries: &[&str]) -> Option<String> {
    let diet = tell.vocabulary.diet_named(what)?;
    let name = plain(diet.name(tell.say.language().code()));
    let stated = fact_data::facts().diets.iter().filter_map(|property| at(&hit.item, property));
    let mut stated = stated.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    let is_it = |value: &Value| {
        let named = text_of(value).map(|text| text.rsplit('/').next().unwrap_or(text));
        let is_stated = |named: &str| diet.stated_as.iter().any(|stated| stated.eq_ignore_ascii_case(named));
        let is_named = |named: &str| {
            tell.vocabulary.diet_named(&named.replace("Diet", "")).is_some_and(|other| other.id == diet.id)
        };
        named.is_some_and(|named| is_stated(named) || is_named(named))
    };
    // What the item states itself counts before what its ingredients let one conclude.
    if stated.any(is_it) {
        return Some(tell.say.suits_yes(item, &name));
    }
    let without: Vec<&str> = diet.without.iter().map(String::as_str).collect();
    let found: Vec<&str> = entries.iter().filter(|entry| is_of(tell, hit, &without, entry)).copied().collect();
    Some(match (found.is_empty(), entries.len()) {
        (false, _) => tell.say.suits_no(item, &name, &quoted(tell, &found)),
        (true, 0) => tell.say.suits_unstated(item, &name),
        // No listed entry speaks against it, which is no promise: the answer says how many were looked at.
        (true, count) => tell.say.suits_unlisted(item, &name, count),
    })
}

/// Whether an entry is of one of these classes, in the item's language.
fn is_of(tell: &FactContext<'_>, hit: &Hit, classes: &[&str], entry: &str) -> bool {
    // The item's own language: `Mehl` is flour in a German list and nothing in an English one.
    let own = hit.item.get("inLanguage").and_then(text_of).unwrap_or(tell.language.primary());
    let code = own.split('-').next().unwrap_or(own);
    let of = tell.vocabulary.classes_in(entry, code).of;
    classes.iter().any(|class| of.iter().any(|known| known == class))
}

fn quoted(tell: &FactContext<'_>, found: &[&str]) -> String {
    let mut known: Vec<&str> = Vec::new();
    found.iter().for_each(|entry| {
        if !known.contains(entry) {
            known.push(entry)
        }
    });
    let entries: Vec<String> = known.iter().take(QUOTED_MAX).map(|entry| tell.say.quoted(&plain(entry))).collect();
    entries.join(", ")
}

/// What an item lists of what it is made of.
fn entries(item: &Value) -> Vec<&str> {
    let lists = fact_data::facts().made_of.iter().filter_map(|property| at(item, property));
    let values = lists.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    values.filter_map(text_of).collect()
}

/// Whether all words of a phrase are in an entry, in any of their forms.
fn has_words(entry: &str, phrase: &str) -> bool {
    let (entry, phrase) = (folded(entry), folded(phrase));
    let words: Vec<&str> = entry.split(|c: char| !c.is_alphanumeric()).map(stem).collect();
    let mut asked = phrase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(stem).peekable();
    asked.peek().is_some() && asked.all(|word| words.contains(&word))
}
