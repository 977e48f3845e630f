//! "From 1999", "in the 90s", "since 2010", "between 1980 and 1985", "after 1 May 2021", "this weekend", "in March".

use forecourt_vocabulary::{PhraseMeaning, Quantity, RelativeDate, Unit, WordClass};
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::found::{Found, FoundMeaning, Rank};
use super::moment::{TO_MIDNIGHT, days, decade};
use super::quantity::within;
use super::reader::Reader;
use crate::measure::days_of;

/// Years that a question can mean.
const YEARS: std::ops::RangeInclusive<f64> = 1_800.0..=2_099.0;
/// The most days, weeks or months from today that can be asked for.
const STEPS_MAX: f64 = 1_000.0;

/// A time that is named.
#[derive(Debug, Clone)]
struct Named {
    first: Date,
    /// `None`: whatever comes later.
    last: Option<Date>,
    /// The token behind it.
    end: usize,
    wording: Wording,
    /// Whether it can mean nothing but a date, so that no word has to lead to it.
    stands_alone: bool,
}

/// How it is said back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wording {
    /// As it is written.
    Written,
    Decade,
    /// By its days.
    Days,
}

/// The dates that a question is limited to here.
pub(super) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<Found> {
    let (limit, tokens) = limit(reader, at, floor)?;
    let is_story = tokens.start.checked_sub(1).is_some_and(|before| reader.is_single(before, WordClass::Story));
    if is_story {
        return None;
    }
    let path = reader.path(Quantity::Date);
    match (path, limit) {
        (Some(path), Some((from, to, words))) => {
            let (from, to) = (from.map(days_of), to.map(|day| days_of(day) + TO_MIDNIGHT));
            Some(Found::limit(tokens, Rank::Quantity(Quantity::Date), within(path, from, to, words)))
        }
        _ => {
            let is_limit = reader.states_facts() && !reader.is_name();
            is_limit.then(|| Found::new(tokens, FoundMeaning::NotUnderstood))
        }
    }
}

/// The first and the last day, and how that is said. `None`: nobody knows what day it is.
type Limit = Option<(Option<Date>, Option<Date>, String)>;

fn limit(reader: &Reader<'_>, at: usize, floor: usize) -> Option<(Limit, std::ops::Range<usize>)> {
    let made = reader.skip(at, &[WordClass::Made]);
    let class = |class| reader.class(made, class);
    let absorbed = |end: usize| reader.absorb(reader.absorb(at, WordClass::Made, floor), WordClass::AtTime, floor)..end;
    if let Some(between) = class(WordClass::Between).and_then(|at| between(reader, at)) {
        return Some((between.0, absorbed(between.1)));
    }
    let named = |class: WordClass| reader.class(made, class).and_then(|at| name(reader, skip_article(reader, at)));
    if let Some(found) = named(WordClass::After) {
        let named = found?;
        let day = named.last.and_then(|last| last.checked_add(1.day()).ok());
        return Some((Some((day, None, later(reader, day?))), absorbed(named.end)));
    }
    if let Some(found) = named(WordClass::Before) {
        let named = found?;
        let day = named.first.checked_sub(1.day()).ok();
        return Some((Some((None, day, earlier(reader, day?))), absorbed(named.end)));
    }
    if let Some(Some(named)) = named(WordClass::Since) {
        return Some((Some((Some(named.first), None, later(reader, named.first))), absorbed(named.end)));
    }
    if let Some(Some(named)) = named(WordClass::Until) {
        return named.last.map(|last| (Some((None, Some(last), earlier(reader, last))), absorbed(named.end)));
    }
    let led = class(WordClass::AtTime).map(|at| skip_article(reader, at));
    let start = led.unwrap_or(made);
    let named = name(reader, start).or_else(|| name(reader, made))?;
    let Some(named) = named else {
        let end = relative_end(reader, start).or_else(|| relative_end(reader, made))?;
        return Some((None, absorbed(end)));
    };
    if let Some(end) = reader.class(named.end, WordClass::OrLater) {
        return Some((Some((Some(named.first), None, later(reader, named.first))), absorbed(end)));
    }
    if let (Some(end), Some(last)) = (reader.class(named.end, WordClass::OrEarlier), named.last) {
        return Some((Some((None, Some(last), earlier(reader, last))), absorbed(end)));
    }
    (led.is_some() || named.stands_alone).then(|| {
        let words = in_words(reader, &named, start);
        (Some((Some(named.first), named.last, words)), absorbed(named.end))
    })
}

