//! "within 5 km of Porto", "near the station": how far items may be from a place, where the data has one of that name or
//! the caller gives its position.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::filter::{Filter, Test};
use crate::limits::DISTANCES_READ_MAX;
use crate::pattern::pattern;
use crate::scope::{QuestionScope, ReadingAids};
use crate::stated_distance;

/// Where items state a position, each with `latitude` and `longitude` in it.
const POSITIONS: [&str; 4] = ["geo", "location.geo", "jobLocation.geo", "availableAtOrFrom.geo"];
/// Kilometres that are near, where nobody says how many.
const NEAR_KM: f64 = 10.0;
/// The least and the greatest distance that can be asked for, in kilometres.
const KM_MIN: f64 = 0.05;
const KM_MAX: f64 = 20_000.0;
/// Words of the longest name of a place.
const PLACE_WORDS_MAX: usize = 5;

static DISTANCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:within|inside|less\s+than|at\s+most|up\s+to|under|(?:no|not)\s+(?:more|farther|further)\s+than|in\s+an?|nicht\s+(?:weiter|mehr)\s+als|maximal|max\.?|bis(?:\s+zu)?|in\s+einem\s+umkreis\s+von|pas\s+à\s+plus\s+de|au\s+plus\s+à|jusqu['’]à|à|a\s+no\s+más\s+de|como\s+máximo\s+a|hasta|im\s+umkreis\s+von|innerhalb\s+von|weniger\s+als|höchstens|à\s+moins\s+de|dans\s+un\s+rayon\s+de|a\s+menos\s+de|en\s+un\s+radio\s+de|a)\s+)?(\d{1,5}(?:[.,]\d{1,2})?)\s*(km|kms|kilom[eè]t(?:er|re)s?|kilómetros?|kilometern?|mi|miles?|meilen|m|met(?:er|re)s?|metern|mètres?|metros?)\s+(?:(?:maximum|max|au\s+plus|au\s+maximum|como\s+máximo)\s+)?(?:away\s+from|from|of|around|radius\s+(?:of|around)|um|von|vom|entfernt\s+von|autour\s+de|alrededor\s+de|de\s+la|du|del|de)(?:\s+)|\b(\d{1,5}(?:[.,]\d{1,2})?)\s*(km|m)\s+d['’]",
    )
});
static NEAR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:near(?:\s+to)?|nearby\s+to|close\s+to|not\s+far\s+from|in\s+der\s+nähe\s+(?:von|vom|der|des)|nahe|près\s+(?:de\s+la|du|de)|cerca\s+(?:del|de))\s+|\bprès\s+d['’]",
    )
});
static ARTICLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:the|der|die|das|dem|den|la|le|les|l['’]|el|los|las)\s*\b"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\S*[^\s,.?!;:]"));
static COORDINATES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(-?\d{1,2}(?:\.\d+)?)\s*[,;]\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*[,;]\s*(\d+(?:\.\d+)?)(?:\s*km)?)?\s*$")
});

/// How limits of distance are said, by language: `{0}` is the distance, `{1}` the place.
const SAID: [(&str, &str); 4] = [
    ("en", "within {0} km of {1}"),
    ("de", "im Umkreis von {0} km um {1}"),
    ("fr", "à moins de {0} km de {1}"),
    ("es", "a menos de {0} km de {1}"),
];

/// The limit of distance in a question, and the bytes that say it. `None`: it has none, or names no place that the data
/// has.
pub(crate) fn read(text: &str, aids: ReadingAids<'_>) -> Option<(Filter, Range<usize>)> {
    if fields(aids.known).is_empty() {
        return None;
    }
    let told = DISTANCE.captures_iter(text).filter_map(|found| {
        let (number, unit) = (found.get(1).or(found.get(3))?, found.get(2).or(found.get(4))?);
        let number: f64 = number.as_str().replace(',', ".").parse().ok()?;
        Some((found.get(0)?.range(), number * factor(unit.as_str())))
    });
    let near = NEAR.find_iter(text).map(|found| (found.range(), NEAR_KM));
    told.chain(near).take(DISTANCES_READ_MAX).find_map(|(lead, km)| {
        let rest = &text[lead.end..];
        let skipped = ARTICLE.find(rest).map_or(0, |article| article.end());
        let ends: Vec<usize> = WORD.find_iter(&rest[skipped..]).take(PLACE_WORDS_MAX).map(|word| word.end()).collect();
        // Items say themselves how far it is to the beach, whatever is called after one.
        if ends.first().is_some_and(|end| stated_distance::is_stated(&rest[skipped..skipped + end], aids)) {
            return None;
        }
        // The longest first: `New York City` before `New York`.
        let (end, position, name) = ends.iter().rev().find_map(|end| {
            let name = rest[skipped..skipped + end].trim();
            Some((skipped + end, aids.known.position(name)?, name))
        })?;
        Some((filter(position, km, name, aids)?, lead.start..lead.end + end))
    })
}

/// The limit that a caller gives as `"41.15,-8.61"`, with the kilometres behind it (`"41.15,-8.61,5"`).
pub(crate) fn of_text(text: &str, aids: ReadingAids<'_>) -> Option<Filter> {
    let found = COORDINATES.captures(text)?;
    let number = |at: usize| found.get(at).and_then(|part| part.as_str().parse::<f64>().ok());
    let position = (number(1)?, number(2)?);
    filter(position, number(3).unwrap_or(NEAR_KM), &format!("{}, {}", position.0, position.1), aids)
}

