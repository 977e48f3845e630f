//! "in Berlin", "near Boise, Idaho": places that items are at, where the data has that place.

use std::ops::Range;
use std::sync::LazyLock;

use forecourt_vocabulary::{LANGUAGES, folded, place_names};
use regex::Regex;

use crate::country;
use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::paths::PLACE_PATHS;
use crate::pattern::pattern;
use crate::scope::QuestionScope;

/// Letters of a place that stands alone: codes of countries are words.
const LETTERS_MIN: usize = 3;
/// Words of the longest place.
const PLACE_WORDS_MAX: usize = 4;
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:located\s+in|based\s+in|in|on|near|around|from|at|auf|aus|bei|im|an|nahe|à|au|sur|dans|près\s+de|en|cerca\s+de)\s+(?:(?:the|der|dem|den|la|le|les|el|los|las)\s+|l['’])?",
    )
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\S*[^\s,.?!;:]"));
/// What stands between two places, either of which will do.
static OR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\s*,\s*|\s+)(?P<tie>(?:or|and|oder|und|ou|et|o|u|y|e)\s+)?(?:(?:in|on|near|at|auf|bei|im|an|à|au|sur|dans|en)\s+)?(?:(?:the|der|dem|den|la|le|les|el|los|las)\s+|l['’])?",
    )
});
/// Places in one list.
const PLACES_MAX: usize = 8;

pub(crate) fn read(draft: &mut Draft<'_>) {
    let text = &draft.out.text;
    let found = LEAD.find_iter(text).find_map(|lead| {
        let (filters, end) = places(draft.known, &text[lead.end()..]);
        Some((lead.start()..lead.end() + end, any_of(filters, draft)?))
    });
    let found = found.or_else(|| alone(draft)).or_else(|| country::read(draft)).or_else(|| elsewhere(draft));
    if let Some((range, filter)) = found.filter(|_| draft.has_room(1)) {
        draft.take(range, vec![filter]);
    }
}

/// A place that is all there is: "Paris", and "what about Paris?".
fn alone(draft: &Draft<'_>) -> Option<(Range<usize>, Filter)> {
    let text = draft.out.text.as_str();
    let name = text.trim_matches(|c: char| !c.is_alphanumeric());
    let start = text.find(name).filter(|_| name.chars().count() >= LETTERS_MIN)?;
    Some((start..start + name.len(), filter(draft.known, name)?))
}

/// Words that lead to a place, and to hardly anything else that begins with a capital letter.
static IN: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:in|à|en)\s+"));
/// The part of the items that have to say where they are, for a name that none has to be another place.
const PLACED_SHARE_MIN: f64 = 0.5;

/// A place where no item is, of items that say where they are: its name is a word that neither they nor the vocabulary
/// have. What is in Lyon is not in Rome, whatever else it shares with a question.
fn elsewhere(draft: &Draft<'_>) -> Option<(Range<usize>, Filter)> {
    let known = draft.known;
    let fields: Vec<String> =
        PLACE_PATHS.iter().filter(|path| known.share(path) > 0.0).map(|path| (*path).to_owned()).collect();
    // An item states its place in several properties at once: the one that most have tells how many say it at all.
    if fields.iter().map(|path| known.share(path)).fold(0.0, f64::max) < PLACED_SHARE_MIN {
        return None;
    }
    let text = &draft.out.text;
    IN.find_iter(text).find_map(|lead| {
        let rest = &text[lead.end()..];
        let is_name = |word: &str| {
            let is_unknown = !known.has_written(word) && draft.vocabulary().subjects_in(&[&folded(word)]).is_empty();
            let is_common = is_common(word) || is_compound(draft, word);
            let is_capital = word.chars().next().is_some_and(char::is_uppercase) && !is_common;
            is_capital && word.chars().any(char::is_lowercase) && word.chars().all(char::is_alphabetic) && is_unknown
        };
        // All words of a name: "San Sebastián".
        let mut end = 0;
        for word in WORD.find_iter(rest).take(PLACE_WORDS_MAX) {
            if !is_name(word.as_str()) || !rest[end..word.start()].trim().is_empty() {
                break;
            }
            end = word.end();
        }
        let (name, is_place) = (&rest[..end], end > 0);
        let test = Test::Is(name.to_lowercase());
        let words = format!("in {name}");
        is_place.then(|| (lead.start()..lead.end() + end, Filter { fields: fields.clone(), test, words }))
    })
}

