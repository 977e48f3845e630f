//! What properties call themselves by their paths, the words of that, and which of them questions limit by it.

use forecourt_core::findings::URL_HOST;
use forecourt_vocabulary::{PropertyTable, Quantity};

use crate::paths::{
    AGES, CALENDAR_MONTH, EVENT_BEGINS, EVENT_DAYS, EVENT_EVERY, EVENT_SERIES, EVENT_WEEKDAYS, HOURLY_PRICE, LAST_DAY,
    MONTHLY_PRICE, OFFERED, OPENING_TIMES, PLACE_PATHS, PRICE_LEVEL, RANGE_ENDS, SORT_PATHS, WORK_HOURS, YEARLY_PAY,
};
use crate::unit::Dimension;

/// How names begin of what says how much something can take.
pub(super) const MAXIMUM: [&str; 5] = ["maximum", "max", "maximale", "maximal", "máximo"];
/// How names begin of what says for how much something is enough.
pub(super) const ENOUGH_FOR: [&str; 10] = [
    "covers",
    "coverage",
    "sufficient",
    "reicht",
    "ausreichend",
    "belastbar",
    "couvre",
    "suffit",
    "cubre",
    "cobertura",
];
/// Lists of features: each names what an item has.
pub(super) const FEATURES: [&str; 2] = ["amenityFeature.", "additionalProperty."];
/// Parts of paths that name no property by themselves.
pub(super) const BARE_PARTS: &[&str] = &["value", "minvalue", "maxvalue", "name", "id", "type"];
/// Properties that no question limits by their own name: what names an item, and what other rules read.
const UNNAMED: &[&str] = &[
    "unitText",
    "unitCode",
    "alternateName",
    "priceCurrency",
    "currency",
    "@id",
    "@type",
    "url",
    "image",
    "sku",
    "identifier",
    "position",
    "latitude",
    "longitude",
    CALENDAR_MONTH,
    RANGE_ENDS[0],
    RANGE_ENDS[1],
];

/// How names begin and end that say how many there are of something.
const NUMBER_OF: &[&str] = &["number of ", "anzahl der ", "anzahl ", "nombre de ", "nombre d'", "número de "];
const COUNT_ENDS: &[&str] = &["anzahl", "zahl"];
/// Letters of a word that may stand for a whole name.
const LETTERS_MIN: usize = 4;

/// Whether the values of a property are languages.
pub(crate) fn is_of_language(path: &str) -> bool {
    let path = path.to_lowercase();
    LANGUAGE_NAMES.iter().any(|name| path.ends_with(name))
}

/// How names end of what languages are stated in.
const LANGUAGE_NAMES: &[&str] =
    &["language", "languages", "sprache", "sprachen", "langue", "langues", "idioma", "idiomas"];

/// The path of a property of a site's own whose numbers are kept beside a unit that is none of [`Dimension`], and the unit.
pub(super) fn own_unit(path: &str) -> Option<(&str, &str)> {
    let (property, unit) = path.rsplit_once('.')?;
    let is_own = FEATURES.iter().any(|list| property.strip_prefix(list).is_some_and(|name| !name.contains('.')));
    (is_own && !BARE_PARTS.contains(&unit.to_lowercase().as_str()) && !UNNAMED.contains(&unit))
        .then_some((property, unit))
}

