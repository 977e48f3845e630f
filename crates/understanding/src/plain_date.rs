//! Years, months and days as they are written, holidays, and times that are told from today by one word.

use forecourt_vocabulary::{PhraseMeaning, Quantity, RelativeDate, WordClass};
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use crate::moment::{days, yearly_days};
use crate::reader::Reader;

/// Years that a question can mean.
pub(crate) const YEARS: std::ops::RangeInclusive<f64> = 1_800.0..=2_099.0;
/// Words between a thing and what it is called by, without accents.
const OF: &[&str] = &["of", "de", "d", "du", "des", "del", "der", "von", "vom"];
/// Months of a year.
const MONTHS: i8 = 12;

/// First and last days of which any pair holds, and their wording.
pub(crate) type DaysLimit = (Vec<(Option<Date>, Option<Date>)>, String);

/// A time that is named.
#[derive(Debug, Clone)]
pub(crate) struct NamedDate {
    pub(crate) first: Date,
    /// `None`: whatever comes later.
    pub(crate) last: Option<Date>,
    /// The token behind it.
    pub(crate) end: usize,
    pub(crate) wording: Wording,
    /// Whether it can mean nothing but a date, so that no word has to lead to it.
    pub(crate) stands_alone: bool,
}

/// How a date is worded in the note of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// As it is written.
    Written,
    Decade,
    /// By its days.
    Days,
}

/// "2010", "2010-05-01", "May 2010", "1 May 2010", "May 1, 2010", "12. März".
pub(crate) fn written(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let of = |(first, last): (Date, Date), end: usize, stands_alone: bool| NamedDate {
        first,
        last: Some(last),
        end,
        wording: Wording::Written,
        stands_alone,
    };
    if let Some(numeric) = numeric(reader, at) {
        return Some(numeric);
    }
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
    let (day, month_at) = match day_number(reader, at) {
        Some((day, end)) => (Some(day), reader.skip(end, &[WordClass::AtTime])),
        None => (None, at),
    };
    let month = |meaning: &PhraseMeaning| if let PhraseMeaning::Month(month) = meaning { Some(*month) } else { None };
    let (month, behind) = reader.longest(month_at, month)?;
    let behind = behind + usize::from(reader.is_mark(behind, '.'));
    let (day, behind) = match day {
        Some(day) => (Some(day), behind),
        None => day_number(reader, behind).map_or((None, behind), |(day, end)| (Some(day), end)),
    };
    let year_at = reader.skip(behind + usize::from(reader.is_mark(behind, ',')), &[WordClass::AtTime]);
    match year(reader, year_at) {
        Some(year) => Some(of(days(year, Some(month), day)?, year_at + 1, true)),
        None => {
            let span = nearest(reader, month, day)?;
            let stands_alone = day.is_some();
            Some(NamedDate { wording: Wording::Days, ..of(span, behind, stands_alone) })
        }
    }
}

/// "28.11.2026", "28.11.", "28/11/2026": a day in numbers.
fn numeric(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let start = reader.token(at).filter(|token| token.number().is_some())?.range.start;
    let text = &reader.text[start..];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    let mark = text[first..].chars().next().filter(|mark| matches!(mark, '.' | '/'))?;
    let rest = &text[first + 1..];
    let second = digits(rest);
    let behind = rest[second..].strip_prefix(mark);
    let year_digits = behind.map_or(0, digits);
    let is_day = (1..=2).contains(&first) && (1..=2).contains(&second) && matches!(year_digits, 0 | 4);
    // "28.11" and "1/2" may be any numbers.
    let is_told = year_digits == 4 || (mark == '.' && behind.is_some());
    if !is_day || !is_told {
        return None;
    }
    let (one, other): (i8, i8) = (text[..first].parse().ok()?, rest[..second].parse().ok()?);
    let (day, month) = if other > MONTHS { (other, one) } else { (one, other) };
    let span = match year_digits {
        0 => nearest(reader, month, Some(day))?,
        _ => days(behind?[..year_digits].parse().ok()?, Some(month), Some(day))?,
    };
    let end = start + first + 1 + second + 1 + year_digits;
    let wording = Wording::Days;
    Some(NamedDate { first: span.0, last: Some(span.1), end: reader.token_at(end), wording, stands_alone: true })
}

/// A month, or a day of it, of the year that is meant: what comes next where items take place, else what was
/// last.
fn nearest(reader: &Reader<'_>, month: i8, day: Option<i8>) -> Option<(Date, Date)> {
    let today = reader.aids.today?;
    let takes_place = reader.path(Quantity::Date).is_some_and(takes_place);
    let step = if takes_place { 1 } else { -1 };
    [0, step].into_iter().find_map(|years| {
        let span = days(today.year() + years, Some(month), day)?;
        let is_meant = if takes_place { span.1 >= today } else { span.0 <= today };
        is_meant.then_some(span)
    })
}

