//! Parts of a month, a season or a year: "at the end of March", "mid-December", "the first weekend of May", and each
//! weekend or day of the week of one: "a Saturday in January".

use forecourt_vocabulary::{DateWord, PhraseMeaning, Unit, WordClass};
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use crate::limits::ALTERNATIVES_MAX;
use crate::plain_date::{NamedDate, Wording, told_here, written, yearly};
use crate::reader::Reader;

/// Days of the longest time of which a part or each week can be meant: a year.
const SPAN_DAYS_MAX: i32 = 366;
/// Days of a week.
const WEEK: i32 = 7;
/// Saturday, as days of the week are counted.
const SATURDAY: i8 = 6;

/// Past articles and words that lead to a date, up to one that says which part of it is meant.
pub(crate) fn skip_leads(reader: &Reader<'_>, mut at: usize) -> usize {
    let leads = [WordClass::Article, WordClass::AtTime];
    while date_word(reader, at).is_none()
        && let Some(end) = leads.iter().filter_map(|class| reader.class(at, *class)).max()
    {
        at = end;
    }
    at
}

fn date_word(reader: &Reader<'_>, at: usize) -> Option<(DateWord, usize)> {
    reader.longest(at, |meaning| if let PhraseMeaning::DateWord(word) = meaning { Some(*word) } else { None })
}

/// A third of a month or a year, or one of its weeks, weekends and days of the week.
pub(crate) fn part(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let (word, behind) = date_word(reader, at)?;
    let of = |(first, last): (Date, Date), end: usize| NamedDate {
        first,
        last: Some(last),
        end,
        wording: Wording::Days,
        stands_alone: true,
    };
    if matches!(word, DateWord::Beginning | DateWord::Middle | DateWord::End) {
        let (whole, end) = span(reader, behind)?;
        return Some(of(third(word, whole)?, end));
    }
    let (days, behind) = days_of_week(reader, behind)?;
    let (whole, end) = span(reader, behind)?;
    Some(of(nth(word, &spans_within(days, whole))?, end))
}

/// Each weekend, or each such day of the week, of a month, a season or a year, and the token behind it. `None`: there are
/// more than [`ALTERNATIVES_MAX`].
pub(crate) fn each(reader: &Reader<'_>, at: usize) -> Option<(Vec<(Date, Date)>, usize)> {
    let is_one = reader.number(at).filter(|(_, _, is_article)| *is_article).map(|(_, end, _)| end);
    let (days, behind) = days_of_week(reader, is_one.unwrap_or(at))?;
    // A week of May is any of it.
    if matches!(days, WeekPart::Week) {
        return None;
    }
    // "Saturday 12 December" is one day.
    let led = reader.class(behind, WordClass::AtTime)?;
    let (whole, end) = span(reader, led)?;
    let all = spans_within(days, whole);
    (!all.is_empty() && all.len() <= ALTERNATIVES_MAX).then_some((all, end))
}

/// What comes back every week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeekPart {
    Week,
    /// From this day, 1 (Monday) to 7, on, so many days.
    Days(i8, i32),
}

fn days_of_week(reader: &Reader<'_>, at: usize) -> Option<(WeekPart, usize)> {
    let told = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Unit(Unit::Week) => Some(WeekPart::Week),
        PhraseMeaning::DateWord(DateWord::Weekend | DateWord::Weekends) => Some(WeekPart::Days(SATURDAY, 2)),
        PhraseMeaning::DateWord(DateWord::Weekdays) => Some(WeekPart::Days(1, 5)),
        PhraseMeaning::Every(day) | PhraseMeaning::Weekday(day) => Some(WeekPart::Days(*day, 1)),
        _ => None,
    };
    reader.longest(at, told)
}

/// A time that has parts, behind words that lead to it: a month, a season, a year, this week.
fn span(reader: &Reader<'_>, at: usize) -> Option<((Date, Date), usize)> {
    let at = reader.skip(at, &[WordClass::Article, WordClass::AtTime]);
    let named = written(reader, at)
        .or_else(|| yearly(reader, at))
        .or_else(|| told_here(reader, at))
        .or_else(|| this(reader, at))?;
    let (first, last) = (named.first, named.last?);
    (days_between(first, last)? < SPAN_DAYS_MAX && first < last).then_some(((first, last), named.end))
}

/// "The month", "des Jahres": the one that it is.
fn this(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let today = reader.aids.today?;
    let monday = today.checked_sub((i64::from(today.weekday().to_monday_one_offset()) - 1).days()).ok()?;
    let (unit, end) = reader.unit(at)?;
    let (first, last) = match unit {
        Unit::Week => (monday, monday.checked_add(6.days()).ok()?),
        Unit::Month => (today.first_of_month(), today.last_of_month()),
        Unit::Year => (today.first_of_year(), today.last_of_year()),
        _ => return None,
    };
    Some(NamedDate { first, last: Some(last), end, wording: Wording::Days, stands_alone: false })
}

fn days_between(first: Date, last: Date) -> Option<i32> {
    first.until(last).ok().map(|span| span.get_days())
}

/// The first, the second or the last third of a time.
fn third(word: DateWord, (first, last): (Date, Date)) -> Option<(Date, Date)> {
    let days = days_between(first, last)? + 1;
    let (from, to) = match word {
        DateWord::Beginning => (0, days / 3),
        DateWord::Middle => (days / 3, days * 2 / 3),
        _ => (days * 2 / 3, days),
    };
    let day = |days: i32| first.checked_add(i64::from(days).days()).ok();
    Some((day(from)?, day(to - 1)?)).filter(|(from, to)| from <= to)
}

