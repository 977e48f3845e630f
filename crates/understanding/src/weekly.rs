//! Times of day and days that come back every week: "in the evening", "after 6 pm", "on Sundays", "open on Sunday
//! mornings", "open now". Held against when an item begins, or when it is open, by the clocks of where it is.

use forecourt_vocabulary::{DateWord, PhraseMeaning, Quantity, RelativeDate, TimeWord, WordClass};
use jiff::ToSpan;

use crate::clock::{ClockTime, LAST_MINUTE, Minutes, day_part, on_days, spell, time};
use crate::date_part::{each, skip_leads};
use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::measure::days_of;
use crate::paths::{DAY_MINUTES, EVENT_BEGINS, EVENT_EVERY, EVENT_SERIES, EVENT_WEEKDAYS, OPEN_SPANS_MAX, open_span};
use crate::quantity::within;
use crate::reader::Reader;

/// Days of the week, Monday first.
const WEEK: std::ops::RangeInclusive<i8> = 1..=7;
/// The last day of the week of work.
const FRIDAY: i8 = 5;

/// Days of a week.
const WEEK_DAYS: f64 = 7.0;
/// Days from a Monday to the first day of 1970.
const SINCE_MONDAY: f64 = 3.0;

/// Days of the week, and a time of them.
#[derive(Debug, Default)]
struct When {
    days: Vec<i8>,
    time: Option<ClockTime>,
    /// Whether the days are those of one date.
    is_dated: bool,
    /// The token behind it.
    end: usize,
}

/// What is open, then or now.
pub(crate) fn read_open(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let word = |at: usize, word| reader.longest(at, |meaning| (*meaning == PhraseMeaning::Time(word)).then_some(()));
    // "Still open after 10" is then, and not now.
    let is_now = |((), end): &((), usize)| when(reader, *end, true).is_none_or(|then| then.time.is_none());
    let (when, words, end) = if let Some(((), end)) = word(at, TimeWord::OpenNow).filter(is_now) {
        let now = now(reader);
        let words = now.as_ref().map(|now| said(reader, now, reader.written(at..end)));
        (now, words, end)
    } else if let Some(((), behind)) = word(at, TimeWord::OpenNow).or_else(|| word(at, TimeWord::Open)) {
        let when = when(reader, behind, true)?;
        let (end, words) = (when.end, open_words(reader, &when, reader.written(behind..when.end)));
        (Some(when), Some(words), end)
    } else {
        let when = when(reader, at, false)?;
        let behind = reader.skip(when.end, &[WordClass::LimitLead]);
        let ((), end) = word(behind, TimeWord::Open).or_else(|| word(when.end, TimeWord::Open))?;
        let words = open_words(reader, &when, reader.written(at..when.end));
        (Some(when), Some(words), end)
    };
    if reader.is_name() {
        return None;
    }
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    let open = when.zip(words).and_then(|(when, words)| open(reader, &when, &words));
    match open {
        Some(filter) => Some(UnderstoodPart::limit(start..end, Rank::Stated, filter)),
        // Days of events are theirs, whatever is called open on them.
        None if reader.path(Quantity::Date).is_some_and(|path| path.contains("start")) => None,
        None => reader.states_facts().then(|| UnderstoodPart::new(start..end, FoundMeaning::NotUnderstood)),
    }
}

/// "Evening classes": a part of the day in front of what begins then, where anything does.
fn of_noun(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let time = day_part(reader, at, true).filter(|time| time.end == at + 1)?;
    let end = time.end;
    let is_noun = reader.is_word(end) && !reader.ends_clause(end);
    let written = reader.written(at..end);
    let when = When { time: Some(time), end, ..When::default() };
    let filter = begins(reader, &when, written).filter(|_| is_noun && !reader.is_name())?;
    Some(UnderstoodPart::new(at..end, FoundMeaning::Wishes(vec![filter])))
}

