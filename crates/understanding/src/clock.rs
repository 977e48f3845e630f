//! Times of day: "after 6 pm", "ab 18 Uhr", "between 10 and 12", "in the evening", "le matin", "por la tarde".

use forecourt_vocabulary::{DayPart, PhraseMeaning, TimeWord, WordClass};

use crate::paths::DAY_MINUTES;
use crate::reader::Reader;

/// Minutes of an hour.
const HOUR: u16 = 60;
/// The last minute of a day.
pub(crate) const LAST_MINUTE: u16 = DAY_MINUTES as u16 - 1;
/// A day.
const DAY: u16 = DAY_MINUTES as u16;
/// Up to when it is the night of the day before.
const SMALL_HOURS: u16 = 4 * HOUR;
/// Half a day.
const NOON: u16 = 12 * HOUR;

/// Minutes since 0 o'clock of a day, the first and the last. Those of the small hours that belong to its night lie behind
/// its end.
pub(crate) type Minutes = (u16, u16);

/// A part of a day, as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClockTime {
    /// Of which any will do.
    pub(crate) spans: Vec<Minutes>,
    /// Whether something has to go on up to its end: "open until 8".
    pub(crate) is_until: bool,
    /// The token behind it.
    pub(crate) end: usize,
}

/// The time that begins here. `may_be_bare`: an hour needs no word that says so, as behind "open".
pub(crate) fn time(reader: &Reader<'_>, at: usize, may_be_bare: bool) -> Option<ClockTime> {
    let between = reader.class(at, WordClass::Between).and_then(|behind| between(reader, behind));
    between.or_else(|| compared(reader, at, may_be_bare)).or_else(|| day_part(reader, at, false))
}

/// A part of the day that says so by itself, or behind a day.
pub(crate) fn day_part(reader: &Reader<'_>, at: usize, is_behind_day: bool) -> Option<ClockTime> {
    let part = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::DayPart(part, needs_day) if is_behind_day || !needs_day => Some(*part),
        _ => None,
    };
    let (part, end) = reader.longest(at, part)?;
    // "Noon" is a part of a day only behind a word that leads to it.
    let is_point = matches!(part, DayPart::Noon | DayPart::Midnight);
    (!is_point).then(|| ClockTime { spans: spans(part), is_until: false, end })
}

fn spans(part: DayPart) -> Vec<Minutes> {
    match part {
        DayPart::Morning => vec![(5 * HOUR, NOON - 1)],
        DayPart::Noon => vec![(NOON, NOON)],
        DayPart::Lunchtime => vec![(11 * HOUR + 30, 14 * HOUR)],
        DayPart::Afternoon => vec![(NOON, 18 * HOUR - 1)],
        DayPart::LongAfternoon => vec![(NOON, 20 * HOUR - 1)],
        DayPart::Evening => vec![(17 * HOUR, LAST_MINUTE)],
        DayPart::Night => vec![(20 * HOUR, DAY + SMALL_HOURS)],
        DayPart::Midnight => vec![(LAST_MINUTE, DAY)],
    }
}

/// Words in front of a time, the longest.
fn lead(reader: &Reader<'_>, at: usize) -> Option<(TimeWord, usize)> {
    reader.longest(at, |meaning| match meaning {
        PhraseMeaning::Time(word @ (TimeWord::After | TimeWord::Before | TimeWord::At)) => Some(*word),
        _ => None,
    })
}

fn has(reader: &Reader<'_>, at: usize, word: TimeWord) -> Option<usize> {
    reader.longest(at, |meaning| (*meaning == PhraseMeaning::Time(word)).then_some(())).map(|((), end)| end)
}

/// "After 6 pm", "vor 12 Uhr", "à 20h".
fn compared(reader: &Reader<'_>, at: usize, may_be_bare: bool) -> Option<ClockTime> {
    let (word, behind) = lead(reader, at)?;
    let hour = hour(reader, behind)?;
    let is_time = hour.is_explicit || (may_be_bare && reader.ends_clause(hour.end));
    if !is_time {
        return None;
    }
    let is_until = reader.class(at, WordClass::Until).is_some();
    // Who asks what is open after 8, or until 8, means the evening.
    let is_evening = !hour.is_certain && hour.minutes < NOON && (word == TimeWord::After || is_until);
    let minutes = if is_evening { hour.minutes + NOON } else { hour.minutes };
    let is_midnight = hour.minutes > LAST_MINUTE;
    let spans = match word {
        // What is open after midnight is so in the small hours.
        TimeWord::After if is_midnight => vec![(DAY, DAY + SMALL_HOURS)],
        TimeWord::At if is_midnight => spans(DayPart::Midnight),
        TimeWord::After => vec![(minutes.min(LAST_MINUTE), LAST_MINUTE)],
        // What is open until two in the morning is so on the next day.
        TimeWord::Before if is_until && minutes < SMALL_HOURS => vec![(0, DAY + minutes.saturating_sub(1))],
        TimeWord::Before => vec![(0, minutes.saturating_sub(1))],
        _ => vec![(minutes.min(LAST_MINUTE), minutes.min(LAST_MINUTE))],
    };
    Some(ClockTime { spans, is_until: is_until && word == TimeWord::Before, end: hour.end })
}