/// Whether questions limit a property by its own words: not what other rules read with rules of their own.
pub(super) fn is_open(path: &str) -> bool {
    let table = PropertyTable::shipped();
    let texts = &table.texts;
    let is_quantity = Quantity::ALL.iter().any(|quantity| table.paths(*quantity).iter().any(|known| known == path));
    let read =
        texts.availability.iter().chain(&texts.size).chain(&texts.made_of).chain(&texts.colour).chain(&texts.diets);
    let is_read = read
        .map(String::as_str)
        .chain(SORT_PATHS.iter().copied())
        .chain(PLACE_PATHS.iter().copied())
        .any(|known| known == path);
    let last = path.rsplit('.').next().unwrap_or(path);
    let is_time =
        path.starts_with(OPENING_TIMES) || [EVENT_WEEKDAYS, EVENT_BEGINS, EVENT_EVERY, EVENT_SERIES].contains(&path);
    let is_offer = YEARLY_PAY.contains(&path)
        || WORK_HOURS.contains(&path)
        || [MONTHLY_PRICE, HOURLY_PRICE, OFFERED].contains(&path);
    let is_derived = is_time
        || is_offer
        || AGES.contains(&path)
        || EVENT_DAYS.contains(&path)
        || [LAST_DAY, URL_HOST, PRICE_LEVEL].contains(&path);
    // For how much of it a price is says nothing of the item.
    let is_reference = path.contains("referenceQuantity");
    let is_name = is_derived || is_reference || last == "name" || UNNAMED.contains(&last) || path.ends_with(".count");
    // The values of all properties of a site's own together: each is known by its name, too.
    let of_all = Dimension::of_path(path).map_or(path, |(_, path)| path);
    let is_of_all =
        FEATURES.iter().any(|list| of_all.strip_prefix(list).is_some_and(|part| BARE_PARTS.contains(&part)));
    !path.starts_with(char::is_control) && !is_quantity && !is_read && !is_name && !is_of_all
}

/// Last words of names that only say that an item has something.
const HAVING: &[&str] = &[
    "function",
    "feature",
    "compartment",
    "included",
    "available",
    "option",
    "mode",
    "programme",
    "program",
    "funktion",
    "fach",
    "programm",
    "inklusive",
    "enthalten",
    "vorhanden",
    "möglich",
    "inclus",
    "incluse",
    "incluido",
    "incluida",
    "disponible",
];
/// First words of such names.
const HAVING_FIRST: &[&str] = &[
    "fonction",
    "función",
    "mit",
    "with",
    "avec",
    "con",
    "integrated",
    "integrierter",
    "integrierte",
    "integriertes",
    "eingebauter",
    "eingebaute",
    "eingebautes",
];
/// How names end and begin that say what an item is free of.
const FREE_ENDS: &[&str] = &[" free", "frei"];
const FREE_BEGINS: &[&str] = &["sans ", "sin ", "ohne ", "without ", "no ", "free of ", "free from ", "libre de "];

/// What a yes or a no is of, without the words that only say that it is there: the grill of a "grill function", or of a
/// "Grillfunktion".
pub(super) fn bare_name(name: &str) -> Option<&str> {
    let last = name.rsplit_once(' ').filter(|(_, last)| HAVING.contains(last)).map(|(bare, _)| bare);
    let first = || name.split_once(' ').filter(|(first, _)| HAVING_FIRST.contains(first)).map(|(_, bare)| bare);
    let compound = || {
        let is_one = !name.contains(' ');
        HAVING.iter().filter(|_| is_one).find_map(|end| name.strip_suffix(end))
    };
    let bare = last.or_else(first).or_else(compound)?;
    (bare.chars().count() >= LETTERS_MIN).then_some(bare)
}

/// Words that lead to whom or what something is good for.
const LEADS: [&str; 6] = ["with", "mit", "avec", "con", "for", "für"];

/// The end of the name of a yes or a no that says with whom or what, with the word that leads to it: "with cats" of "gets on
/// with cats". `None`: the name says nothing before it, or several words behind it.
pub(super) fn led_tail(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once(' ')?;
    let (_, lead) = before.rsplit_once(' ')?;
    let is_led = LEADS.contains(&lead) && last.chars().count() >= LETTERS_MIN;
    is_led.then(|| &name[name.len() - lead.len() - 1 - last.len()..])
}

/// What something does, of the name of its doing: "mopping" is "mop", and "charging" is "charge".
pub(super) fn done(doing: &str) -> Vec<String> {
    let Some(stem) = doing.strip_suffix("ing").filter(|stem| stem.chars().count() > 2) else { return Vec::new() };
    let mut letters = stem.chars().rev();
    let is_double = letters.next() == letters.next();
    let short = if is_double { &stem[..stem.len() - 1] } else { stem };
    vec![short.to_owned(), format!("{stem}e")]
}