/// A time of day, or days that come back. The days of one date are read with it.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let Some(when) = when(reader, at, false) else { return of_noun(reader, at) };
    // "Fridays in December" are dates.
    if [at, skip_leads(reader, at)].into_iter().any(|at| each(reader, at).is_some()) {
        return None;
    }
    let dates = reader.path(Quantity::Date);
    let is_for_dates = when.is_dated && dates.is_some();
    let says = !when.is_dated || opens(reader) || reader.aids.known.has_number(EVENT_WEEKDAYS);
    if is_for_dates || !says || reader.is_name() {
        return None;
    }
    let start = reader.absorb(reader.absorb(at, WordClass::LimitLead, floor), WordClass::AtTime, floor);
    let written = reader.written(at..when.end);
    if let Some(filter) =
        begins(reader, &when, written).or_else(|| open(reader, &when, &open_words(reader, &when, written)))
    {
        return Some(UnderstoodPart::limit(start..when.end, Rank::Stated, filter));
    }
    // What takes place, and says at no time.
    let is_limit = reader.states_facts() && dates.is_some_and(|path| path.contains("start"));
    is_limit.then(|| UnderstoodPart::new(start..when.end, FoundMeaning::NotUnderstood))
}

/// Days of the week on which it must not be: "not on Sundays", "außer montags".
pub(crate) fn read_not(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let lead = [WordClass::Not, WordClass::Without].iter().filter_map(|class| reader.class(at, *class)).max()?;
    let behind = reader.skip(lead, &[WordClass::AtTime, WordClass::Article]);
    let (days, end) = every(reader, behind).or_else(|| dated(reader, behind))?;
    let is_stated = reader.aids.known.has_number(EVENT_WEEKDAYS) && !reader.is_name();
    if !is_stated || reader.number(end).is_some() {
        return None;
    }
    let words = reader.say("stated_not", &[reader.written(lead..end)]);
    let others = WEEK.filter(|day| !days.contains(day)).map(f64::from);
    let all = others.map(|day| within(EVENT_WEEKDAYS, Some(day), Some(day), words.clone()));
    let start = reader.absorb(at, WordClass::WithoutLead, floor);
    Some(UnderstoodPart::limit(start..end, Rank::Stated, Filter::any_of(all.collect(), words)))
}

/// Words between a part of a day and the date of that day, without accents.
const OF: &[&str] = &["of", "du", "de", "des", "vom", "del", "dem", "den", "on", "am"];
/// Words in front of a date among which a part of its day stands.
const BEFORE_DATE_MAX: usize = 4;

/// "The evening of 10 December", "le soir du 10": the part of a day in front of its date, and where it begins.
fn before_date(reader: &Reader<'_>, date: usize, floor: usize) -> Option<(usize, ClockTime)> {
    let ties = |at: usize| {
        reader.says(at, OF) || [WordClass::AtTime, WordClass::Article].iter().any(|class| reader.is_single(at, *class))
    };
    (date.saturating_sub(BEFORE_DATE_MAX).max(floor)..date).find_map(|at| {
        let time = day_part(reader, at, true).filter(|time| time.end <= date && (time.end..date).all(ties))?;
        Some((at, time))
    })
}

/// The time of a date: within its words ("tonight"), behind it ("on Friday evening", "Freitag ab 18 Uhr"), or before it.
/// With the tokens of both.
pub(crate) fn of_date(
    reader: &Reader<'_>,
    tokens: &std::ops::Range<usize>,
    floor: usize,
) -> Option<(Filter, std::ops::Range<usize>)> {
    let within = tokens.clone().find_map(|at| {
        let time = day_part(reader, at, false).filter(|time| time.end <= tokens.end)?;
        Some((at, time))
    });
    let behind = || {
        let at = reader.skip(tokens.end, &[WordClass::LimitLead, WordClass::Article]);
        let found = |at: usize| time(reader, at, false).or_else(|| day_part(reader, at, true));
        Some(tokens.end).and_then(|end| found(end).map(|time| (end, time))).or_else(|| found(at).map(|time| (at, time)))
    };
    let (at, time) = within.or_else(behind).or_else(|| before_date(reader, tokens.start, floor))?;
    let (start, end) = (at.min(tokens.start), time.end.max(tokens.end));
    let written = reader.written(at..time.end);
    let when = When { time: Some(time), end, ..When::default() };
    begins(reader, &when, written).map(|filter| (filter, start..end))
}