/// What comes back every week, as often as it begins within a time.
fn spans_within(part: WeekPart, (first, last): (Date, Date)) -> Vec<(Date, Date)> {
    let (begin, days) = match part {
        WeekPart::Week => (first.weekday(), WEEK),
        WeekPart::Days(day, days) => (Weekday::from_monday_one_offset(day).unwrap_or(Weekday::Monday), days),
    };
    let ahead = i64::from(begin.since(first.weekday()));
    let mut all = Vec::new();
    let mut day = first.checked_add(ahead.days()).ok();
    while let Some(from) = day.filter(|day| *day <= last) {
        all.extend(from.checked_add(i64::from(days - 1).days()).ok().map(|to| (from, to)));
        day = from.checked_add(i64::from(WEEK).days()).ok();
    }
    all
}

/// The one that an ordinal names.
fn nth(word: DateWord, all: &[(Date, Date)]) -> Option<(Date, Date)> {
    let at = match word {
        DateWord::First => 0,
        DateWord::Second => 1,
        DateWord::Third => 2,
        DateWord::Fourth => 3,
        DateWord::Last => return all.last().copied(),
        _ => return None,
    };
    all.get(at).copied()
}

#[cfg(test)]
mod tests {
    use crate::tests::{Bare, understood};

    /// What takes place.
    const EVENTS: Bare = Bare("startDate");

    fn limits(text: &str) -> (String, Vec<String>) {
        let found = understood(text, &EVENTS);
        (found.text, found.filters.into_iter().map(|filter| filter.words).collect())
    }

    #[test]
    fn parts_of_months_years_and_seasons_are_thirds_of_them() {
        for (text, left, days) in [
            ("concerts at the end of March", "concerts", "2027-03-21 to 2027-03-31"),
            ("concerts in early December", "concerts", "2026-12-01 to 2026-12-10"),
            ("concerts mid-December", "concerts", "2026-12-11 to 2026-12-20"),
            ("concerts late in February", "concerts", "2027-02-19 to 2027-02-28"),
            ("concerts at the end of the month", "concerts", "2026-11-21 to 2026-11-30"),
            ("concerts at the beginning of next year", "concerts", "2027-01-01 to 2027-05-01"),
            ("Konzerte Anfang März", "Konzerte", "2027-03-01 to 2027-03-10"),
            ("Konzerte Mitte Dezember", "Konzerte", "2026-12-11 to 2026-12-20"),
            ("Konzerte Ende des Monats", "Konzerte", "2026-11-21 to 2026-11-30"),
            ("concerts début janvier", "concerts", "2027-01-01 to 2027-01-10"),
            ("concerts à la mi-décembre", "concerts", "2026-12-11 to 2026-12-20"),
            ("concerts fin mars", "concerts", "2027-03-21 to 2027-03-31"),
            ("conciertos a mediados de diciembre", "conciertos", "2026-12-11 to 2026-12-20"),
            ("conciertos a finales de marzo", "conciertos", "2027-03-21 to 2027-03-31"),
        ] {
            assert_eq!(limits(text), (left.to_owned(), vec![format!("from {days}")]), "{text}");
        }
        assert_eq!(limits("concerts before the end of March").1, ["2027-03-20 or earlier"]);
        assert_eq!(limits("concerts until mid December").1, ["2026-12-20 or earlier"]);
    }

    #[test]
    fn weeks_weekends_and_days_of_a_month_are_counted() {
        for (text, days) in [
            ("concerts on the first weekend of December", "2026-12-05 to 2026-12-06"),
            ("concerts, last week of May", "2027-05-29 to 2027-06-04"),
            ("concerts in the second week of January", "2027-01-08 to 2027-01-14"),
            ("Konzerte am ersten Wochenende im Dezember", "2026-12-05 to 2026-12-06"),
            ("Konzerte am letzten Wochenende im Januar", "2027-01-30 to 2027-01-31"),
            ("concerts le premier week-end de décembre", "2026-12-05 to 2026-12-06"),
            ("conciertos el último fin de semana de enero", "2027-01-30 to 2027-01-31"),
        ] {
            assert_eq!(limits(text).1, [format!("from {days}")], "{text}");
        }
        assert_eq!(limits("concerts on the second Saturday in December").1, ["from 2026-12-12"]);
        assert_eq!(limits("Konzerte am dritten Freitag im Januar").1, ["from 2027-01-15"]);
    }

    #[test]
    fn each_weekend_or_day_of_a_month_is_one_limit() {
        for (text, said) in [
            ("concerts on a weekend in January", "weekend in January (2027-01-02 to 2027-01-31)"),
            ("Konzerte an einem Wochenende im Januar", "Wochenende im Januar (2027-01-02 to 2027-01-31)"),
            ("concerts un week-end de janvier", "week-end de janvier (2027-01-02 to 2027-01-31)"),
            ("conciertos un fin de semana de enero", "fin de semana de enero (2027-01-02 to 2027-01-31)"),
            ("concerts on Fridays in December", "Fridays in December (2026-12-04 to 2026-12-25)"),
        ] {
            let limits = limits(text).1;
            assert!(limits.len() == 1 && limits[0].ends_with(said), "{text}: {limits:?}");
        }
    }
}
