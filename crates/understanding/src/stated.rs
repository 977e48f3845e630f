//! Limits of the amounts that items state themselves, by the words that were learnt from them: "at least 3 rooms",
//! "mileage under 50,000 km".

use forecourt_vocabulary::{Unit, WordClass};

use crate::ages;
use crate::amount::{Comparison, Span};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::LearntMeaning;
use crate::reader::Reader;
use crate::stated_amount::{StatedAmount, comparison, is_numeric, names};
use crate::stated_limit::Choice;

#[cfg(test)]
mod choices;
#[cfg(test)]
mod meant_of_one;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wordings;

/// An amount of a property that is named, or whose unit only one has.
pub(crate) fn read_number(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // "For a 5 year old": somebody's age, and nothing's.
    if reader.span(at).is_some_and(|span| ages::of_span(reader, &span).is_some()) {
        return None;
    }
    let named = led_by_name(reader, at).or_else(|| denied_name(reader, at));
    let found = named.or_else(|| led_by_comparative(reader, at)).or_else(|| {
        let mut stated = StatedAmount::read(reader, at)?;
        let named = stated.take_name(reader);
        Some((stated, named))
    });
    // "For 4 people", "a 3 room flat": what leads to an amount, where the amount has a name.
    let led = || {
        let behind = LEADS.iter().filter_map(|class| reader.class(at, *class)).max()?;
        if reader.span(behind).is_some_and(|span| ages::of_span(reader, &span).is_some()) {
            return None;
        }
        let mut stated = StatedAmount::read(reader, behind)?;
        let named = stated.take_name(reader);
        // "A bag for at least 8 kilos": what is compared needs no name.
        let is_limit = || {
            let compares = stated.span.comparison == Comparison::Compared && reader.class(at, WordClass::For).is_some();
            compares && matches!(stated.property(reader, &[]), Some(Choice::Of(..)))
        };
        (!named.is_empty() || is_limit()).then_some((stated, named))
    };
    let (stated, mut named) = found.or_else(led)?;
    // "30 euros for 6 bottles": what is paid is no number of things.
    if stated.is_other {
        let was_named = !named.is_empty();
        // "A view of the lake under £200" is no distance to it, though some items state that without a unit.
        let learnt = reader.aids.learnt;
        let is_measured = named.iter().any(|property| learnt.get(*property).dimension.is_some());
        named.retain(|property| !is_measured && !learnt.get(*property).is_count);
        if was_named && named.is_empty() {
            return None;
        }
    }
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    // "Crunchier than 45 %" is no 45 %, whatever that would be.
    let is_compared = at.checked_sub(1).is_some_and(|before| before >= floor && reader.says(before, COMPARES));
    let choice = stated.property(reader, &named)?;
    let end = stated.end;
    let meaning = match choice {
        _ if is_compared && stated.span.comparison == Comparison::Bare => FoundMeaning::NotUnderstood,
        Choice::Of(properties, factor) => {
            let stated = stated.faster(reader, at, &properties);
            FoundMeaning::Limits(Rank::Stated, vec![stated.filter(reader, &properties, factor)])
        }
        Choice::NotChecked if !reader.is_name() => FoundMeaning::NotUnderstood,
        Choice::NotChecked => return None,
    };
    Some(UnderstoodPart::new(start..end, meaning))
}

/// Words behind which something is compared with an amount.
const COMPARES: &[&str] = &["than", "als"];
/// Words in front of an amount that other rules take for a limit of their own.
const LEADS: &[WordClass] = &[WordClass::For, WordClass::Costs, WordClass::Serves, WordClass::Article];

