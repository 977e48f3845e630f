//! Limits of the ages that items are for.

use forecourt_vocabulary::Unit;

use crate::amount::{Comparison, Span};
use crate::filter::{Filter, Test};
use crate::learnt::LearntMeaning;
use crate::paths::{AGES, SHARE_MIN};
use crate::reader::Reader;

/// The age from which on somebody is no child. Who asks for children is answered with what says that it is for them.
pub(crate) const ADULT: f64 = 18.0;
/// The age from which on people are asked for as seniors.
const SENIOR: f64 = 55.0;

/// What is for people of these ages. Where few items say so, what is for adults need not, but must not be for children.
pub(crate) fn ages(reader: &Reader<'_>, from: f64, to: f64, written: &str) -> Filter {
    let fields = AGES.iter().map(|path| (*path).to_owned()).collect();
    let is_rare = reader.aids.known.share(AGES[0]) < SHARE_MIN;
    // What is for older people says so.
    let is_for_seniors = from >= SENIOR && to > from;
    let or_unstated = from >= ADULT - 2.0 && is_rare && !is_for_seniors;
    let test = Test::Overlaps { from: Some(from), to: Some(to), or_unstated };
    Filter { fields, test, words: reader.say("age_for", &[written]) }
}

/// Months of a year.
const MONTHS: f64 = 12.0;

/// What is for people of an age, where items state the ages that they are for.
pub(crate) fn of_span(reader: &Reader<'_>, span: &Span) -> Option<Filter> {
    if is_age(reader, span) || is_of_adults(reader, span) { Some(limit(reader, span)) } else { None }
}

/// Whether a compared number without a unit stands behind people of some age: "for kids under 12".
pub(crate) fn is_behind_people(reader: &Reader<'_>, start: usize, span: &Span) -> bool {
    let is_number = span.comparison == Comparison::Compared && span.amount.unit.is_none() && span.amount.in_digits;
    let are_people =
        |at: usize| reader.learnt(at).any(|(meaning, end)| end == start && matches!(meaning, LearntMeaning::Ages(..)));
    is_number
        && (1.0..ADULT).contains(&span.amount.value)
        && reader.ends_clause(span.end)
        && (start.saturating_sub(PEOPLE_WORDS_MAX)..start).any(are_people)
}

/// What is for people of these ages, where items state the ages that they are for.
pub(crate) fn between(reader: &Reader<'_>, span: &Span) -> Option<Filter> {
    AGES.iter().all(|path| reader.aids.known.has_number(path)).then(|| limit(reader, span))
}

/// Words of the longest phrase for people of some age that is looked for.
const PEOPLE_WORDS_MAX: usize = 3;

/// The limit to what is for people of an age.
fn limit(reader: &Reader<'_>, span: &Span) -> Filter {
    // "My baby, 10 months".
    let in_years = if span.amount.unit == Some(Unit::Month) { 1.0 / MONTHS } else { 1.0 };
    let value = span.amount.value * in_years;
    let (from, to) = match span.comparison {
        Comparison::Bare => (value, value),
        _ => {
            // Who is under 12 is 11 at most; "over 18s" are of that age, too.
            let step = if span.is_strict { 1.0 } else { 0.0 };
            let to = span.to.map(|to| (to - step).max(0.0));
            (span.from.unwrap_or(0.0), to.unwrap_or(f64::from(u8::MAX)))
        }
    };
    let said = if from == to { reader.spell(from) } else { format!("{}–{}", reader.spell(from), reader.spell(to)) };
    ages(reader, from, to, &reader.say("years_of_age", &[&said]))
}

/// "Over 18s": people of an age and more, or less.
pub(crate) fn is_of_adults(reader: &Reader<'_>, span: &Span) -> bool {
    let is_plural = reader.says(span.amount.number_end, &["s"])
        && reader.token(span.amount.number_end).is_some_and(|token| token.is_joined);
    let is_one = is_plural && span.amount.in_digits && span.comparison == Comparison::Compared;
    is_one && (1.0..OLDEST).contains(&span.amount.value) && AGES.iter().all(|path| reader.aids.known.has_number(path))
}

/// Whether an amount is an age, where items state the ages that they are for.
fn is_age(reader: &Reader<'_>, span: &Span) -> bool {
    let is_of_age = match span.amount.unit {
        Some(Unit::YearOfAge) => true,
        // "My daughter is 5 years": beside somebody of an age, years are an age.
        Some(Unit::Year | Unit::Month) => reader.names_ages() && span.comparison == Comparison::Bare,
        // "She is 9": a bare number is an age behind what says who is so old.
        None => reader.names_ages() && span.comparison == Comparison::Bare && says_how_old(reader, span),
        _ => false,
    };
    is_of_age && AGES.iter().all(|path| reader.aids.known.has_number(path))
}

/// Words in front of somebody's age.
const IS_SO_OLD: &[&str] =
    &["is", "s", "hes", "shes", "turns", "turning", "turned", "just", "aged", "age", "ist", "wird", "alter", "von"];

/// Whether a number stands behind what somebody is, and nothing is counted by it.
fn says_how_old(reader: &Reader<'_>, span: &Span) -> bool {
    let Some(before) = span.amount.number_end.checked_sub(2).and_then(|at| reader.token(at)) else { return false };
    let is_said = IS_SO_OLD.contains(&before.word.as_str()) && !span.amount.is_article;
    is_said && reader.ends_clause(span.end) && (1.0..OLDEST).contains(&span.amount.value)
}

/// The age from which on nobody is asked for.
const OLDEST: f64 = 100.0;

/// Whether a question says how old somebody is.
pub(crate) fn says_age(reader: &Reader<'_>) -> bool {
    let mut at = 0;
    while at < reader.tokens.len() {
        match reader.span(at) {
            Some(span) if is_age(reader, &span) => return true,
            // Whole amounts: the "2 years" of "at least 2 years" are none by themselves.
            Some(span) => at = span.end.max(at + 1),
            None => at += 1,
        }
    }
    false
}
