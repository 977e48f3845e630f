//! "from 1999", "in the 90s", "since 2010", "between 1980 and 1985", "after 1 May 2021", "vor 1990".

use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::Date;
use regex::{Captures, Regex};

use super::{Draft, last_word, pattern, within};
use crate::measure::days_of;
use crate::search::Filter;

pub(super) const PATHS: &[&str] = &["datePublished", "dateCreated", "releaseDate", "startDate", "copyrightYear"];
/// The shortest time that is told apart: a second, as part of a day.
pub(super) const MOMENT: f64 = 1.0 / 86_400.0;
/// The last moment of a day, as part of it.
const TO_MIDNIGHT: f64 = 1.0 - MOMENT;
/// Words in front of "in 1999" or "90s" that make it the time of a story, or of a life.
const STORY: &[&str] = &[
    "set",
    "place",
    "happens",
    "happening",
    "situated",
    "playing",
    "born",
    "died",
    "their",
    "his",
    "her",
    "my",
    "our",
];
/// The first three letters of the months.
const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Decades in words.
const DECADES: &[(&str, i16)] = &[
    ("twenties", 1920),
    ("thirties", 1930),
    ("forties", 1940),
    ("fifties", 1950),
    ("sixties", 1960),
    ("seventies", 1970),
    ("eighties", 1980),
    ("nineties", 1990),
];

const YEAR: &str = r"((?:18|19|20)\d\d)";
/// A year, a month of one, or a day: `2010`, `2010-05-01`, `May 2010`, `1 May 2010`, `May 1, 2010`.
const SPELLED: &str = r"((?:(?:\d{1,2}\.?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?)?(?:18|19|20)\d\d(?:-\d\d(?:-\d\d)?)?)";
const MADE: &str = r"(?:(?:made|released|published)\s+)?";

static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"(?:between|from|zwischen|von|entre|de)";
    pattern(&format!(r"\b{MADE}{between}\s+{YEAR}\s*(?:and|to|until|-|–|und|bis|et|à|y|a)\s*{YEAR}\b"))
});
static AFTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b{MADE}(?:after|later\s+than|newer\s+than|nach|après|después\s+de|tras)\s+{SPELLED}\b"))
});
static SINCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b{MADE}(?:since|starting|seit|ab|depuis|desde)\s+{SPELLED}\b")));
static OR_LATER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b{MADE}(?:from\s+)?{SPELLED}\s+(?:onwards?|or\s+(?:later|newer)|and\s+(?:later|newer|after))\b"
    ))
});
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b{MADE}(?:before|prior\s+to|older\s+than|vor|avant|antes\s+de)\s+{SPELLED}\b"))
});
static UNTIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b{MADE}(?:until|up\s+to|bis|jusqu['’]en|hasta)\s+{SPELLED}\b")));
static DECADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:from|in|of|during|aus)\s+)?(?:the\s+|der\s+|den\s+)?(?:(?:early|late|mid)[\s-]+)?'?((?:18|19|20)?\d0)(?:'?s|ern?(?:\s+jahren?)?)\b",
    )
});
/// French and Spanish name the years first.
static YEARS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:(?:dans\s+les|des|les|de\s+los|en\s+los|los)\s+)?(?:années|años)\s+((?:18|19|20)?\d0)\b")
});
static DECADE_IN_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = DECADES.iter().map(|(word, _)| *word).collect::<Vec<_>>().join("|");
    pattern(&format!(r"\b(?:(?:from|in|of|during)\s+)?the\s+({words})\b"))
});
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b{MADE}(?:from|in|of|aus|de|en)\s+(?:the\s+year\s+|dem\s+jahr\s+)?{SPELLED}\b"))
});

pub(super) fn read(draft: &mut Draft<'_>) {
    let Some(path) = draft.number_path(PATHS) else { return };
    let before = draft.out.filters.len();
    draft.each(&BETWEEN, |found, _| {
        let (from, to) = (year(found, 1)?, year(found, 2)?);
        years(path, from, to, |from, to| format!("from {from} to {to}"))
    });
    let since = |found: &Captures<'_>, _: &str| from_on(path, moment(&found[1])?.0);
    draft.each(&AFTER, |found, _| from_on(path, moment(&found[1])?.1.checked_add(1.day()).ok()?));
    draft.each(&OR_LATER, since);
    draft.each(&SINCE, since);
    draft.each(&BEFORE, |found, _| up_to(path, moment(&found[1])?.0.checked_sub(1.day()).ok()?));
    draft.each(&UNTIL, |found, _| up_to(path, moment(&found[1])?.1));
    decades(draft, path);
    draft.each(&ALONE, |found, before| {
        (!STORY.contains(&last_word(before).as_str())).then_some(())?;
        let (from, to) = moment(&found[1])?;
        Some(within(path, Some(days_of(from)), Some(days_of(to) + TO_MIDNIGHT), format!("from {}", &found[1])))
    });
    if draft.out.filters.len() > before {
        draft.note("Items without a date are left out.");
    }
}