/// An amount behind the name of its property: "mileage under 50,000", "from model year 2019".
fn led_by_name(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let compared = comparison(reader, at);
    let begin = compared.map_or(at, |(_, end)| end);
    // "Size 30" is the size that items state, whatever else some language calls a size.
    let states_size = reader.table.texts.size.iter().any(|path| reader.aids.known.share(path) > 0.0);
    if states_size && reader.class(begin, WordClass::Size).is_some() {
        return None;
    }
    let named = names(reader, begin, is_numeric);
    let end = named.first().map(|(_, end)| *end)?;
    // "At least" before "at": a word that only leads on begins what compares, too.
    let led = |classes: &[WordClass]| StatedAmount::read(reader, reader.skip(end, classes));
    let mut stated = StatedAmount::read(reader, end)
        .or_else(|| led(&[WordClass::Article]))
        .or_else(|| led(&[WordClass::Article, WordClass::LimitLead]))?;
    // "A room for four": how many it is for, and not how many rooms.
    let counts = || named.iter().all(|(property, _)| reader.aids.learnt.get(*property).is_count);
    let of_people = stated.span.amount.unit == Some(Unit::Person) || (stated.unit.is_none() && counts());
    if of_people && reader.class(end, WordClass::For).is_some() {
        return None;
    }
    // "A child seat for a 17 kilo toddler": the amount is of whom it is for, and not of the seat.
    let is_of_name = |(property, _): &(usize, usize)| {
        stated.unit.is_none_or(|(dimension, _)| reader.aids.learnt.get(*property).dimension == Some(dimension))
    };
    if stated.is_of_somebody && reader.class(end, WordClass::For).is_some() && !named.iter().any(is_of_name) {
        return None;
    }
    // "Rooms with two single beds": two of what follows.
    let is_of_next = stated.span.comparison == Comparison::Bare && stated.unit.is_none() && !stated.is_other;
    let is_led = StatedAmount::read(reader, end).is_none() && reader.class(end, WordClass::With).is_some();
    if is_of_next && is_led && reader.is_word(stated.end) && !reader.ends_clause(stated.end) {
        return None;
    }
    if let Some((is_least, _)) = compared.filter(|_| stated.span.comparison == Comparison::Bare) {
        let value = Some(stated.span.amount.value);
        let (from, to) = if is_least { (value, None) } else { (None, value) };
        stated.span = Span { from, to, comparison: Comparison::Compared, ..stated.span };
    }
    Some((stated, named.into_iter().map(|(at, _)| at).collect()))
}

/// "Does not weigh more than 2 kg": a limit of a property that is denied.
fn denied_name(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let behind = reader.behind_not(at)?;
    let (mut stated, named) = led_by_name(reader, behind)?;
    let Span { from, to, comparison, .. } = stated.span;
    // "Not at least 2 kg" is nothing that people say.
    if comparison != Comparison::Compared || from.is_some() == to.is_some() {
        return None;
    }
    stated.span = Span { from: to, to: from, is_strict: false, ..stated.span };
    Some((stated, named))
}

/// What stands between a comparative and what it is compared with in clauses: "nicht breiter ist als 80 cm".
const IS: &[&str] = &["ist", "sind", "sein", "is", "kostet", "wiegt"];
/// Words between a comparative and what is compared with it.
const THAN: &[&str] = &["than", "als", "wie", "que", "de", "a"];

/// An amount behind a comparative of its property: "deeper than 25 cm", "not wider than a metre".
fn led_by_comparative(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let comparative = |at: usize| {
        let all = reader.learnt(at).filter_map(|(meaning, end)| match meaning {
            LearntMeaning::Comparative(property, is_more) => Some((*property, *is_more, end)),
            _ => None,
        });
        let all: Vec<(usize, bool, usize)> = all.collect();
        let longest = all.iter().map(|(.., end)| *end).max()?;
        let (_, is_more, _) = *all.iter().find(|(.., end)| *end == longest)?;
        let of = all.into_iter().filter(|(_, more, end)| *end == longest && *more == is_more);
        Some((of.map(|(property, ..)| property).collect::<Vec<_>>(), is_more, longest))
    };
    let plain = comparative(at).map(|found| (found, false));
    let negated = || reader.behind_not(at).and_then(comparative).map(|found| (found, true));
    let ((named, is_more, end), is_negated) = plain.or_else(negated)?;
    let end = end + usize::from(reader.says(end, IS));
    if !reader.says(end, THAN) {
        return None;
    }
    let mut stated = StatedAmount::read(reader, end + 1)?;
    // "Shorter than 4 hours" is said of no number of pages, though fewer of these are shorter, too.
    let named = stated.measured(reader, named);
    let value = Some(stated.span.amount.value);
    let (from, to) = if is_more == is_negated { (None, value) } else { (value, None) };
    stated.span = Span { from, to, comparison: Comparison::Compared, is_strict: !is_negated, ..stated.span };
    Some((stated, named))
}