/// What is open on the day of a date, and at the time that is said with it, where items say when they are open: who asks
/// for coffee on a Monday asks for no event.
pub(crate) fn open_then(reader: &Reader<'_>, tokens: &std::ops::Range<usize>, dated: &[Filter]) -> Option<Filter> {
    if !opens(reader) || reader.is_name() {
        return None;
    }
    let one_day = |filter: &Filter| match filter.alternatives().first()?.test {
        Test::Overlaps { from: Some(from), to: Some(to), .. } if to - from < 1.0 => {
            Some((from.floor() + SINCE_MONDAY).rem_euclid(WEEK_DAYS) as i8 + 1)
        }
        _ => None,
    };
    let said = tokens.clone().find_map(|at| when(reader, at, false).filter(|found| !found.days.is_empty()));
    let days = match said {
        Some(said) => said.days,
        None => vec![dated.iter().find_map(one_day)?],
    };
    let time = tokens.clone().find_map(|at| time(reader, at, false).or_else(|| day_part(reader, at, true)));
    let when = When { days, time, is_dated: true, end: tokens.end };
    let written = reader.written(tokens.clone());
    open(reader, &when, &open_words(reader, &when, written))
}

/// Words that make one date of a day of the week, without accents.
const THIS_ONE: &[&str] = &[
    "this",
    "next",
    "coming",
    "dieses",
    "diesen",
    "dieser",
    "nachstes",
    "nachsten",
    "nachster",
    "kommendes",
    "kommenden",
    "kommender",
    "ce",
    "cet",
    "cette",
    "prochain",
    "prochaine",
    "este",
    "esta",
    "proximo",
    "proxima",
];

/// What takes place on the days of the week of a date, in whichever week: "on Saturday" may mean any of them, and "this
/// Saturday" none but the next.
pub(crate) fn in_any_week(reader: &Reader<'_>, tokens: &std::ops::Range<usize>) -> Option<Filter> {
    let is_one = tokens
        .clone()
        .any(|at| reader.says(at, THIS_ONE) || reader.token(at).is_some_and(|token| token.number().is_some()));
    let is_day = |meaning: &PhraseMeaning| {
        matches!(meaning, PhraseMeaning::Weekday(_) | PhraseMeaning::Relative(RelativeDate::ThisWeekend)).then_some(())
    };
    let at = tokens.clone().find(|at| reader.longest(*at, is_day).is_some()).filter(|_| !is_one)?;
    let (days, end) = dated(reader, at)?;
    let when = When { days, end, ..When::default() };
    begins(reader, &when, reader.written(tokens.clone()))
}

/// Days and a time, in either order.
fn when(reader: &Reader<'_>, at: usize, may_be_bare: bool) -> Option<When> {
    let mut found = When::default();
    let mut at = at;
    loop {
        let begin = at;
        if found.time.is_none()
            && let Some(time) = time(reader, at, may_be_bare).or_else(|| day_part(reader, at, !found.days.is_empty()))
        {
            // "Tonight" is a day, too.
            if let Some((days, _)) = dated(reader, at).filter(|(_, end)| *end == time.end) {
                (found.days, found.is_dated) = (days, true);
            } else if let Some((days, _)) = every(reader, at).filter(|(_, end)| *end == time.end) {
                found.days = days;
            }
            // "Saturday mornings" are those of every week.
            let is_plural = time.end == at + 1 && reader.token(at).is_some_and(|token| token.word.ends_with('s'));
            let is_told = at.checked_sub(1).is_some_and(|before| is_relative(reader, before));
            let is_plural = is_plural && !is_told;
            found.is_dated &= !is_plural;
            (at, found.end) = (time.end, time.end);
            found.time = Some(time);
        } else if found.days.is_empty() {
            let led = reader.skip(at, &[WordClass::AtTime, WordClass::Article]);
            let every = every(reader, at).or_else(|| every(reader, led));
            let one = || dated(reader, at).or_else(|| dated(reader, led));
            if let Some((days, end)) = every {
                (found.days, at, found.end) = (days, end, end);
            } else if let Some((days, end)) = one() {
                (found.days, found.is_dated, at, found.end) = (days, true, end, end);
            }
        }
        if at == begin {
            return (found.end > 0).then_some(found);
        }
    }
}

