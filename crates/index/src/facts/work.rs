//! How many hours of work a week an item says that it is.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::derived::all;
use forecourt_understanding::WORK_HOURS;

/// Bytes of a text of working hours.
const TEXT_BYTES_MAX: usize = 256;
/// Hours of a week.
const WEEK: f64 = 168.0;

/// "20 hours a week", "20-30 Std./Woche", "35 heures par semaine": one number or two. Not the hours of a day.
static HOURS: LazyLock<Regex> = LazyLock::new(|| {
    // Written down here, so it compiles.
    Regex::new(concat!(
        r"(?i)\b(?P<from>\d{1,3}(?:[.,]\d{1,2})?)(?:\s*(?:-|–|to|bis|à|a)\s*(?P<to>\d{1,3}(?:[.,]\d{1,2})?))?",
        r"\s*-?(?:hours?|hrs?|h|stunden|std|wochenstunden|heures?|horas?)\b\.?\s*(?P<day>(?:a|per|pro|am|par|al|por|/|je)\s*",
        r"(?:day|tag|jour|día|dia)\b|daily|täglich)?",
    ))
    .unwrap_or_else(|error| panic!("{error}"))
});

/// Clock times from one to another, "9h-17h", and what stands behind them where hours of a week are meant: "20h à
/// 24h par semaine".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    // Written down here, so it compiles.
    Regex::new(concat!(
        r"(?i)\b(?:[01]?\d|2[0-4])\s*h\s*(?:[0-5]\d)?\s*(?:-|–|to|bis|à|a)\s*(?:[01]?\d|2[0-4])\s*h(?:[0-5]\d)?\b",
        r"(?P<week>\s*(?:(?:a|per|pro|par|por|je|die|in der|à la|a la|/)\s*(?:week|woche|semaine|sem|semana)\b",
        r"|weekly|wöchentlich|hebdo|semanales))?",
    ))
    .unwrap_or_else(|error| panic!("{error}"))
});

/// The least and the most hours of a week.
pub(super) fn hours(item: &Value) -> Option<[(&'static str, f64); 2]> {
    let stated = all(item, "workHours").filter_map(Value::as_str).filter(|text| text.len() <= TEXT_BYTES_MAX);
    let (from, to) = stated.filter_map(weekly).next()?;
    Some([(WORK_HOURS[0], from), (WORK_HOURS[1], to)])
}

fn weekly(text: &str) -> Option<(f64, f64)> {
    let without_clock =
        |found: &Captures<'_>| if found.name("week").is_some() { found[0].to_owned() } else { " ".to_owned() };
    let text = CLOCK.replace_all(text, without_clock);
    let found = HOURS.captures_iter(&text).find(|found| found.name("day").is_none())?;
    let number = |name: &str| found.name(name)?.as_str().replace(',', ".").parse::<f64>().ok();
    let from = number("from")?;
    let to = number("to").unwrap_or(from);
    (0.0 < from && from <= to && to <= WEEK).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn hours_of_a_week_are_read_from_texts() {
        for (text, hours) in [
            ("20 hours a week", Some((20.0, 20.0))),
            ("20 to 30 hours a week, night shifts", Some((20.0, 30.0))),
            ("22.5 hours a week", Some((22.5, 22.5))),
            ("38,5 Std./Woche", Some((38.5, 38.5))),
            ("35 heures par semaine", Some((35.0, 35.0))),
            ("40h", Some((40.0, 40.0))),
            ("20h à 30h par semaine", Some((20.0, 20.0))),
            ("20h à 24h par semaine", Some((20.0, 20.0))),
            ("9h30-17h, 35h par semaine", Some((35.0, 35.0))),
            ("de 9h à 17h 35 heures par semaine", Some((35.0, 35.0))),
            ("9h-17h", None),
            ("9h-12h et 14h-18h30 du lundi au vendredi", None),
            ("8 hours a day", None),
            ("Monday to Friday 08:00-16:00", None),
            ("30 to 20 hours", None),
            ("169 hours", None),
        ] {
            let found = super::hours(&json!({"workHours": text})).map(|[(_, from), (_, to)]| (from, to));
            assert_eq!(found, hours, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_hours_of_a_week_or_none(text in any::<String>(), number in "[0-9.,-]{0,9} ?(hours|h|Std)? ?(a day)?") {
            for text in [text, number] {
                let found = super::hours(&json!({"workHours": text}));
                prop_assert!(found.is_none_or(|ends| ends.iter().all(|(_, hours)| *hours <= WEEK)));
            }
        }
    }
}