/// How German nouns end that are no names: each of its nouns has a capital letter.
const COMMON_ENDINGS: &[&str] = &[
    "ung",
    "ungen",
    "heit",
    "keit",
    "schaft",
    "tion",
    "tionen",
    "tät",
    "lage",
    "form",
    "farbe",
    "farben",
    "größe",
    "größen",
    "nähe",
    "stil",
    "optik",
    "sprache",
    "sprachen",
    "zustand",
    "bauweise",
    "arbeit",
    "zeit",
    "breite",
    "höhe",
    "länge",
    "dauer",
    "auswahl",
    "betrieb",
    "verbindung",
    "raum",
    "tracht",
    "leder",
    "format",
    "weite",
    "schrift",
    "klasse",
    "stufe",
    "folge",
    "begleitung",
    "gruppe",
    "gruppen",
    "ferien",
];

/// Whether a word ends as common nouns do: "in Gebärdensprache".
fn is_common(word: &str) -> bool {
    let word = word.to_lowercase();
    COMMON_ENDINGS.iter().any(|ending| word.strip_suffix(ending).is_some_and(|begin| begin.chars().count() > 2))
        || COMMON_ENDINGS.contains(&word.as_str())
}

/// How German places end whose ends are words of their own.
const PLACE_ENDINGS: &[&str] = &[
    "burg", "berg", "dorf", "stadt", "heim", "hausen", "furt", "bach", "feld", "kirchen", "hafen", "brück", "brücken",
    "tal", "wald", "see", "stein", "ried",
];
/// Letters of the noun at the end of a compound, and of what stands before it.
const NOUN_LETTERS_MIN: usize = 4;
const BEFORE_LETTERS_MIN: usize = 3;

/// Whether a word ends with a German noun that the vocabulary or an item has: each German noun has a capital letter, and
/// what is in "Doppelzimmern" is in no place of that name.
fn is_compound(draft: &Draft<'_>, word: &str) -> bool {
    let word = word.to_lowercase();
    if PLACE_ENDINGS.iter().any(|ending| word.ends_with(ending)) {
        return false;
    }
    let german = LANGUAGES.iter().position(|code| *code == GERMAN);
    let is_noun = |tail: &str| {
        let tail = folded(tail);
        let subjects = draft.vocabulary().subjects_in(&[tail.as_str()]);
        subjects.iter().any(|subject| subject.is_written && Some(subject.language) == german)
    };
    let tails = word.char_indices().skip(BEFORE_LETTERS_MIN).map(|(at, _)| &word[at..]);
    tails
        .filter(|tail| tail.chars().count() >= NOUN_LETTERS_MIN)
        .any(|tail| draft.known.has_written(tail) || is_noun(tail))
}

/// The language in which nouns have capital letters.
const GERMAN: &str = "de";

/// The places that a text begins with, and where the last of them ends.
fn places(known: &dyn QuestionScope, text: &str) -> (Vec<Filter>, usize) {
    let (mut filters, mut end, mut from): (Vec<Filter>, usize, usize) = (Vec::new(), 0, 0);
    let mut is_tied = true;
    while filters.len() < PLACES_MAX {
        let rest = &text[from..];
        let ends: Vec<usize> = WORD.find_iter(rest).take(PLACE_WORDS_MAX).map(|word| word.end()).collect();
        // The longest first: `New York City` before `New York`.
        let found = ends.iter().rev().find_map(|end| Some((filter(known, &rest[..*end])?, *end)));
        let Some((filter, words)) = found else { break };
        // "In Berlin, Germany" is one place.
        if !is_tied && filters.first().is_some_and(|first| first.fields != filter.fields) {
            break;
        }
        filters.push(filter);
        end = from + words;
        let Some(or) = OR.captures(&text[end..]) else { break };
        (from, is_tied) = (end + or.get_match().end(), or.name("tie").is_some());
    }
    (filters, end)
}

