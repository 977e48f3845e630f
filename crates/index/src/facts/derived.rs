//! What an item says in several properties together: the ages that it is for, the days on which it takes place, when it is
//! over, and what it costs.

use std::sync::LazyLock;

use forecourt_loaders::item::type_name;
use forecourt_understanding::{CANCELLED_DAY, measure};
use forecourt_vocabulary::folded;
use regex::Regex;
use serde_json::Value;

/// The greatest age that something can be for, in years.
const AGE_MAX: f64 = 150.0;
/// What properties of a site's own are called that state the ages that something is for, in lower case.
const MIN_AGE: &[&str] = &["minimumage", "minage", "agefrom", "mindestalter", "agemin", "agesfrom", "edadminima"];
const MAX_AGE: &[&str] = &["maximumage", "maxage", "ageto", "höchstalter", "agemax"];
/// What a property or a column is called that has both ends in one text, in lower case.
const AGE_RANGE: &[&str] =
    &["age", "ages", "agerange", "agegroup", "recommendedage", "alter", "altersgruppe", "âge", "tranchedâge", "edad"];
/// The groups of ages that Google's feeds of products know, in years.
const AGE_GROUPS: [(&str, f64, f64); 5] = [
    ("newborn", 0.0, 0.25),
    ("infant", 0.25, 1.0),
    ("toddler", 1.0, 5.0),
    ("kids", 5.0, 13.0),
    ("adult", 13.0, AGE_MAX),
];
/// Types of what takes place once, beside those that end in `Event`. A series of films has a first day, too, and is
/// not over with its last one.
const TAKES_PLACE: &[&str] = &["Festival", "CourseInstance", "Hackathon", "EventSeries"];
/// The type of what is held at times that it states.
const COURSE: &str = "Course";
/// The type of what is shown until it ends.
const EXHIBITION: &str = "ExhibitionEvent";
/// The last day of what has no end, in days since 1970: that of the year 9999.
const OPEN_END: f64 = 2_932_896.0;
/// Types of what is open until a day.
const IS_OPEN_UNTIL: &[&str] = &["JobPosting"];

/// The ages that an item is for, from whichever of its properties say so. An end that it leaves open is the least or
/// the greatest age.
pub(super) fn ages(item: &Value) -> Option<(f64, f64)> {
    let end = |own: &str, of_range: &str, named: &[&str]| {
        let places = [own.to_owned(), format!("audience/{own}"), format!("suggestedAge/{of_range}")];
        let places = places.into_iter().chain([format!("audience/suggestedAge/{of_range}")]);
        let stated = places.filter_map(|place| item.pointer(&format!("/{place}"))).find_map(years);
        stated.or_else(|| own_property(item, named).and_then(years))
    };
    let from = end("suggestedMinAge", "minValue", MIN_AGE);
    let to = end("suggestedMaxAge", "maxValue", MAX_AGE);
    match (from, to) {
        (None, None) => match item.get("typicalAgeRange").and_then(Value::as_str) {
            Some(text) => typical_ages(text),
            None => match own_property(item, AGE_RANGE).and_then(Value::as_str) {
                Some(text) => own_ages(text),
                None => suited_ages(item)
                    .or_else(|| ["name", "description"].into_iter().find_map(|key| named_ages(text(item, key)?))),
            },
        },
        (from, to) => Some((from.unwrap_or(0.0), to.unwrap_or(AGE_MAX))),
    }
}

/// Words of the names of properties of a site's own that say for whom something is, folded: "Suitable from", "Edad de
/// los pacientes".
const SUITED: &[&str] = &[
    "suitable",
    "suits",
    "recommended",
    "age",
    "ages",
    "geeignet",
    "empfohlen",
    "alter",
    "mindestalter",
    "convient",
    "adapte",
    "recommande",
    "apto",
    "recomendado",
    "edad",
];
/// What says that something is for people from their birth on, folded.
const BIRTH: &[&str] = &["birth", "newborn", "newborns", "geburt", "naissance", "nacimiento"];