/// "10 and 12 o'clock", "6 to 8 pm", "18 und 20 Uhr", behind "between".
fn between(reader: &Reader<'_>, at: usize) -> Option<ClockTime> {
    let low = hour(reader, at)?;
    let to = reader.class(low.end, WordClass::To)?;
    let high = hour(reader, to).filter(|high| high.is_explicit)?;
    // "6 to 8 pm": both are.
    let is_half = !low.is_certain && low.minutes < NOON && low.minutes + NOON <= high.minutes;
    let from = if is_half { low.minutes + NOON } else { low.minutes };
    let spans = vec![(from, high.minutes.min(LAST_MINUTE))];
    (from <= high.minutes).then_some(ClockTime { spans, is_until: false, end: high.end })
}

/// An hour, with minutes.
struct Hour {
    minutes: u16,
    /// Whether something says that it is an hour: a colon, "pm", "Uhr".
    is_explicit: bool,
    /// Whether it can't be meant in the other half of the day.
    is_certain: bool,
    end: usize,
}

fn hour(reader: &Reader<'_>, at: usize) -> Option<Hour> {
    let point = |meaning: &PhraseMeaning| match meaning {
        PhraseMeaning::DayPart(DayPart::Noon, _) => Some(NOON),
        PhraseMeaning::DayPart(DayPart::Midnight, _) => Some(DAY_MINUTES as u16),
        _ => None,
    };
    let behind_article = reader.skip(at, &[WordClass::Article]);
    if let Some((minutes, end)) = reader.longest(at, point).or_else(|| reader.longest(behind_article, point)) {
        return Some(Hour { minutes, is_explicit: true, is_certain: true, end });
    }
    let led = has(reader, at, TimeWord::Lead);
    let (minutes, end, is_written) = digits(reader, led.unwrap_or(at))?;
    let (minutes, behind, is_clock) = with_clock(reader, minutes, end);
    let half = |word, wants_second: bool| has(reader, behind, word).map(|end| (wants_second, end));
    let half = half(TimeWord::Pm, true).or_else(|| half(TimeWord::Am, false));
    let (minutes, end) = match half {
        Some((true, end)) if minutes < NOON => (minutes + NOON, end),
        // 12 am is midnight.
        Some((false, end)) if minutes >= NOON => (minutes - NOON, end),
        Some((_, end)) => (minutes, end),
        None => (minutes, behind),
    };
    let is_24 = is_clock == Some(true) || is_written || minutes >= NOON;
    let is_explicit = is_clock.is_some() || is_written || half.is_some() || led.is_some();
    (minutes <= DAY_MINUTES as u16).then_some(Hour { minutes, is_explicit, is_certain: is_24 || half.is_some(), end })
}

/// The digits of an hour: `18`, `18:30`, `18.30`; whether minutes are among them.
fn digits(reader: &Reader<'_>, at: usize) -> Option<(u16, usize, bool)> {
    let token = reader.token(at)?;
    let number = token.number().filter(|number| (0.0..=24.0).contains(number))?;
    let whole = number as u16 * HOUR;
    if number.fract() > 0.0 {
        // "18.30 Uhr": two digits are minutes, and half an hour is none.
        let (_, minutes) = reader.written(at..at + 1).split_once('.').filter(|(_, minutes)| minutes.len() == 2)?;
        let minutes = minutes.parse::<u16>().ok().filter(|minutes| *minutes < HOUR)?;
        has(reader, at + 1, TimeWord::Clock).or_else(|| has(reader, at + 1, TimeWord::Pm))?;
        return Some((whole + minutes, at + 1, false));
    }
    let is_joined = |at: usize| reader.token(at).is_some_and(|token| token.is_joined);
    let minutes =
        minutes(reader, at + 2).filter(|_| reader.is_mark(at + 1, ':') && is_joined(at + 1) && is_joined(at + 2));
    Some(minutes.map_or((whole, at + 1, false), |minutes| (whole + minutes, at + 3, true)))
}

fn minutes(reader: &Reader<'_>, at: usize) -> Option<u16> {
    let token = reader.token(at).filter(|token| token.range.len() == 2)?;
    token.number().filter(|number| number.fract() == 0.0 && *number < f64::from(HOUR)).map(|number| number as u16)
}

/// With the word for an hour behind it, and the minutes behind that: "18 Uhr 30", "18h30". Whether that word counts hours
/// from 0 to 24; `None`: there is none.
fn with_clock(reader: &Reader<'_>, hour: u16, at: usize) -> (u16, usize, Option<bool>) {
    let Some(behind) = has(reader, at, TimeWord::Clock) else { return (hour, at, None) };
    let counts_to_24 = behind == at + 1 && reader.token(at).is_some_and(|token| token.word != "oclock");
    match minutes(reader, behind) {
        Some(minutes) if hour.is_multiple_of(HOUR) => (hour + minutes, behind + 1, Some(counts_to_24)),
        _ => (hour, behind, Some(counts_to_24)),
    }
}

/// What minutes are on each of the days on which they lie: one of the week, 1 (Monday) to 7, and the one behind it.
pub(crate) fn on_days(day: i8, (from, to): Minutes) -> impl Iterator<Item = (i8, Minutes)> {
    let own = (from <= LAST_MINUTE).then_some((day, (from, to.min(LAST_MINUTE))));
    let next = (to >= DAY).then(|| (day % 7 + 1, (from.max(DAY) - DAY, to - DAY)));
    own.into_iter().chain(next)
}

/// A minute of the day, as it is told: `18:30`.
pub(crate) fn spell(minute: u16) -> String {
    let minute = minute % DAY;
    format!("{}:{:02}", minute / HOUR, minute % HOUR)
}