fn skip_article(reader: &Reader<'_>, at: usize) -> usize {
    reader.skip(at, &[WordClass::Article, WordClass::AtTime])
}

fn between(reader: &Reader<'_>, at: usize) -> Option<(Limit, usize)> {
    let low = name(reader, skip_article(reader, at))??;
    let to = reader.class(low.end, WordClass::To)?;
    let high = name(reader, skip_article(reader, to))??;
    let (first, last) = (low.first.min(high.first), low.last?.max(high.last?));
    let words = reader.say("date_between", &[&spell(first, false), &spell(last, true)]);
    Some((Some((Some(first), Some(last), words)), high.end))
}

fn later(reader: &Reader<'_>, day: Date) -> String {
    reader.say("date_least", &[&spell(day, false)])
}

fn earlier(reader: &Reader<'_>, day: Date) -> String {
    reader.say("date_most", &[&spell(day, true)])
}

/// A day, or the year that begins or ends with it.
fn spell(day: Date, is_end: bool) -> String {
    let is_whole = (day.month(), day.day()) == if is_end { (12, 31) } else { (1, 1) };
    if is_whole { day.year().to_string() } else { day.to_string() }
}

fn in_words(reader: &Reader<'_>, named: &Named, start: usize) -> String {
    match (named.wording, named.last) {
        (_, None) => later(reader, named.first),
        (Wording::Decade, _) => reader.say("date_decade", &[&named.first.year().to_string()]),
        (Wording::Written, _) => reader.say("date_in", &[reader.written(start..named.end)]),
        (Wording::Days, Some(last)) if last == named.first => reader.say("date_in", &[&last.to_string()]),
        (Wording::Days, Some(last)) => {
            reader.say("date_between", &[&named.first.to_string(), &last.to_string()])
        }
    }
}

/// The time that is named here. `Some(None)`: one that depends on what day it is, which nobody knows.
fn name(reader: &Reader<'_>, at: usize) -> Option<Option<Named>> {
    if let Some(named) = decade_here(reader, at).or_else(|| written(reader, at)) {
        return Some(Some(named));
    }
    relative_end(reader, at)?;
    match reader.aids.today {
        None => Some(None),
        Some(today) => relative(reader, at, today).map(Some),
    }
}

/// "90s", "1990er", "années 90", "nineties".
fn decade_here(reader: &Reader<'_>, at: usize) -> Option<Named> {
    let of = |first: i16, end: usize, stands_alone: bool| {
        let (first, _) = days(first, None, None)?;
        let last = Date::new(first.year() + 9, 12, 31).ok();
        Some(Named { first, last, end, wording: Wording::Decade, stands_alone })
    };
    let named = |meaning: &PhraseMeaning| if let PhraseMeaning::Decade(year) = meaning { Some(*year) } else { None };
    if let Some((year, end)) = reader.longest(at, named) {
        let is_led = at > 0 && (reader.is_single(at - 1, WordClass::Article) || reader.is_single(at - 1, WordClass::AtTime));
        let behind = reader.class(end, WordClass::DecadeLead).unwrap_or(end);
        return of(year, behind, false).filter(|_| is_led);
    }
    let lead = reader.class(at, WordClass::DecadeLead);
    let quote = usize::from(reader.is_mark(at, '\''));
    let digits = lead.unwrap_or(at + quote);
    let token = reader.token(digits)?;
    let number = token.number().filter(|number| number % 10.0 == 0.0 && (*number <= 90.0 || YEARS.contains(number)))?;
    let is_two_or_four = matches!(token.range.len(), 2 | 4);
    let end = match lead {
        Some(_) => digits + 1,
        None => {
            let ending = digits + 1 + usize::from(reader.is_mark(digits + 1, '\''));
            let joined = reader.token(ending).is_some_and(|token| token.is_joined);
            reader.class(ending, WordClass::DecadeEnding).filter(|_| joined)?
        }
    };
    let end = reader.class(end, WordClass::DecadeLead).unwrap_or(end);
    of(decade(number as i16), end, true).filter(|_| is_two_or_four)
}

