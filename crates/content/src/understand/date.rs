//! "from 1999", "in the 90s", "since 2010", "between 1980 and 1985".

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::{Captures, Regex};

use super::{Draft, last_word, within};
use crate::measure::days_of;
use crate::search::Filter;

const PATHS: &[&str] = &["datePublished", "dateCreated", "releaseDate", "startDate", "copyrightYear"];
/// The last moment of a day, as part of it.
const TO_MIDNIGHT: f64 = 1.0 - 1.0 / 86_400.0;
/// Words in front of "in 1999" that make it the time of a story.
const STORY: &[&str] = &["set", "place", "happens", "happening", "situated", "playing", "born", "died"];

const YEAR: &str = r"((?:18|19|20)\d\d)";

static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b(?:(?:made|released|published)\s+)?(?:between|from)\s+{YEAR}\s*(?:and|to|until|-|–)\s*{YEAR}\b"
    ))
});
static SINCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(since|after|later\s+than|newer\s+than)\s+{YEAR}\b")));
static BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(before|prior\s+to|older\s+than|until)\s+{YEAR}\b")));
static DECADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:(?:from|in|of|during)\s+)?(?:the\s+)?(?:(?:early|late|mid)[\s-]+)?'?((?:18|19|20)?\d0)'?s\b")
});
static YEAR_ALONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b(?:(?:made|released|published)\s+)?(?:from|in|of)\s+(?:the\s+year\s+)?{YEAR}\b"))
});

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}

pub(super) fn read(draft: &mut Draft<'_>) {
    let Some(path) = draft.number_path(PATHS) else { return };
    let before = draft.out.filters.len();
    draft.each(&BETWEEN, |found, _| {
        years(path, year(found, 1)?, year(found, 2)?, |from, to| format!("from {from} to {to}"))
    });
    draft.each(&SINCE, |found, _| {
        let from = year(found, 2)? + i16::from(!found.get(1)?.as_str().eq_ignore_ascii_case("since"));
        Some(within(path, Some(first_day(from)?), None, format!("{from} or later")))
    });
    draft.each(&BEFORE, |found, _| {
        let to = year(found, 2)? - i16::from(!found.get(1)?.as_str().eq_ignore_ascii_case("until"));
        Some(within(path, None, Some(last_day(to)?), format!("{to} or earlier")))
    });
    draft.each(&DECADE, |found, before| {
        let first = decade(found.get(1)?.as_str())?;
        (!STORY.contains(&last_word(before).as_str())).then_some(())?;
        years(path, first, first + 9, |from, _| format!("from the {from}s"))
    });
    draft.each(&YEAR_ALONE, |found, before| {
        (!STORY.contains(&last_word(before).as_str())).then_some(())?;
        let year = year(found, 1)?;
        years(path, year, year, |year, _| format!("from {year}"))
    });
    if draft.out.filters.len() > before {
        draft.note("Items without a date are left out.");
    }
}

fn years(path: &str, from: i16, to: i16, words: impl Fn(i16, i16) -> String) -> Option<Filter> {
    let (from, to) = (from.min(to), from.max(to));
    Some(within(path, Some(first_day(from)?), Some(last_day(to)?), words(from, to)))
}

fn year(found: &Captures<'_>, group: usize) -> Option<i16> {
    found.get(group)?.as_str().parse().ok()
}

/// `90` is 1990, `20` is 2020, `1890` is itself.
fn decade(text: &str) -> Option<i16> {
    let number: i16 = text.parse().ok()?;
    Some(match number {
        0..30 => 2_000 + number,
        30..100 => 1_900 + number,
        _ => number,
    })
}

fn first_day(year: i16) -> Option<f64> {
    Date::new(year, 1, 1).ok().map(days_of)
}

fn last_day(year: i16) -> Option<f64> {
    Date::new(year, 12, 31).ok().map(|day| days_of(day) + TO_MIDNIGHT)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Everything, parts};
    use super::super::{Test, understand};

    #[test]
    fn years_and_decades_are_ranges() {
        for (text, left, limit) in [
            ("ships from 1999", "ships", "from 1999"),
            ("ships in the 90s", "ships", "from the 1990s"),
            ("80's ships", "ships", "from the 1980s"),
            ("1970s ships", "ships", "from the 1970s"),
            ("ships since 2010", "ships", "2010 or later"),
            ("ships after 2010", "ships", "2011 or later"),
            ("ships before 1990", "ships", "1989 or earlier"),
            ("ships released between 1985 and 1980", "ships", "from 1980 to 1985"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn titles_and_stories_stay() {
        for text in
            ["2001 a space odyssey", "blade runner 2049", "a story set in 1944", "takes place in 1920", "50 ways"]
        {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_year_ends_with_its_last_second() {
        let understood = understand("ships from 1970", &Everything);
        let Test::Within { from: Some(from), to: Some(to) } = understood.filters[0].test else { panic!() };
        assert!(from == 0.0 && to > 364.9 && to < 365.0);
    }
}