/// The limit that a caller gives as `{"latitude": 41.15, "longitude": -8.61, "km": 5}`.
pub(crate) fn of_object(fields: &Map<String, Value>, aids: ReadingAids<'_>) -> Option<Filter> {
    let number = |key: &str| fields.get(key).and_then(Value::as_f64);
    let position = (number("latitude")?, number("longitude")?);
    let name = fields.get("name").and_then(Value::as_str);
    let name = name.map_or_else(|| format!("{}, {}", position.0, position.1), str::to_owned);
    filter(position, number("km").unwrap_or(NEAR_KM), &name, aids)
}

fn filter((latitude, longitude): (f64, f64), km: f64, name: &str, aids: ReadingAids<'_>) -> Option<Filter> {
    let is_place = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
    let (fields, km) = (fields(aids.known), km.clamp(KM_MIN, KM_MAX));
    let code = aids.answer_in.as_str().split('-').next().unwrap_or_default();
    let said = SAID.iter().find(|(known, _)| *known == code).map_or(SAID[0].1, |(_, said)| said);
    let words = said.replace("{0}", &aids.spell(km)).replace("{1}", name);
    (is_place && !fields.is_empty()).then_some(Filter { fields, test: Test::Near { latitude, longitude, km }, words })
}

/// Whether items state where they are.
pub(crate) fn are_placed(known: &dyn QuestionScope) -> bool {
    !fields(known).is_empty()
}

/// The paths of the latitudes that items state.
fn fields(known: &dyn QuestionScope) -> Vec<String> {
    let paths = POSITIONS.iter().map(|path| format!("{path}.latitude"));
    paths.filter(|path| known.has_number(path)).collect()
}

fn factor(unit: &str) -> f64 {
    match unit.to_lowercase().as_str() {
        "mi" | "mile" | "miles" | "meilen" => 1.609_344,
        unit if unit.starts_with('k') => 1.0,
        _ => 0.001,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::{parts, read_named};

    #[test]
    fn a_place_that_the_data_has_is_near() {
        for (text, left, limit) in [
            ("cafés within 5 km of Porto", "cafés", "within 5 km of Porto"),
            ("cafés within 2 miles of the Porto, please", "cafés, please", "within 3.22 km of Porto"),
            ("cafés 500 m from Porto", "cafés", "within 0.5 km of Porto"),
            ("cafés near Porto", "cafés", "within 10 km of Porto"),
            ("cafés nearby to Porto", "cafés", "within 10 km of Porto"),
            ("Cafés im Umkreis von 5 km um Porto", "Cafés", "within 5 km of Porto"),
            ("Cafés in der Nähe von Porto", "Cafés", "within 10 km of Porto"),
            ("des cafés à moins de 5 km de Porto", "des cafés", "within 5 km of Porto"),
            ("cafés a menos de 5 km de Porto", "cafés", "within 5 km of Porto"),
            ("cafés cerca de Porto", "cafés", "within 10 km of Porto"),
        ] {
            let (rest, limits) = parts(text);
            assert!(limits.contains(&limit.to_owned()), "{text}: {limits:?}");
            assert_eq!(rest.split_whitespace().collect::<Vec<_>>().join(" "), left, "{text}");
        }
        for text in ["cafés near Atlantis", "nearby Porto wine", "nahezu alles", "5 km of nothing", "near"] {
            assert!(parts(text).1.iter().all(|limit| !limit.starts_with("within")), "{text}");
        }
    }

    #[test]
    fn only_so_many_places_are_looked_up() {
        let is_near = |others: usize| {
            let text = format!("{}near Porto", "near Atlantis, ".repeat(others));
            parts(&text).1.iter().any(|limit| limit.starts_with("within"))
        };
        assert!(is_near(DISTANCES_READ_MAX - 1) && !is_near(DISTANCES_READ_MAX));
    }

    #[test]
    fn a_caller_gives_a_position() {
        let near = |value: serde_json::Value| match read_named("near", &value).as_slice() {
            [Filter { test: Test::Near { latitude, longitude, km }, .. }] => Some((*latitude, *longitude, *km)),
            _ => None,
        };
        assert_eq!(near("41.15,-8.61".into()), Some((41.15, -8.61, NEAR_KM)));
        assert_eq!(near("41.15, -8.61, 5 km".into()), Some((41.15, -8.61, 5.0)));
        let object = serde_json::json!({"latitude": 41.15, "longitude": -8.61, "km": 0.5});
        assert_eq!(near(object), Some((41.15, -8.61, 0.5)));
        assert_eq!(near("91,0".into()), None);
        assert_eq!(near("41.15,-8.61,0".into()), Some((41.15, -8.61, KM_MIN)));
        assert_eq!(near("41.15,-8.61,99999999".into()), Some((41.15, -8.61, KM_MAX)));
    }

    proptest! {
        #[test]
        fn any_text_is_near_something_or_not(text in "(near|within 5 km of|5 m d'|près de|.{0,9}){0,3} .{0,20}") {
            let _ = parts(&text);
            let _ = read_named("near", &text.into());
        }
    }
}