/// The ages that a property of a site's own says something is for, by its name and its value: "from 12 years".
fn suited_ages(item: &Value) -> Option<(f64, f64)> {
    let own = item.get("additionalProperty").and_then(Value::as_array)?;
    own.iter().find_map(|one| {
        let (written, stated) = (one.get("name")?.as_str()?, one.get("value")?.as_str()?);
        let (name, value) = (folded(written), folded(stated));
        let says =
            |text: &str, words: &[&str]| text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
        match says(&name, SUITED) {
            true if says(&value, BIRTH) && !value.contains(|c: char| c.is_ascii_digit()) => Some((0.0, AGE_MAX)),
            true if says(&value, YEARS) => own_ages(&format!("{written} {stated}")),
            _ => None,
        }
    })
}

/// Words of ages, folded.
const YEARS: &[&str] = &[
    "year", "years", "yr", "yrs", "month", "months", "jahr", "jahre", "jahren", "monat", "monate", "monaten", "an",
    "ans", "mois", "ano", "anos", "mes", "meses",
];

fn years(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|years: &f64| years.is_finite()),
        _ => None,
    }
}

/// The age of those who were born just now, in words.
const FROM_BIRTH: &[&str] = &[
    "from birth",
    "birth",
    "newborn",
    "newborns",
    "ab geburt",
    "von geburt an",
    "dès la naissance",
    "desde el nacimiento",
];

/// The value of a property that a site calls by one of these names: an `additionalProperty`, or a column of a table.
fn own_property<'v>(item: &'v Value, names: &[&str]) -> Option<&'v Value> {
    let additional = item.get("additionalProperty").and_then(Value::as_array).into_iter().flatten();
    let mut additional = additional.filter_map(|one| Some((one.get("name")?.as_str()?, one.get("value")?)));
    let mut columns = item.as_object().into_iter().flatten();
    let found = additional.find(|(name, _)| is_named(name, names)).map(|(_, value)| value);
    found.or_else(|| columns.find(|(name, _)| is_named(name, names)).map(|(_, value)| value))
}

/// Whether a name is one of these, however it is written. Asked of every property of every item, so nothing is copied.
fn is_named(name: &str, names: &[&str]) -> bool {
    let letters = || name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase);
    names.iter().any(|known| letters().eq(known.chars()))
}

/// `7-9`, `11+`, `-5`: a range of ages as schema.org writes it.
fn typical_ages(text: &str) -> Option<(f64, f64)> {
    let text = text.trim().trim_end_matches('+');
    let (from, to) = text.split_once(['-', '–']).unwrap_or((text, ""));
    let age = |text: &str, open: f64| if text.trim().is_empty() { Some(open) } else { text.trim().parse().ok() };
    Some((age(from, 0.0)?, age(to, AGE_MAX)?)).filter(|(from, to)| from <= to && !text.is_empty())
}

/// `5-7 years`, `ages 3 to 5`, `ab 6 Jahren`, `0-24 months`, `toddler`: a range as shops write it. `None` for one number
/// alone, which may be the age of the thing.
fn own_ages(text: &str) -> Option<(f64, f64)> {
    let text = text.trim().to_lowercase();
    if let Some((_, from, to)) = AGE_GROUPS.iter().find(|(name, ..)| *name == text) {
        return Some((*from, *to));
    }
    if FROM_BIRTH.contains(&text.as_str()) {
        return Some((0.0, AGE_MAX));
    }
    let is_number = |c: char| c.is_ascii_digit();
    let numbers: Vec<f64> = text.split(|c| !is_number(c)).filter_map(|digits| digits.parse().ok()).collect();
    let says = |words: &[&str]| text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    let years = match says(&["month", "months", "monate", "monaten", "mois", "meses"]) {
        true if says(&["year", "years", "jahre", "jahren", "ans", "años"]) => return None,
        true => 1.0 / 12.0,
        false => 1.0,
    };
    let range = match numbers[..] {
        [from, to] => Some((from * years, to * years)),
        [to] if text.starts_with(['-', '–', '<']) || says(&["under", "bis", "jusqu", "hasta"]) => {
            Some((0.0, to * years))
        }
        // "8+", "8+ years".
        [from]
            if text.ends_with(['-', '–', '+'])
                || text.trim_start_matches(is_number).starts_with('+')
                || says(&["from", "up", "ab", "dès", "partir", "desde"]) =>
        {
            Some((from * years, AGE_MAX))
        }
        _ => None,
    };
    range.filter(|(from, to)| from <= to && *to <= AGE_MAX)
}