/// A holiday or a season, the one that comes next. Only where items take place: a Christmas recipe is one all year.
pub(crate) fn yearly(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let today = reader.aids.today?;
    let takes_place = reader.path(Quantity::Date).is_some_and(takes_place);
    let named = |meaning: &PhraseMeaning| if let PhraseMeaning::Yearly(days) = meaning { Some(*days) } else { None };
    let (found, end) = if takes_place { reader.longest(at, named)? } else { return None };
    // A market of Christmas is called so.
    let is_of = at.checked_sub(1).and_then(|before| reader.token(before)).is_some_and(|word| OF.contains(&&*word.word));
    if is_of && !found.stands_alone {
        return None;
    }
    // A winter that began last year may not be over.
    let spans = [-1, 0, 1].into_iter().filter_map(|years| yearly_days(found, today.year() + years));
    let (first, last) = spans.into_iter().find(|(_, last)| *last >= today)?;
    let stands_alone = found.stands_alone;
    Some(NamedDate { first, last: Some(last), end, wording: Wording::Days, stands_alone })
}

/// Whether a date says when an item takes place.
fn takes_place(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|name| name.starts_with("start") || name.contains("Start"))
}

fn year(reader: &Reader<'_>, at: usize) -> Option<i16> {
    let token = reader.token(at)?;
    let number = token.number().filter(|number| number.fract() == 0.0 && YEARS.contains(number))?;
    // `2001x` and `1984th` are no years.
    let is_plain =
        token.range.len() == 4 && reader.token(at + 1).is_none_or(|next| !(next.is_joined && next.is_word()));
    is_plain.then_some(number as i16)
}

/// Words in front of the number of a day without its month, without accents.
const DAY_LEADS: &[&str] = &["the", "am", "zum", "vom", "le", "el", "dia", "al", "du", "au"];

/// "On the 13th", "am 13.", "le 13": the next such day, where items take place. In English only with its ending, and
/// nowhere in front of what it may count.
pub(crate) fn day_of_month(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let today = reader.aids.today.filter(|_| reader.path(Quantity::Date).is_some_and(takes_place))?;
    let (day, end) = day_number(reader, at)?;
    let before = at.checked_sub(1)?;
    let is_english = reader.says(before, &["the"]);
    let has_ending = reader.class(at + 1, WordClass::OrdinalEnding) == Some(end);
    // "The 1st and the 10th of December" have a month.
    let goes_on =
        [WordClass::And, WordClass::Or, WordClass::To].iter().any(|class| reader.class(end, *class).is_some());
    if !reader.says(before, DAY_LEADS) || (is_english && !has_ending) || goes_on || !reader.ends_clause(end) {
        return None;
    }
    let in_month = |months: i64| {
        let first = today.first_of_month().checked_add(months.months()).ok()?;
        Date::new(first.year(), first.month(), day).ok().filter(|date| *date >= today)
    };
    let date = (0..=2).find_map(in_month)?;
    Some(NamedDate { first: date, last: Some(date), end, wording: Wording::Days, stands_alone: true })
}

/// The number of a day, with its ending.
pub(crate) fn day_number(reader: &Reader<'_>, at: usize) -> Option<(i8, usize)> {
    let token = reader.token(at)?;
    let number = token.number().filter(|number| number.fract() == 0.0 && (1.0..=31.0).contains(number))?;
    let has_ending = reader.token(at + 1).is_some_and(|next| next.is_joined);
    let ending = reader.class(at + 1, WordClass::OrdinalEnding).filter(|_| has_ending);
    let end = ending.unwrap_or_else(|| at + 1 + usize::from(reader.is_mark(at + 1, '.')));
    Some((number as i8, end))
}

/// "This month", "next year".
pub(crate) fn told_here(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let told = |meaning: &PhraseMeaning| if let PhraseMeaning::Relative(date) = meaning { Some(*date) } else { None };
    let (date, end) = reader.longest(at, told)?;
    let (first, last) = told_from(reader.aids.today?, date)?;
    Some(NamedDate { first, last, end, wording: Wording::Days, stands_alone: true })
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
        // On a Sunday, what is left of the weekend is that day.
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
        RelativeDate::LastDecade => Some((today.checked_sub(10.years()).ok()?, Some(today))),
        RelativeDate::Upcoming => Some((today, None)),
        RelativeDate::Now => one(0),
        RelativeDate::NotBegun => Some((today.checked_add(1.day()).ok()?, None)),
        // These need a number behind them and are read by `steps`.
        RelativeDate::Next | RelativeDate::Last => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Bare, understood};

    #[test]
    fn a_day_without_its_month_is_the_next_one_where_items_take_place() {
        // Read on the 23rd of November.
        for (text, words) in [
            ("talks on the 30th", "2026-11-30"),
            ("and on the 13th?", "2026-12-13"),
            ("Vorträge am 13.", "2026-12-13"),
            ("conférences le 13", "2026-12-13"),
            ("charlas el día 13", "2026-12-13"),
        ] {
            let found = understood(text, &Bare("startDate"));
            let all: Vec<&str> = found.filters.iter().map(|filter| filter.words.as_str()).collect();
            assert!(all.iter().any(|said| said.contains(words)), "{text}: {all:?} {:?}", found.not_understood);
        }
        for text in ["the 13 best talks", "le 13 heures", "am 13. Platz", "the 40th talk"] {
            assert!(understood(text, &Bare("startDate")).filters.is_empty(), "{text}");
        }
        assert!(understood("notes on the 13th", &Bare("datePublished")).filters.is_empty());
    }
}