fn decades(draft: &mut Draft<'_>, path: &str) {
    let whole = |first: i16| years(path, first, first + 9, |from, _| format!("from the {from}s"));
    let digits = |found: &Captures<'_>, before: &str| {
        (!STORY.contains(&last_word(before).as_str())).then_some(())?;
        whole(decade(&found[1])?)
    };
    draft.each(&DECADE, digits);
    draft.each(&YEARS, digits);
    draft.each(&DECADE_IN_WORDS, |found, before| {
        (!STORY.contains(&last_word(before).as_str())).then_some(())?;
        let word = found[1].to_lowercase();
        whole(DECADES.iter().find(|(known, _)| *known == word)?.1)
    });
}

fn from_on(path: &str, day: Date) -> Option<Filter> {
    let words = if (day.month(), day.day()) == (1, 1) { day.year().to_string() } else { day.to_string() };
    Some(within(path, Some(days_of(day)), None, format!("{words} or later")))
}

fn up_to(path: &str, day: Date) -> Option<Filter> {
    let words = if (day.month(), day.day()) == (12, 31) { day.year().to_string() } else { day.to_string() };
    Some(within(path, None, Some(days_of(day) + TO_MIDNIGHT), format!("{words} or earlier")))
}

fn years(path: &str, from: i16, to: i16, words: impl Fn(i16, i16) -> String) -> Option<Filter> {
    let (from, to) = (from.min(to), from.max(to));
    let (first, last) = (Date::new(from, 1, 1).ok()?, Date::new(to, 12, 31).ok()?);
    Some(within(path, Some(days_of(first)), Some(days_of(last) + TO_MIDNIGHT), words(from, to)))
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

/// The first and the last moment of a decade, a year, a month or a day.
pub(super) fn ends(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let decade = text.strip_suffix('s').map(|text| text.trim_end_matches('\'')).and_then(decade);
    let days = match decade {
        Some(first) => (Date::new(first, 1, 1).ok()?, Date::new(first + 9, 12, 31).ok()?),
        None => moment(text)?,
    };
    Some((days_of(days.0), days_of(days.1) + TO_MIDNIGHT))
}

/// The first and the last day of a year, a month or a day.
pub(super) fn moment(text: &str) -> Option<(Date, Date)> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split([' ', '\t', '-', ',', '.']).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<i16>().ok();
        match (number, MONTHS.iter().position(|name| lower.starts_with(name))) {
            (Some(1_000..), _) if year.is_some() => return None,
            (Some(number @ 1_000..), _) => year = Some(number),
            (Some(number), _) if month.is_none() && year.is_some() => month = i8::try_from(number).ok(),
            (Some(number), _) => day = i8::try_from(number).ok(),
            (None, Some(at)) => month = i8::try_from(at + 1).ok(),
            (None, None) => return None,
        }
    }
    let first = Date::new(year?, month.unwrap_or(1), day.unwrap_or(1)).ok()?;
    let last = match (month, day) {
        (None, _) => first.last_of_year(),
        (Some(_), None) => first.last_of_month(),
        (Some(_), Some(_)) => first,
    };
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::super::Test;
    use super::super::tests::{Everything, parts};
    use super::*;

    #[test]
    fn years_and_decades_are_ranges() {
        for (text, left, limit) in [
            ("ships from 1999", "ships", "from 1999"),
            ("ships in the 90s", "ships", "from the 1990s"),
            ("80's ships", "ships", "from the 1980s"),
            ("1970s ships", "ships", "from the 1970s"),
            ("ships of the nineties", "ships", "from the 1990s"),
            ("ships since 2010", "ships", "2010 or later"),
            ("ships from 2010 onwards", "ships", "2010 or later"),
            ("ships, 2010 or newer", "ships", "2010 or later"),
            ("ships after 2010", "ships", "2011 or later"),
            ("ships made after May 1, 2021", "ships", "2021-05-02 or later"),
            ("ships after 2021-05", "ships", "2021-06-01 or later"),
            ("ships before 1990", "ships", "1989 or earlier"),
            ("ships before 12 March 1990", "ships", "1990-03-11 or earlier"),
            ("ships until 1990", "ships", "1990 or earlier"),
            ("ships from June 2020", "ships", "from June 2020"),
            ("ships released between 1985 and 1980", "ships", "from 1980 to 1985"),
            ("Schiffe aus den 90ern", "Schiffe", "from the 1990s"),
            ("Schiffe der 90er Jahre", "Schiffe", "from the 1990s"),
            ("Schiffe vor 1990", "Schiffe", "1989 or earlier"),
            ("Schiffe seit 2010", "Schiffe", "2010 or later"),
            ("bateaux des années 90", "bateaux", "from the 1990s"),
            ("bateaux après 2010", "bateaux", "2011 or later"),
            ("barcos de los años 90", "barcos", "from the 1990s"),
            ("barcos antes de 1990", "barcos", "1989 or earlier"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn titles_stories_and_ages_stay() {
        for text in [
            "2001 a space odyssey",
            "blade runner 2049",
            "a story set in 1944",
            "takes place in 1920",
            "50 ways",
            "people in their 30s",
            "room 2010b",
        ] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_year_ends_with_its_last_second() {
        let understood = super::super::tests::understood("ships from 1970", &Everything);
        let Test::Within { from: Some(from), to: Some(to) } = understood.filters[0].test else { panic!() };
        assert!(from == 0.0 && to > 364.9 && to < 365.0);
    }

    #[test]
    fn days_that_are_none_are_no_moments() {
        for text in ["31 Feb 2020", "2020-13", "2020-00-01", "May", "", "99"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