/// The ages that a name says something is for: `Clay animals, ages 6 to 12`, `Malkurs für 8- bis 10-Jährige`, `dès 6 ans`.
/// Only with a word that says that they are ages: most numbers of names are none.
fn named_ages(name: &str) -> Option<(f64, f64)> {
    static AGED: LazyLock<Regex> = LazyLock::new(|| {
        // Written down here, so it compiles.
        Regex::new(concat!(
            r"(?i)\b(?:ages?|alter|âge|edad|kids|children|kinder|enfants|niños|niñas)\s+(?:(?:aged|from|between|von|de|entre)\s+)?",
            r"(?P<a>\d{1,2})(?:\s*(?:to|and|bis|à|a|y|et|-|–)\s*(?P<b>\d{1,2})\b|\s*\+|\s+and (?:up|over))",
            r"|\b(?P<c>\d{1,2})\s*(?:to|bis|à|a|-|–|- bis)\s*(?P<d>\d{1,2})(?:\s*|-)(?:years?|yrs?|jahren?|jährige\w*|ans|años)\b",
            r"|\b(?:from|ab|dès|à partir de|desde|a partir de)\s+(?P<e>\d{1,2})(?:\s*|-)(?:years?|jahren?|ans|años)\b",
        ))
        .unwrap_or_else(|error| panic!("{error}"))
    });
    // Asked of every item that is loaded, and hardly any name has a number.
    if !name.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let found = AGED.captures(name)?;
    let age = |ends: [&str; 3]| ends.into_iter().find_map(|end| found.name(end)?.as_str().parse::<f64>().ok());
    let (from, to) = (age(["a", "c", "e"])?, age(["b", "d", "b"]).unwrap_or(AGE_MAX));
    (from <= to).then_some((from, to))
}

/// The days on which an event takes place, the first and the last; of a course that begins once the day on which it
/// does: nobody joins it later.
pub(super) fn event_days(item: &Value) -> Option<(f64, f64)> {
    own_days(item).or_else(|| {
        let held = item.get("hasCourseInstance")?;
        let one = match held {
            Value::Array(all) if all.len() == 1 => &all[0],
            Value::Array(_) => return None,
            one => one,
        };
        day(one, "startDate").map(|first| (first, first))
    })
}

/// The days on which something takes place by itself.
fn own_days(item: &Value) -> Option<(f64, f64)> {
    let first = day(item, "startDate").filter(|_| takes_place(item))?;
    // An exhibition without an end is a permanent one.
    let open_end = if is_of(item, |kind| kind == EXHIBITION) { OPEN_END } else { first };
    Some((first, day(item, "endDate").filter(|last| *last >= first).unwrap_or(open_end)))
}

/// The day after which an item is over. What was cancelled is.
pub(super) fn last_day(item: &Value) -> Option<f64> {
    if takes_place(item) {
        let is_cancelled = text(item, "eventStatus").is_some_and(|status| status.ends_with("EventCancelled"));
        return if is_cancelled { Some(CANCELLED_DAY) } else { own_days(item).map(|(_, last)| last) };
    }
    if is_of(item, |kind| kind == COURSE) {
        return course_end(item);
    }
    day(item, "validThrough").filter(|_| is_of(item, |kind| IS_OPEN_UNTIL.contains(&kind)))
}

/// The last day of the last time that a course is held, if each of them states one.
fn course_end(item: &Value) -> Option<f64> {
    let held = item.get("hasCourseInstance")?;
    let all = held.as_array().map_or(std::slice::from_ref(held), Vec::as_slice);
    let ends: Option<Vec<f64>> = all.iter().map(|one| day(one, "endDate").or_else(|| day(one, "startDate"))).collect();
    ends?.into_iter().reduce(f64::max)
}

/// What an item costs that makes no offer: nothing where it is free, else the least of the prices that it says it has.
pub(super) fn price(item: &Value) -> Option<f64> {
    if ["offers", "price"].iter().any(|key| item.get(*key).is_some()) {
        return None;
    }
    if is_free(item) {
        return Some(0.0);
    }
    let made = || all(item, "makesOffer").filter_map(price_of).reduce(f64::min);
    text(item, "priceRange").and_then(least_price).or_else(made).or_else(|| own_price(item))
}

