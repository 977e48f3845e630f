//! What begins or ends on some days, and what is open until then: "exhibitions that end in January", "applications closing
//! by 12 December".

use forecourt_vocabulary::{PhraseMeaning, Quantity, RelativeDate};
use jiff::ToSpan;
use jiff::civil::Date;

use crate::filter::Filter;
use crate::found::{Rank, UnderstoodPart};
use crate::measure::days_of;
use crate::moment::TO_MIDNIGHT;
use crate::paths::{EVENT_DAYS, LAST_DAY};
use crate::plain_date::DaysLimit;
use crate::quantity::within;
use crate::reader::Reader;

/// Words at a date that say that something begins then, and that it ends then, without accents.
const BEGINS: &[&str] = &[
    "begin",
    "begins",
    "beginning",
    "start",
    "starts",
    "starting",
    "open",
    "opens",
    "opening",
    "beginnen",
    "beginnt",
    "starten",
    "startet",
    "eroffnen",
    "eroffnet",
    "commencent",
    "commence",
    "debutent",
    "debute",
    "empiezan",
    "empieza",
    "comienzan",
    "comienza",
];
const ENDS: &[&str] = &[
    "end",
    "ends",
    "ending",
    "close",
    "closes",
    "closing",
    "finish",
    "finishes",
    "enden",
    "endet",
    "schliessen",
    "schliesst",
    "auslaufen",
    "terminent",
    "termine",
    "finissent",
    "finit",
    "terminan",
    "termina",
    "acaban",
    "acaba",
    "finalizan",
    "finaliza",
];

/// What begins, or ends, on these days, and what has not begun today.
pub(crate) fn of_days_ahead(
    reader: &Reader<'_>,
    tokens: &std::ops::Range<usize>,
    limit: Option<&DaysLimit>,
) -> Option<UnderstoodPart> {
    let is_event = EVENT_DAYS.iter().all(|path| reader.aids.known.has_number(path));
    let (all, words) = limit.filter(|_| is_event && !reader.is_name())?;
    let day = |day: &Option<Date>| day.map(days_of);
    if is_not_begun(reader, tokens) {
        let from = all.first().and_then(|(from, _)| day(from));
        let filter = within(EVENT_DAYS[0], from, None, words.clone());
        return Some(UnderstoodPart::limit(tokens.clone(), Rank::Quantity(Quantity::Date), filter));
    }
    let ends = [(BEGINS, EVENT_DAYS[0]), (ENDS, EVENT_DAYS[1])];
    let before = tokens.start.checked_sub(1);
    let (path, tokens) = ends.into_iter().find_map(|(list, path)| match before {
        Some(before) if reader.says(before, list) => Some((path, before..tokens.end)),
        _ if reader.says(tokens.end, list) => Some((path, tokens.start..tokens.end + 1)),
        _ => None,
    })?;
    let written = reader.written(tokens.clone());
    let each = all.iter().map(|(from, to)| within(path, day(from), day(to), written.to_owned()));
    let filter = Filter::any_of(each.collect(), written.to_owned());
    Some(UnderstoodPart::limit(tokens, Rank::Quantity(Quantity::Date), filter))
}

/// Nouns for the last day on which something is open, without accents.
const LAST_DAYS: &[&str] = &[
    "deadline",
    "expire",
    "expires",
    "expiring",
    "bewerbungsschluss",
    "bewerbungsfrist",
    "frist",
    "einsendeschluss",
    "limite",
    "cloture",
    "cloturent",
    "expirent",
    "plazo",
    "cierran",
    "cierra",
    "vencen",
    "vence",
];
/// What it is that closes then, without accents.
const APPLICATIONS: &[&str] =
    &["application", "applications", "bewerbung", "bewerbungen", "candidatures", "solicitudes"];
/// Words between such a word and the day.
const BETWEEN_MAX: usize = 3;

/// What is open until one of these days, where items are open until one: "applications closing by 12 December".
pub(crate) fn closing(
    reader: &Reader<'_>,
    tokens: &std::ops::Range<usize>,
    limit: Option<&DaysLimit>,
) -> Option<UnderstoodPart> {
    let known = |path: &str| reader.aids.known.has_number(path);
    let (all, _) = limit.filter(|_| known(LAST_DAY) && !known(EVENT_DAYS[0]) && !reader.is_name())?;
    let today = reader.aids.today?;
    let says = |at: usize| [ENDS, LAST_DAYS].iter().any(|list| reader.says(at, list));
    let before = (tokens.start.saturating_sub(BETWEEN_MAX)..tokens.start).find(|at| says(*at));
    let tokens = match before {
        Some(before) => {
            let is_named = before.checked_sub(1).is_some_and(|at| reader.says(at, APPLICATIONS));
            before - usize::from(is_named)..tokens.end
        }
        None if says(tokens.end) => tokens.start..tokens.end + 1,
        None => return None,
    };
    let written = reader.written(tokens.clone());
    let each = all.iter().map(|days| {
        let (from, to) = ahead(*days, today);
        let from = from.or(Some(today));
        within(LAST_DAY, from.map(days_of), to.map(|day| days_of(day) + TO_MIDNIGHT), written.to_owned())
    });
    let filter = Filter::any_of(each.collect(), written.to_owned());
    Some(UnderstoodPart::limit(tokens, Rank::Quantity(Quantity::Date), filter))
}

/// Days that are over today a year later, where they are not over then: days without a year are the next ones. What has
/// begun and is not over is meant as it is: "this week".
fn ahead((from, to): (Option<Date>, Option<Date>), today: Date) -> (Option<Date>, Option<Date>) {
    let later = |day: Option<Date>| day.and_then(|day| day.checked_add(1.year()).ok());
    let last = to.or(from);
    let is_over = last.is_some_and(|last| last < today);
    match is_over && later(last).is_some_and(|last| last >= today) {
        true => (later(from), later(to)),
        false => (from, to),
    }
}

fn is_not_begun(reader: &Reader<'_>, tokens: &std::ops::Range<usize>) -> bool {
    let is = |meaning: &PhraseMeaning| (*meaning == PhraseMeaning::Relative(RelativeDate::NotBegun)).then_some(());
    tokens.clone().any(|at| reader.longest(at, is).is_some())
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_that_are_over_are_those_of_the_next_year_unless_these_are_over_too() {
        let today = date(2026, 11, 25);
        let ahead = |from: Option<Date>, to: Option<Date>| super::ahead((from, to), today);
        let (monday, sunday) = (Some(date(2026, 11, 23)), Some(date(2026, 11, 29)));
        assert_eq!(ahead(monday, sunday), (monday, sunday));
        assert_eq!(ahead(None, Some(date(2025, 12, 12))), (None, Some(date(2026, 12, 12))));
        assert_eq!(ahead(Some(date(2026, 3, 1)), None), (Some(date(2027, 3, 1)), None));
        assert_eq!(ahead(None, Some(date(2019, 12, 31))), (None, Some(date(2019, 12, 31))));
    }
}
