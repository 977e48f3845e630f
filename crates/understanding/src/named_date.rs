//! Times as they are named: dates, parts of them, decades, days of the week, and steps from today.

use forecourt_vocabulary::{PhraseMeaning, RelativeDate, Unit, WordClass};
use jiff::ToSpan;
use jiff::civil::Date;

use crate::date_part::part;
use crate::moment::{days, decade};
use crate::plain_date::{NamedDate, Wording, YEARS, day_of_month, told_here, written, yearly};
use crate::reader::Reader;

/// The most days, weeks or months from today that can be asked for.
const STEPS_MAX: f64 = 1_000.0;

/// The time that is named here. `Some(None)`: one that depends on what day it is, which nobody knows.
pub(crate) fn name(reader: &Reader<'_>, at: usize) -> Option<Option<NamedDate>> {
    let named = part(reader, at).or_else(|| decade_here(reader, at)).or_else(|| written(reader, at));
    // "Im kommenden Dezember", "next March": the one that comes.
    let is_next = reader.says(at, NEXT);
    let month = || if is_next { written(reader, at + 1) } else { None };
    if let Some(named) = named.or_else(|| yearly(reader, at)).or_else(month).or_else(|| day_of_month(reader, at)) {
        return Some(Some(named));
    }
    relative_end(reader, at)?;
    match reader.aids.today {
        None => Some(None),
        Some(today) => relative(reader, at, today).map(Some),
    }
}

/// "90s", "1990er", "années 90", "nineties".
fn decade_here(reader: &Reader<'_>, at: usize) -> Option<NamedDate> {
    let of = |first: i16, end: usize, stands_alone: bool| {
        let (first, _) = days(first, None, None)?;
        let last = Date::new(first.year() + 9, 12, 31).ok();
        Some(NamedDate { first, last, end, wording: Wording::Decade, stands_alone })
    };
    let named = |meaning: &PhraseMeaning| if let PhraseMeaning::Decade(year) = meaning { Some(*year) } else { None };
    if let Some((year, end)) = reader.longest(at, named) {
        // `Nineties` alone may be a name; behind `the` or `in the` it is a time.
        let is_led =
            at > 0 && (reader.is_single(at - 1, WordClass::Article) || reader.is_single(at - 1, WordClass::AtTime));
        let behind = reader.class(end, WordClass::DecadeLead).unwrap_or(end);
        return of(year, behind, false).filter(|_| is_led);
    }
    let lead = reader.class(at, WordClass::DecadeLead);
    let quote = usize::from(reader.is_mark(at, '\''));
    let digits = lead.unwrap_or(at + quote);
    let token = reader.token(digits)?;
    let number = token.number().filter(|number| number % 10.0 == 0.0 && (*number <= 90.0 || YEARS.contains(number)))?;
    // `the 100s` and `5s` are no decades.
    let is_two_or_four = matches!(token.range.len(), 2 | 4);
    let end = match lead {
        Some(_) => digits + 1,
        None => {
            let ending = digits + 1 + usize::from(reader.is_mark(digits + 1, '\''));
            let joined = reader.token(ending).is_some_and(|token| token.is_joined);
            reader.class(ending, WordClass::DecadeEnding).filter(|_| joined)?
        }
    };
    // "10er-Karte" is one for ten of something.
    let next = end + usize::from(reader.is_mark(end, '-'));
    let is_part_of_word = reader.token(next).is_some_and(|next| next.is_word() && next.is_joined);
    if is_part_of_word && reader.class(next, WordClass::DecadeLead).is_none() {
        return None;
    }
    let end = reader.class(end, WordClass::DecadeLead).unwrap_or(end);
    of(decade(number as i16), end, true).filter(|_| is_two_or_four)
}

/// Where a time that is told from today ends.
pub(crate) fn relative_end(reader: &Reader<'_>, at: usize) -> Option<usize> {
    if let Some((_, end, _)) = steps(reader, at) {
        return Some(end);
    }
    let plain = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::Relative(date) if !matches!(date, RelativeDate::Next | RelativeDate::Last) => Some(()),
        _ => None,
    };
    let named = || next_weekday(reader, at).or_else(|| weekday(reader, at));
    reader.longest(at, plain).map(|((), end)| end).or_else(|| named().map(|(_, end)| end))
}

/// Words at a day of the week that mean the one behind today, without accents.
const NEXT: &[&str] = &["next", "coming", "nachsten", "nachster", "nachste", "kommenden", "prochain", "proximo"];

/// "Next Sunday", "dimanche prochain": the day, and the token behind it.
fn next_weekday(reader: &Reader<'_>, at: usize) -> Option<(i8, usize)> {
    match reader.says(at, NEXT) {
        true => weekday(reader, at + 1),
        false => weekday(reader, at).filter(|(_, end)| reader.says(*end, NEXT)).map(|(day, end)| (day, end + 1)),
    }
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
fn relative(reader: &Reader<'_>, at: usize, today: Date) -> Option<NamedDate> {
    let of = |first: Date, last: Option<Date>, end: usize, stands_alone: bool| {
        Some(NamedDate { first, last, end, wording: Wording::Days, stands_alone })
    };
    if let Some((steps, end, is_ahead)) = steps(reader, at) {
        let other = today.checked_add(if is_ahead { steps.days() } else { (-steps).days() }).ok()?;
        return of(today.min(other), Some(today.max(other)), end, true);
    }
    if let Some((day, end)) = next_weekday(reader, at) {
        // On a Sunday, the next one is in a week.
        let ahead = (i64::from(day) - i64::from(today.weekday().to_monday_one_offset()) - 1).rem_euclid(7) + 1;
        let day = today.checked_add(ahead.days()).ok()?;
        return of(day, Some(day), end, true);
    }
    let told = |meaning: &PhraseMeaning| if let PhraseMeaning::Relative(date) = meaning { Some(*date) } else { None };
    if reader.longest(at, told).is_some() {
        return told_here(reader, at);
    }
    let (day, end) = weekday(reader, at)?;
    // "Saturday, the 12th of December" is one day.
    let written_at = reader.skip(end + usize::from(reader.is_mark(end, ',')), &[WordClass::Article, WordClass::AtTime]);
    if let Some(named) = written(reader, written_at).filter(|named| named.last == Some(named.first)) {
        return Some(NamedDate { stands_alone: true, ..named });
    }
    // The next such day, today included.
    let ahead = (i64::from(day) - i64::from(today.weekday().to_monday_one_offset())).rem_euclid(7);
    let day = today.checked_add(ahead.days()).ok()?;
    of(day, Some(day), end, false)
}