/// Days that come back: "on Sundays", "Saturdays and Sundays", "weekdays".
fn every(reader: &Reader<'_>, at: usize) -> Option<(Vec<i8>, usize)> {
    let one = |at: usize| {
        reader.longest(at, |meaning| match meaning {
            PhraseMeaning::Every(day) => Some(vec![*day]),
            PhraseMeaning::DateWord(DateWord::Weekends) => Some(vec![6, 7]),
            PhraseMeaning::DateWord(DateWord::Weekdays) => Some(WEEK.filter(|day| *day <= FRIDAY).collect()),
            _ => None,
        })
    };
    let (mut days, mut end) = one(at)?;
    let tie = |at: usize| [WordClass::Or, WordClass::And].iter().find_map(|class| reader.class(at, *class));
    while let Some((more, behind)) =
        tie(end).and_then(|next| one(next).or_else(|| one(reader.skip(next, &[WordClass::AtTime]))))
    {
        days.extend(more);
        end = behind;
    }
    Some((days, end))
}

/// Whether a day is told from today here: "tomorrow".
fn is_relative(reader: &Reader<'_>, at: usize) -> bool {
    reader.meanings(at).any(|(meaning, _)| matches!(meaning, PhraseMeaning::Relative(_)))
}

/// The days of the week of one date.
fn dated(reader: &Reader<'_>, at: usize) -> Option<(Vec<i8>, usize)> {
    let today = reader.aids.today?;
    reader.longest(at, |meaning| match meaning {
        PhraseMeaning::Weekday(day) => Some(vec![*day]),
        PhraseMeaning::Relative(RelativeDate::Today) => Some(vec![today.weekday().to_monday_one_offset()]),
        PhraseMeaning::Relative(RelativeDate::ThisWeekend) => Some(vec![6, 7]),
        PhraseMeaning::Relative(RelativeDate::Tomorrow) => {
            today.checked_add(1.day()).ok().map(|day| vec![day.weekday().to_monday_one_offset()])
        }
        _ => None,
    })
}

/// What comes back every week on some of these days, in days since 1970: without an end, where they are not over; between
/// two dates, where a day of the week is all that is asked for.
pub(crate) fn on_days_of(
    reader: &Reader<'_>,
    (from, to): (Option<f64>, Option<f64>),
    is_weekday: bool,
    words: &str,
) -> Vec<Filter> {
    let is_over = to.zip(reader.aids.today).is_some_and(|(to, today)| to < days_of(today));
    let known = |path: &str| reader.aids.known.has_number(path);
    let paths = [(EVENT_EVERY, !is_over), (EVENT_SERIES, is_weekday)];
    let days: Vec<f64> = match from.zip(to) {
        Some((from, to)) if to - from < WEEK_DAYS => {
            let count = (to.floor() - from.floor()) as usize + 1;
            (0..count).map(|day| (from.floor() + day as f64 + SINCE_MONDAY).rem_euclid(WEEK_DAYS) + 1.0).collect()
        }
        _ => Vec::new(),
    };
    let of = |path: &str| match days.as_slice() {
        [] => vec![within(path, Some(1.0), Some(WEEK_DAYS), words.to_owned())],
        days => days.iter().map(|day| within(path, Some(*day), Some(*day), words.to_owned())).collect::<Vec<_>>(),
    };
    paths.into_iter().filter(|(path, is_meant)| *is_meant && known(path)).flat_map(|(path, _)| of(path)).collect()
}

