//! What is over: it is left out.

use forecourt_core::Language;
use forecourt_index::Library;
use forecourt_understanding::{CANCELLED_DAY, EVENT_DAYS, EVENT_STATUS, Filter, LAST_DAY, Test, measure};
use forecourt_vocabulary::{PropertyTable, Quantity, QuestionLexicon};
use jiff::civil::Date;

/// Days before today on which a season, a month or a year may have begun that is not over.
const DAYS_OF_YEAR: f64 = 366.0;

/// That an item is not over on the day of a question, said in the language of the answer.
pub(super) fn filter(today: Date, answer_in: &Language) -> Filter {
    let day = measure::days_of(today);
    let words = QuestionLexicon::shipped().say(answer_in.as_str(), "not_over", &[]);
    let test = Test::Overlaps { from: Some(day), to: None, or_unstated: true };
    Filter { fields: vec![LAST_DAY.to_owned(), LAST_DAY.to_owned()], test, words }
}

/// The limits of a question, and that nothing is over, where no date is asked for and not everything is: an archive
/// is searched whole.
pub(super) fn with_current(library: &Library, applied: &[Filter], current: Option<&Filter>) -> Vec<Filter> {
    let mut filters = applied.to_vec();
    // Who asks for what was cancelled gets it.
    if applied.iter().any(|filter| filter.fields.iter().any(|field| field == EVENT_STATUS)) {
        return filters;
    }
    let dates = PropertyTable::shipped().paths(Quantity::Date);
    let is_date = |field: &String| dates.contains(field) || EVENT_DAYS.contains(&field.as_str());
    let asks_date = applied.iter().flat_map(|filter| &filter.fields).any(is_date);
    let is_to_come = |filter: &&Filter| match (&filter.test, library.last_day()) {
        (Test::Overlaps { from: Some(day), .. }, Some(last)) => last >= *day,
        _ => false,
    };
    let is_known = current.filter(is_to_come);
    let today = current.and_then(first_day);
    let goes_on = |filter: &Filter| filter.fields.iter().any(is_date) && today.is_some_and(|day| goes_on(filter, day));
    let asks_past = asks_date && !applied.iter().any(goes_on);
    // Who asks for a date may ask for what is over, and never for what was cancelled.
    filters.extend(is_known.map(|current| match asks_past {
        true => Filter {
            test: Test::Overlaps { from: Some(CANCELLED_DAY + 1.0), to: None, or_unstated: true },
            ..current.clone()
        },
        false => current.clone(),
    }));
    filters
}

/// The day on which an item must not be over.
pub(super) fn first_day(current: &Filter) -> Option<f64> {
    match current.test {
        Test::Overlaps { from, .. } => from,
        _ => None,
    }
}

/// Whether days that are asked for go on after a day and have not begun long ago: "this autumn" means what is still to come,
/// and "since 2001" does not.
fn goes_on(filter: &Filter, day: f64) -> bool {
    let goes_on = |one: &Filter| match one.test {
        Test::Overlaps { from: Some(from), to: Some(to), .. } => to >= day && from > day - DAYS_OF_YEAR,
        _ => false,
    };
    filter.alternatives().iter().any(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_around_today_go_on_and_those_of_an_archive_do_not() {
        let on = |from: Option<f64>, to: Option<f64>| Filter {
            fields: Vec::new(),
            test: Test::Overlaps { from, to, or_unstated: false },
            words: String::new(),
        };
        let today = 20_000.0;
        assert!(goes_on(&on(Some(today - 60.0), Some(today)), today));
        assert!(goes_on(&on(Some(today - 365.0), Some(today + 30.0)), today));
        for (from, to) in [
            (Some(today - 60.0), Some(today - 1.0)),
            (Some(today - 366.0), Some(today + 30.0)),
            (Some(today - 60.0), None),
            (None, Some(today)),
        ] {
            assert!(!goes_on(&on(from, to), today), "{from:?} to {to:?}");
        }
    }
}
