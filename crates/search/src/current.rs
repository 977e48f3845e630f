//! What is over: it is left out.

use forecourt_core::{Language, Timestamp};
use forecourt_index::Library;
use forecourt_understanding::{CANCELLED_DAY, EVENT_DAYS, Filter, LAST_DAY, Test};
use forecourt_vocabulary::{PropertyTable, Quantity, QuestionLexicon};

const SECONDS_OF_DAY: f64 = 86_400.0;

/// That an item is not over on the day of a question, said in the language of the answer.
pub(super) fn filter(asked_at: Timestamp, answer_in: &Language) -> Filter {
    let day = (asked_at.as_second() as f64 / SECONDS_OF_DAY).floor();
    let words = QuestionLexicon::shipped().say(answer_in.as_str(), "not_over", &[]);
    let test = Test::Overlaps { from: Some(day), to: None, or_unstated: true };
    Filter { fields: vec![LAST_DAY.to_owned(), LAST_DAY.to_owned()], test, words }
}

/// The limits of a question, and that nothing is over, where no date is asked for and not everything is: an archive
/// is searched whole.
pub(super) fn with_current(library: &Library, applied: &[Filter], current: Option<&Filter>) -> Vec<Filter> {
    let mut filters = applied.to_vec();
    let dates = PropertyTable::shipped().paths(Quantity::Date);
    let is_date = |field: &String| dates.contains(field) || EVENT_DAYS.contains(&field.as_str());
    let asks_date = applied.iter().flat_map(|filter| &filter.fields).any(is_date);
    let is_to_come = |filter: &&Filter| match (&filter.test, library.last_day()) {
        (Test::Overlaps { from: Some(day), .. }, Some(last)) => last >= *day,
        _ => false,
    };
    let is_known = current.filter(is_to_come);
    // Who asks for a date may ask for what is over, and never for what was cancelled.
    filters.extend(is_known.map(|current| match asks_date {
        true => Filter {
            test: Test::Overlaps { from: Some(CANCELLED_DAY + 1.0), to: None, or_unstated: true },
            ..current.clone()
        },
        false => current.clone(),
    }));
    filters
}