/// "2010", "2010-05-01", "May 2010", "1 May 2010", "May 1, 2010", "12. März".
fn written(reader: &Reader<'_>, at: usize) -> Option<Named> {
    let of = |(first, last): (Date, Date), end: usize, stands_alone: bool| {
        Named { first, last: Some(last), end, wording: Wording::Written, stands_alone }
    };
    if let Some(year) = year(reader, at) {
        let part = |at: usize| {
            let token = reader.token(at + 1).filter(|token| token.is_joined && reader.is_mark(at, '-'))?;
            i8::try_from(token.number()? as i64).ok().filter(|_| token.range.len() == 2)
        };
        return match (part(at + 1), part(at + 3)) {
            (Some(month), Some(day)) => Some(of(days(year, Some(month), Some(day))?, at + 5, true)),
            (Some(month), None) => Some(of(days(year, Some(month), None)?, at + 3, true)),
            (None, _) => Some(of(days(year, None, None)?, at + 1, false)),
        };
    }
    let (day, month_at) = match day(reader, at) {
        Some((day, end)) => (Some(day), reader.skip(end, &[WordClass::AtTime])),
        None => (None, at),
    };
    let month = |meaning: &PhraseMeaning| if let PhraseMeaning::Month(month) = meaning { Some(*month) } else { None };
    let (month, behind) = reader.longest(month_at, month)?;
    let behind = behind + usize::from(reader.is_mark(behind, '.'));
    let (day, behind) = match day {
        Some(day) => (Some(day), behind),
        None => super::date::day(reader, behind).map_or((None, behind), |(day, end)| (Some(day), end)),
    };
    let year_at = reader.skip(behind + usize::from(reader.is_mark(behind, ',')), &[WordClass::AtTime]);
    match year(reader, year_at) {
        Some(year) => Some(of(days(year, Some(month), day)?, year_at + 1, true)),
        None => {
            let span = nearest(reader, month, day)?;
            let stands_alone = day.is_some();
            Some(Named { wording: Wording::Days, ..of(span, behind, stands_alone) })
        }
    }
}

/// A month, or a day of it, of the year that is meant: what comes next where items take place, else what was
/// last.
fn nearest(reader: &Reader<'_>, month: i8, day: Option<i8>) -> Option<(Date, Date)> {
    let today = reader.aids.today?;
    let takes_place = reader.path(Quantity::Date).is_some_and(|path| path.starts_with("start"));
    let step = if takes_place { 1 } else { -1 };
    [0, step].into_iter().find_map(|years| {
        let span = days(today.year() + years, Some(month), day)?;
        let is_meant = if takes_place { span.1 >= today } else { span.0 <= today };
        is_meant.then_some(span)
    })
}

fn year(reader: &Reader<'_>, at: usize) -> Option<i16> {
    let token = reader.token(at)?;
    let number = token.number().filter(|number| number.fract() == 0.0 && YEARS.contains(number))?;
    let is_plain = token.range.len() == 4 && reader.token(at + 1).is_none_or(|next| !(next.is_joined && next.is_word()));
    is_plain.then_some(number as i16)
}

/// The number of a day, with its ending.
fn day(reader: &Reader<'_>, at: usize) -> Option<(i8, usize)> {
    let token = reader.token(at)?;
    let number = token.number().filter(|number| number.fract() == 0.0 && (1.0..=31.0).contains(number))?;
    let has_ending = reader.token(at + 1).is_some_and(|next| next.is_joined);
    let ending = reader.class(at + 1, WordClass::OrdinalEnding).filter(|_| has_ending);
    let end = ending.unwrap_or_else(|| at + 1 + usize::from(reader.is_mark(at + 1, '.')));
    Some((number as i8, end))
}

/// Where a time that is told from today ends.
fn relative_end(reader: &Reader<'_>, at: usize) -> Option<usize> {
    if let Some((_, end, _)) = steps(reader, at) {
        return Some(end);
    }
    let plain = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Relative(date) if !matches!(date, RelativeDate::Next | RelativeDate::Last) => Some(()),
        _ => None,
    };
    reader.longest(at, plain).map(|((), end)| end).or_else(|| weekday(reader, at).map(|(_, end)| end))
}

/// "In the next 3 days": how many days, where it ends, and whether it lies ahead.
fn steps(reader: &Reader<'_>, at: usize) -> Option<(i64, usize, bool)> {
    let led = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Relative(RelativeDate::Next) => Some(true),
        PhraseMeaning::Relative(RelativeDate::Last) => Some(false),
        _ => None,
    };
    let (is_ahead, behind) = reader.longest(at, led)?;
    let (number, end, _) = reader.number(behind).filter(|(number, _, _)| *number <= STEPS_MAX)?;
    let unit = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Unit(Unit::Day) => Some(1.0),
        PhraseMeaning::Unit(Unit::Week) => Some(7.0),
        PhraseMeaning::Unit(Unit::Month) => Some(30.0),
        _ => None,
    };
    let (days, end) = reader.longest(end, unit)?;
    Some(((number * days).round() as i64, end, is_ahead))
}