/// What is at one of these places.
fn any_of(mut filters: Vec<Filter>, draft: &Draft<'_>) -> Option<Filter> {
    if filters.len() < 2 {
        return filters.pop();
    }
    let names: Vec<&str> = filters.iter().map(|filter| filter.words.trim_start_matches("in ")).collect();
    let joined = names.iter().skip(1).fold(names[0].to_owned(), |all, name| draft.say("or", &[&all, name]));
    Some(Filter::any_of(filters, format!("in {joined}")))
}

/// What is at a place. `None` when no item is.
pub(crate) fn filter(known: &dyn QuestionScope, place: &str) -> Option<Filter> {
    let folded = place.trim().to_lowercase();
    let words = format!("in {}", place.trim());
    // The name before the code: both may be a value, and what was written counts.
    let own = at(known, &folded).or_else(|| country::spellings(&folded).iter().find_map(|place| at(known, place)));
    // What a place is called in other languages, and what lies in a region.
    let others = place_names(&folded).into_iter().filter(|name| name.to_lowercase() != folded);
    let all = own.into_iter().chain(others.filter_map(|name| at(known, &name.to_lowercase())));
    let all = all.map(|(value, fields)| Filter { fields, test: Test::Is(value), words: words.clone() });
    let all: Vec<Filter> = all.collect();
    // What lies in a town of that name is no room of it.
    let is_address = all.iter().flat_map(|one| &one.fields).any(|field| !ROOM_PATHS.contains(&field.as_str()));
    let within = (!is_address).then(|| part_of_name(known, place.trim(), &words)).flatten();
    let all: Vec<Filter> = all.into_iter().chain(within).collect();
    (!all.is_empty()).then(|| Filter::any_of(all, words))
}

/// Where items say in which room or house something takes place.
const ROOM_PATHS: [&str; 2] = ["location.name", "hasCourseInstance.location.name"];

/// What takes place in a room or house that is called so and more: "Blue Room, Old Mill". A word alone is a name only with
/// a capital letter.
fn part_of_name(known: &dyn QuestionScope, place: &str, words: &str) -> Option<Filter> {
    let is_name = place.contains(' ') || place.chars().next().is_some_and(char::is_uppercase);
    let has = |path: &&&str| place.split_whitespace().all(|word| known.has_word(path, &word.to_lowercase()));
    let fields: Vec<String> = ROOM_PATHS.iter().filter(has).map(|path| (*path).to_owned()).collect();
    if !is_name || place.chars().count() < LETTERS_MIN || fields.is_empty() {
        return None;
    }
    let filter = Filter { fields, test: Test::Mentions(place.to_lowercase()), words: words.to_owned() };
    known.finds("", std::slice::from_ref(&filter)).then_some(filter)
}