/// How names begin of properties of a site's own that say what something costs, folded.
const PRICED: &[&str] = &[
    "price",
    "average price",
    "cost",
    "costs",
    "fee",
    "preis",
    "durchschnittspreis",
    "kosten",
    "gebuhr",
    "prix",
    "tarif",
    "cout",
    "precio",
    "coste",
    "tarifa",
    "importe",
];

/// What something costs by a property of a site's own: "Prix moyen par personne".
fn own_price(item: &Value) -> Option<f64> {
    let own = item.get("additionalProperty").and_then(Value::as_array)?;
    own.iter().find_map(|one| {
        let name = folded(one.get("name")?.as_str()?);
        let rest =
            |begin: &&str| name.strip_prefix(*begin).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        PRICED.iter().any(rest).then(|| amount(one.get("value")?)).flatten()
    })
}

/// Signs of money of the longest price range.
const SIGNS_MAX: usize = 5;

/// How many signs a price range is that is nothing else: 2 for `€€`.
pub(super) fn price_level(item: &Value) -> Option<f64> {
    let signs: Vec<char> = text(item, "priceRange")?.trim().chars().collect();
    let is_sign = |c: &char| matches!(c, '$' | '€' | '£' | '¥');
    (1..=SIGNS_MAX).contains(&signs.len()).then_some(())?;
    signs.iter().all(|c| is_sign(c) && *c == signs[0]).then_some(signs.len() as f64)
}

/// `€240 - €288`, `from 85 EUR`: the first amount. "$$" is none.
fn least_price(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let amount = &text[start..];
    let end = amount.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '\''))).unwrap_or(amount.len());
    let amount = amount[..end].trim_end_matches(['.', ',', '\'']);
    // "7,50" is no 750.
    match amount.rsplit_once(',').filter(|(_, cents)| (1..=CENTS_MAX).contains(&cents.len())) {
        Some((whole, cents)) => measure::quantity("price", &format!("{}.{cents}", whole.replace(['.', ','], ""))),
        None => measure::quantity("price", amount),
    }
}

/// Digits behind the comma of an amount of money.
const CENTS_MAX: usize = 2;

/// Whether an item does not say that it is free, and the least that it is offered for is nothing.
pub(super) fn costs_nothing(item: &Value) -> bool {
    if item.get("isAccessibleForFree").is_some() {
        return false;
    }
    all(item, "offers").filter_map(price_of).reduce(f64::min) == Some(0.0)
}

/// The price that an offer states.
pub(super) fn price_of(value: &Value) -> Option<f64> {
    amount(value.get("price").or_else(|| value.get("minPrice"))?)
}

/// An amount of money, which is never below nothing.
pub(super) fn amount(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => measure::quantity("price", text),
        value => value.as_f64(),
    };
    number.filter(|number| *number >= 0.0)
}

fn is_free(item: &Value) -> bool {
    item.get("isAccessibleForFree").is_some_and(|free| match free {
        Value::Bool(free) => *free,
        other => other.as_str().is_some_and(|text| type_name(text).eq_ignore_ascii_case("true")),
    })
}

pub(super) fn takes_place(item: &Value) -> bool {
    is_of(item, |kind| kind.ends_with("Event") || TAKES_PLACE.contains(&kind))
}

/// Whether an item is of such a type, beside others.
pub(super) fn is_of(item: &Value, is: impl Fn(&str) -> bool) -> bool {
    let is = |kind: &Value| kind.as_str().is_some_and(|kind| is(type_name(kind)));
    match item.get("@type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => false,
    }
}

pub(super) fn text<'v>(item: &'v Value, key: &str) -> Option<&'v str> {
    let value = item.get(key)?;
    value.get(0).unwrap_or(value).as_str()
}

/// The values of a property, one or a list.
pub(super) fn all<'v>(item: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    let value = item.get(key);
    value.map_or(&[][..], |value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)).iter()
}

fn day(item: &Value, key: &str) -> Option<f64> {
    let text = text(item, key)?.trim();
    // The day by the clocks of where it is, which is how it is written, and not that of Greenwich.
    let written = text.split_once('T').map_or(text, |(day, _)| day);
    measure::quantity(key, written).map(f64::floor)
}

#[cfg(test)]
mod tests;
