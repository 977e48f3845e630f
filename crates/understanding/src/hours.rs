//! Hours of work a week: "at least 20 hours a week", "moins de 25 heures par semaine".

use forecourt_vocabulary::{PhraseMeaning, Quantity, Unit, WordClass};

use crate::amount::Comparison;
use crate::filter::{Filter, Test};
use crate::found::{Rank, UnderstoodPart};
use crate::paths::WORK_HOURS;
use crate::quantity;
use crate::reader::Reader;

/// How far below a limit that is left out itself the most lies, in hours.
const LESS: f64 = 0.01;
/// Minutes of an hour.
const MINUTES: f64 = 60.0;

/// A limit of the hours of work a week, where items state them.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    if WORK_HOURS.iter().any(|path| !reader.aids.known.has_number(path)) || reader.is_name() {
        return None;
    }
    let span = reader.span(at).filter(|span| span.amount.unit == Some(Unit::Hour) && !span.amount.is_article)?;
    let is_week = |meaning: &PhraseMeaning| (*meaning == PhraseMeaning::Period(Unit::Week)).then_some(());
    let ((), mut end) = reader.longest(span.end, is_week).or_else(|| reader.longest(span.amount.end, is_week))?;
    end = end.max(span.end);
    let value = span.amount.value;
    let (mut from, mut to) = match span.comparison {
        Comparison::Bare => (Some(value), Some(value)),
        _ => (span.from, span.to),
    };
    if span.comparison == Comparison::Bare {
        let (less, more) = (reader.class(end, WordClass::OrLess), reader.class(end, WordClass::OrMore));
        if let Some(behind) = less.or(more) {
            (from, to, end) = if less.is_some() { (None, to, behind) } else { (from, None, behind) };
        }
    }
    let in_minutes = |end: Option<f64>| end.map(|end| end * MINUTES);
    let said = quantity::words(reader, Quantity::Length, in_minutes(from), in_minutes(to));
    let words = reader.say("per_week", &[&said]);
    if span.is_strict {
        (from, to) = (from.map(|from| from + LESS), to.map(|to| to - LESS));
    }
    let test = Test::Overlaps { from, to, or_unstated: false };
    let filter = Filter { fields: WORK_HOURS.map(str::to_owned).into(), test, words };
    Some(UnderstoodPart::limit(reader.absorb(at, WordClass::LimitLead, floor)..end, Rank::Stated, filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Stating, understood};

    const JOBS: Stating = Stating(&["workHours.from", "workHours.to", "pay.from", "pay.to"]);

    #[test]
    fn hours_a_week_are_a_limit_in_four_languages() {
        for (text, said) in [
            ("job with at least 20 hours a week", "20 hours or more a week"),
            ("job, 20 hours per week or more", "20 hours or more a week"),
            ("Stelle mit höchstens 30 Stunden pro Woche", "30 hours or less a week"),
            ("emploi, moins de 25 heures par semaine", "25 hours or less a week"),
            ("trabajo de más de 10 horas a la semana", "10 hours or more a week"),
            ("job with 20 hours a week", "20 hours to 20 hours a week"),
        ] {
            let found = understood(text, &JOBS).filters;
            assert_eq!(found.first().map(|filter| filter.words.as_str()), Some(said), "{text}: {found:?}");
        }
        let less = &understood("emploi, moins de 25 heures par semaine", &JOBS).filters[0].test;
        assert!(matches!(less, Test::Overlaps { from: None, to: Some(to), .. } if *to < 25.0), "{less:?}");
        assert!(understood("job, 20 hours a week", &Stating(&["offers.price"])).filters.is_empty());
    }
}