/// The properties that have exactly this place.
fn at(known: &dyn QuestionScope, place: &str) -> Option<(String, Vec<String>)> {
    let has = |path: &&&str| known.has_value(path, place);
    let fields: Vec<String> = PLACE_PATHS.iter().filter(has).map(|path| (*path).to_owned()).collect();
    (!fields.is_empty()).then(|| (place.to_owned(), fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{parts, understood};

    /// Hotels that say where they are.
    struct Hotels;

    impl QuestionScope for Hotels {
        fn has_number(&self, _: &str) -> bool {
            false
        }
        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }
        fn has_value(&self, path: &str, value: &str) -> bool {
            path == "address.addressLocality" && value.eq_ignore_ascii_case("lyon")
        }
        fn share(&self, path: &str) -> f64 {
            f64::from(u8::from(path == "address.addressLocality"))
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, _: &str, _: &[Filter]) -> bool {
            false
        }
        fn has_written(&self, word: &str) -> bool {
            ["Lyon", "Bauhaus", "lyon", "bauhaus"].contains(&word)
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
    }

    #[test]
    fn a_name_that_no_item_has_is_a_place_where_none_is() {
        let limits = |text: &str| {
            let found = understood(text, &Hotels).filters.into_iter();
            found.map(|filter| filter.words).collect::<Vec<_>>()
        };
        for (text, place) in [
            ("hotel in Rome near the station", "in Rome"),
            ("Hotel in Rom", "in Rom"),
            ("Hotel in Salzburg", "in Salzburg"),
            ("hotel in Barcelona", "in Barcelona"),
            ("un hôtel à Rome", "in Rome"),
            ("hotel in San Sebastián", "in San Sebastián"),
            ("hotel in Rome. Thanks", "in Rome"),
        ] {
            assert_eq!(limits(text), [place], "{text}");
        }
        assert_eq!(limits("hotel in Lyon"), ["in Lyon"]);
        // A style that items have, things of the vocabulary, and words that are no names.
        for text in [
            "hotel in Bauhaus",
            "Hotel in Altbauhaus",
            "Hotel in Kunstleder",
            "Hotel in Leder",
            "hotel in style",
            "Zimmer in Blau",
            "hotel in EUR",
        ] {
            assert!(limits(text).is_empty(), "{text}: {:?}", limits(text));
        }
    }

    /// Events in rooms whose names have the name of the house in them.
    struct Rooms;

    impl QuestionScope for Rooms {
        fn has_number(&self, _: &str) -> bool {
            false
        }
        fn has_word(&self, path: &str, word: &str) -> bool {
            path == "location.name" && ["blue", "room", "saal", "kleiner", "mill"].contains(&word)
        }
        fn has_value(&self, path: &str, value: &str) -> bool {
            match path {
                "location.name" => value == "blue room",
                "location.address.addressLocality" => value == "mill",
                _ => false,
            }
        }
        fn share(&self, _: &str) -> f64 {
            0.0
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, text: &str, _: &[Filter]) -> bool {
            text.is_empty()
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
    }

    #[test]
    fn a_room_is_known_by_a_part_of_what_it_is_called_and_a_town_is_not() {
        let tests = |text: &str| {
            let all = understood(text, &Rooms).filters.into_iter();
            all.flat_map(|filter| filter.alternatives().iter().map(|one| one.test.clone()).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let mentions = |name: &str| Test::Mentions(name.to_owned());
        for text in ["talks in the Blue Room", "Vorträge im Blue Room in May", "talks in the blue room"] {
            assert_eq!(tests(text), [Test::Is("blue room".to_owned()), mentions("blue room")], "{text}");
        }
        assert_eq!(tests("Lesung im Kleiner Saal"), [mentions("kleiner saal")]);
        assert_eq!(tests("talks in Mill"), [Test::Is("mill".to_owned())]);
        assert!(tests("talks in saal").is_empty());
    }

    #[test]
    fn a_place_is_known_by_its_names_in_other_languages() {
        let known = filter(&Hotels, "Lyons").map(|filter| (filter.words, filter.test));
        assert_eq!(known, Some(("in Lyons".to_owned(), Test::Is("lyon".to_owned()))));
        assert!(filter(&Hotels, "Schottland").is_none());
    }

    #[test]
    fn places_that_the_data_has_are_constraints() {
        for (text, left, limit) in [
            ("concerts in Berlin", "concerts", "in Berlin"),
            ("concerts near New York please", "concerts please", "in New York"),
            ("hotels in Italy", "hotels", "in Italy"),
            ("Berlin?", "", "in Berlin"),
            ("Konzerte in Berlin", "Konzerte", "in Berlin"),
            ("des concerts à Berlin", "des concerts", "in Berlin"),
            ("concerts in Berlin or New York", "concerts", "in Berlin or New York"),
            ("Konzerte in Berlin oder New York", "Konzerte", "in Berlin or New York"),
            ("concerts à Berlin ou à New York", "concerts", "in Berlin or New York"),
            ("concerts in Berlin or outdoors", "concerts or outdoors", "in Berlin"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        for text in ["concerts in Atlantis", "from scratch", "in", "Berlin wall"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }
}