fn weekday(reader: &Reader<'_>, at: usize) -> Option<(i8, usize)> {
    reader.longest(at, |meaning| if let PhraseMeaning::Weekday(day) = meaning { Some(*day) } else { None })
}

/// A time that is told from today.
fn relative(reader: &Reader<'_>, at: usize, today: Date) -> Option<Named> {
    let of = |first: Date, last: Option<Date>, end: usize, stands_alone: bool| {
        Some(Named { first, last, end, wording: Wording::Days, stands_alone })
    };
    if let Some((steps, end, is_ahead)) = steps(reader, at) {
        let other = today.checked_add(if is_ahead { steps.days() } else { (-steps).days() }).ok()?;
        return of(today.min(other), Some(today.max(other)), end, true);
    }
    let told = |meaning: &PhraseMeaning| if let PhraseMeaning::Relative(date) = meaning { Some(*date) } else { None };
    if let Some((date, end)) = reader.longest(at, told) {
        let (first, last) = told_from(today, date)?;
        return of(first, last, end, true);
    }
    let (day, end) = weekday(reader, at)?;
    let ahead = (i64::from(day) - i64::from(today.weekday().to_monday_one_offset())).rem_euclid(7);
    let day = today.checked_add(ahead.days()).ok()?;
    of(day, Some(day), end, false)
}

/// The first and the last day of what is told from today. Weeks begin with Monday.
fn told_from(today: Date, date: RelativeDate) -> Option<(Date, Option<Date>)> {
    let plus = |day: Date, days: i64| day.checked_add(days.days()).ok();
    let monday = plus(today, 1 - i64::from(today.weekday().to_monday_one_offset()))?;
    let week = |weeks: i64| Some((plus(monday, 7 * weeks)?, plus(monday, 7 * weeks + 6)));
    let weekend = |weeks: i64| Some((plus(monday, 7 * weeks + 5)?, plus(monday, 7 * weeks + 6)));
    let one = |days: i64| plus(today, days).map(|day| (day, Some(day)));
    let month = |months: i64| {
        let first = today.first_of_month().checked_add(months.months()).ok()?;
        Some((first, Some(first.last_of_month())))
    };
    let year = |years: i64| {
        let first = today.first_of_year().checked_add(years.years()).ok()?;
        Some((first, Some(first.last_of_year())))
    };
    match date {
        RelativeDate::Today => one(0),
        RelativeDate::Tomorrow => one(1),
        RelativeDate::Yesterday => one(-1),
        RelativeDate::ThisWeekend if today.weekday() == Weekday::Sunday => one(0),
        RelativeDate::ThisWeekend => weekend(0),
        RelativeDate::NextWeekend => weekend(1),
        RelativeDate::ThisWeek => week(0),
        RelativeDate::NextWeek => week(1),
        RelativeDate::LastWeek => week(-1),
        RelativeDate::ThisMonth => month(0),
        RelativeDate::NextMonth => month(1),
        RelativeDate::LastMonth => month(-1),
        RelativeDate::ThisYear => year(0),
        RelativeDate::NextYear => year(1),
        RelativeDate::LastYear => year(-1),
        RelativeDate::Upcoming => Some((today, None)),
        RelativeDate::Next | RelativeDate::Last => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Everything, parts};
    use crate::search::Test;

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
    fn dates_are_told_from_today() {
        for (text, left, limit) in [
            ("concerts tomorrow", "concerts", "from 2026-11-24"),
            ("concerts this weekend", "concerts", "from 2026-11-28 to 2026-11-29"),
            ("concerts next week", "concerts", "from 2026-11-30 to 2026-12-06"),
            ("concerts on Friday", "concerts", "from 2026-11-27"),
            ("concerts in the next 3 days", "concerts", "from 2026-11-23 to 2026-11-26"),
            ("Konzerte am Wochenende", "Konzerte", "from 2026-11-28 to 2026-11-29"),
            ("concerts ce week-end", "concerts", "from 2026-11-28 to 2026-11-29"),
            ("conciertos este fin de semana", "conciertos", "from 2026-11-28 to 2026-11-29"),
            ("films from March", "films", "from 2026-03-01 to 2026-03-31"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }
}