/// This very minute. `None`: nobody knows what time it is.
fn now(reader: &Reader<'_>) -> Option<When> {
    let (today, minute) = (reader.aids.today?, reader.aids.minute?);
    let time = ClockTime { spans: vec![(minute, minute)], is_until: false, end: 0 };
    Some(When { days: vec![today.weekday().to_monday_one_offset()], time: Some(time), is_dated: true, end: 0 })
}

/// What begins then.
fn begins(reader: &Reader<'_>, when: &When, written: &str) -> Option<Filter> {
    let known = |path: &str| reader.aids.known.has_number(path);
    let words = said(reader, when, written);
    let Some(time) = &when.time else {
        let days = when.days.iter().map(|day| (f64::from(*day), f64::from(*day)));
        let all = days.map(|(from, to)| within(EVENT_WEEKDAYS, Some(from), Some(to), words.clone()));
        return known(EVENT_WEEKDAYS).then(|| Filter::any_of(all.collect(), words.clone()));
    };
    let days = if when.days.is_empty() { WEEK.collect() } else { when.days.clone() };
    let of = |day: i8, (from, to): Minutes| {
        let midnight = f64::from(day - 1) * DAY_MINUTES;
        within(EVENT_BEGINS, Some(midnight + f64::from(from)), Some(midnight + f64::from(to)), words.clone())
    };
    let spans = days.iter().flat_map(|day| time.spans.iter().flat_map(|span| on_days(*day, *span)));
    let all = spans.map(|(day, span)| of(day, span));
    known(EVENT_BEGINS).then(|| Filter::any_of(all.collect(), words.clone()))
}

/// Whether items state when they are open.
fn opens(reader: &Reader<'_>) -> bool {
    WEEK.clone().any(|day| reader.aids.known.has_number(&open_span(day, 0)[0]))
}

fn open_words(reader: &Reader<'_>, when: &When, written: &str) -> String {
    reader.say("open_then", &[&said(reader, when, written)])
}

/// What is open then.
fn open(reader: &Reader<'_>, when: &When, words: &str) -> Option<Filter> {
    if !opens(reader) {
        return None;
    }
    let days = if when.days.is_empty() { WEEK.collect() } else { when.days.clone() };
    let whole = vec![(0, LAST_MINUTE)];
    let spans = when.time.as_ref().map_or(&whole, |time| &time.spans);
    let is_until = when.time.as_ref().is_some_and(|time| time.is_until);
    let of = |fields: [String; 2], (from, to): Minutes| {
        let test = Test::Overlaps { from: Some(f64::from(from)), to: Some(f64::from(to)), or_unstated: false };
        Filter { fields: fields.into(), test, words: words.to_owned() }
    };
    let asked = |(from, to): Minutes| if is_until { (to, to) } else { (from, to) };
    let asked = days.iter().flat_map(|day| spans.iter().flat_map(move |span| on_days(*day, asked(*span))));
    let stated = asked.flat_map(|(day, span)| (0..OPEN_SPANS_MAX).map(move |at| (open_span(day, at), span)));
    let stated = stated.filter(|(fields, _)| reader.aids.known.has_number(&fields[0]));
    let all: Vec<Filter> = stated.map(|(fields, span)| of(fields, span)).collect();
    // On a day on which nothing is open, nothing keeps it.
    let none = || Filter {
        fields: open_span(days.first().copied().unwrap_or(1), 0).into(),
        test: Test::OneOf(Vec::new()),
        words: words.to_owned(),
    };
    Some(if all.is_empty() { none() } else { Filter::any_of(all, words.to_owned()) })
}

/// Days and times in words: as they are written, with the hours that this means.
fn said(reader: &Reader<'_>, when: &When, written: &str) -> String {
    let Some(time) = &when.time else { return written.to_owned() };
    let (Some((from, _)), Some((_, to))) = (time.spans.first(), time.spans.last()) else { return written.to_owned() };
    match from == to {
        true => reader.say("clock_at", &[written, &spell(*from)]),
        false => reader.say("clock_between", &[written, &spell(*from), &spell(*to)]),
    }
}

#[cfg(test)]
mod tests;