/// What a name says that an item is free of: "peat free", "Torffrei", "sans gluten".
pub(super) fn free_of(name: &str) -> Option<&str> {
    let ended = FREE_ENDS.iter().find_map(|end| name.strip_suffix(end));
    let thing = ended.or_else(|| FREE_BEGINS.iter().find_map(|begin| name.strip_prefix(begin)))?;
    (thing.chars().count() > 2).then_some(thing)
}

/// The last word of a name that has several, where it is long enough to say something.
pub(super) fn last_word(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once(' ')?;
    // "Price per person" is no number of persons.
    let is_rate = before.rsplit(' ').next().is_some_and(|word| PER.contains(&word));
    (last.chars().count() >= LETTERS_MIN && !is_rate).then_some(last)
}

/// Words behind which a name says for how much of something an amount is.
const PER: [&str; 6] = ["per", "pro", "par", "por", "je", "each"];

/// What a property counts by its name: the "Stufen" of a "Stufenanzahl".
pub(super) fn counted(name: &str) -> Option<&str> {
    let begun = NUMBER_OF.iter().find_map(|begin| name.strip_prefix(begin));
    let counted = begun.or_else(|| COUNT_ENDS.iter().find_map(|end| name.strip_suffix(end)))?;
    (counted.chars().count() >= LETTERS_MIN).then_some(counted)
}

/// The words of such a name before its last one, but for those that only say that a measure is an end.
pub(super) fn first_words(name: &str) -> impl Iterator<Item = &str> {
    let words = name.rsplit_once(' ').map(|(first, _)| first).into_iter().flat_map(|first| first.split(' '));
    words.filter(|word| word.chars().count() >= LETTERS_MIN && !MAXIMUM.contains(word) && *word != "minimum")
}

/// What a property calls itself: the last part of its path that says something, in words.
pub(super) fn own_name(path: &str) -> String {
    let parts = path.rsplit('.').filter(|part| !BARE_PARTS.contains(&part.to_lowercase().as_str()));
    let part = parts.into_iter().next().unwrap_or(path);
    let mut words = String::new();
    let mut before_is_lower = false;
    for c in part.chars() {
        match c {
            _ if !c.is_alphanumeric() => words.push(' '),
            _ if c.is_uppercase() && before_is_lower => {
                words.push(' ');
                words.extend(c.to_lowercase());
            }
            _ => words.extend(c.to_lowercase()),
        }
        before_is_lower = c.is_lowercase();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_called_by_the_last_part_that_says_something() {
        for (path, name) in [
            ("numberOfRooms", "number of rooms"),
            ("mileageFromOdometer.value", "mileage from odometer"),
            ("additionalProperty.Water column", "water column"),
            ("additionalProperty.waterColumn", "water column"),
            ("emissionsCO2", "emissions co2"),
            ("value", "value"),
        ] {
            assert_eq!(own_name(path), name, "{path}");
        }
    }

    #[test]
    fn a_name_may_end_with_whom_it_is_good_for_or_for_whom_it_is_counted() {
        for (name, tail) in [
            ("gets on with cats", Some("with cats")),
            ("geeignet für kinder", Some("für kinder")),
            ("se lleva bien con perros", Some("con perros")),
            ("with cats", None),
            ("good with small animals", None),
            ("room number", None),
        ] {
            assert_eq!(led_tail(name), tail, "{name}");
        }
        assert_eq!((last_word("price per person"), last_word("prix moyen par personne")), (None, None));
        assert_eq!(last_word("sun protection factor"), Some("factor"));
    }

    #[test]
    fn what_other_rules_read_is_not_learnt() {
        for path in [
            "additionalProperty.value",
            "additionalProperty.value.gram",
            "offers.price",
            "totalTime",
            "brand.name",
            "@type",
            "offers.availability",
            "keywords.count",
            "url.host",
            "lastDay",
        ] {
            assert!(!is_open(path), "{path}");
        }
        assert!(is_open("numberOfRooms") && is_open("amenityFeature.Garden"));
    }
}
