//! Money for a time: "at least 4,000 a month", "€20/h", "ab 45.000 im Jahr", "under 900 a month". Pay is compared with pay
//! of any time, and rents with rents.

use forecourt_vocabulary::{PhraseMeaning, Quantity, Unit, WordClass};

use crate::amount::{Comparison, Span};
use crate::filter::Filter;
use crate::found::{Rank, UnderstoodPart};
use crate::learnt::LearntMeaning;
use crate::paths::{HOURLY_PRICE, MONTHLY_PRICE, YEARLY_PAY};
use crate::period::Period;
use crate::quantity::{self, within};
use crate::reader::Reader;
use crate::yearly_pay::{PAID, pay};

/// Words between an amount and its time.
const BETWEEN: &[&str] =
    &["gross", "net", "brutto", "netto", "brut", "bruts", "net", "nets", "bruto", "brutos", "neto"];

/// An amount of money with the time that it is paid for, or of pay.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let named = pay_named(reader, at);
    let costs = reader.class(at, WordClass::Costs).filter(|_| named.is_none());
    // "Loyer" is of what is rented, and "à" of anything.
    let is_cost = costs.is_some() && reader.token(at).is_some_and(|token| token.word.chars().count() > 1);
    let led = named.or(costs).or_else(|| reader.class(at, WordClass::For)).unwrap_or(at);
    // "At least" before "at": a word that only leads on begins what compares, too.
    let behind = if named.is_some() { reader.skip(led, &[WordClass::LimitLead, WordClass::Article]) } else { led };
    let mut span = [led, behind, at].into_iter().find_map(|at| reader.span(at).or_else(|| up_to(reader, at)))?;
    let is_money = matches!(span.amount.unit, None | Some(Unit::Money)) && !span.amount.is_article;
    let period = period(reader, span.end).or_else(|| period(reader, span.amount.end));
    let mut end = period.map_or(span.end, |(_, end)| end.max(span.end));
    let named_behind = pay_named(reader, end);
    end = named_behind.unwrap_or(end);
    if span.comparison == Comparison::Bare {
        (span, end) = compared_behind(reader, span, end);
    }
    // Where nothing has a price, money is what is earned.
    let is_earned = span.amount.unit == Some(Unit::Money) && reader.path(Quantity::Price).is_none();
    let is_pay = (named.or(named_behind).is_some() || is_earned) && reader.aids.known.has_number(YEARLY_PAY[0]);
    let is_limit = period.is_some() || (is_pay && span.comparison != Comparison::Bare);
    if !is_money || !is_limit || reader.is_name() {
        return None;
    }
    let period = period.map_or_else(|| Period::of_pay(span.amount.value), |(period, _)| period);
    let subject = match (is_pay, is_cost) {
        (true, _) => MoneySubject::Pay,
        (false, true) => MoneySubject::Price,
        (false, false) => MoneySubject::Either,
    };
    let filter = filter(reader, &span, period, subject)?;
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    Some(UnderstoodPart::limit(start..end, Rank::Paid, filter))
}

/// Where a word for pay ends: "salary", "Gehalt".
fn pay_named(reader: &Reader<'_>, at: usize) -> Option<usize> {
    let is_pay = |property: usize| reader.aids.learnt.get(property).id.as_deref() == Some(PAID);
    reader.learnt(at).find_map(|(meaning, end)| match meaning {
        LearntMeaning::Name(property) if is_pay(*property) => Some(end),
        _ => None,
    })
}

/// The time that money is paid for: "a month", "pro Stunde", "/h".
fn period(reader: &Reader<'_>, at: usize) -> Option<(Period, usize)> {
    let at = at + usize::from(reader.says(at, BETWEEN));
    if reader.is_mark(at, '/') {
        let (unit, end) = reader.unit(at + 1).or_else(|| {
            let letter = reader.token(at + 1)?.word.as_str();
            (letter == "h").then_some((Unit::Hour, at + 2))
        })?;
        return Some((Period::of_unit(unit)?, end));
    }
    let told =
        |meaning: &PhraseMeaning| if let PhraseMeaning::Period(unit) = meaning { Period::of_unit(*unit) } else { None };
    reader.longest(at, told)
}

/// "4,000 a month or more".
fn compared_behind(reader: &Reader<'_>, span: Span, end: usize) -> (Span, usize) {
    let value = Some(span.amount.value);
    let (less, more) = (reader.class(end, WordClass::OrLess), reader.class(end, WordClass::OrMore));
    match (less, more) {
        (Some(end), _) => (Span { to: value, comparison: Comparison::Compared, ..span }, end),
        (None, Some(end)) => (Span { from: value, comparison: Comparison::Compared, ..span }, end),
        (None, None) => (span, end),
    }
}

/// What money is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoneySubject {
    Pay,
    Price,
    Either,
}

/// "Bis 900", "jusqu'à 900": as for dates.
fn up_to(reader: &Reader<'_>, at: usize) -> Option<Span> {
    let span = reader.span(reader.class(at, WordClass::Until)?)?;
    let to = Some(span.amount.value);
    (span.comparison == Comparison::Bare).then_some(Span { from: None, to, comparison: Comparison::Compared, ..span })
}

fn filter(reader: &Reader<'_>, span: &Span, period: Period, subject: MoneySubject) -> Option<Filter> {
    let known = |path: &str| reader.aids.known.has_number(path);
    let value = Some(span.amount.value);
    // Who names an amount alone wants to earn so much, and to pay no more.
    let (earned, spent) = match span.comparison {
        Comparison::Bare => ((value, None), (None, value)),
        _ => ((span.from, span.to), (span.from, span.to)),
    };
    let said = |ends: (Option<f64>, Option<f64>)| {
        let amount = quantity::words(reader, Quantity::Price, ends.0, ends.1);
        reader.say(&format!("per_{}", period.id()), &[&amount])
    };
    let mut all = Vec::new();
    if subject != MoneySubject::Price && known(YEARLY_PAY[0]) {
        all.push(pay(earned, period, said(earned)));
    }
    let (path, times) = period.in_month().map_or((HOURLY_PRICE, 1.0), |times| (MONTHLY_PRICE, times));
    if subject != MoneySubject::Pay && known(path) {
        let times = |end: Option<f64>| end.map(|end| end * times);
        all.push(within(path, times(spent.0), times(spent.1), said(spent)));
    }
    // Prices that don't say for what time they are: as they stand, and told.
    if let Some(path) = reader.path(Quantity::Price).filter(|_| all.is_empty()) {
        let amount = quantity::words(reader, Quantity::Price, spent.0, spent.1);
        all.push(within(path, spent.0, spent.1, reader.say("per_unstated", &[&amount])));
    }
    let words = all.first()?.words.clone();
    Some(Filter::any_of(all, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Test;
    use crate::tests::{Stating, understood, understood_in};

    const JOBS: Stating = Stating(&["pay.from", "pay.to", "offers.price"]);
    const HOMES: Stating = Stating(&["offers.price", "offers.monthly"]);

    fn limits(text: &str, known: &Stating) -> Vec<Filter> {
        understood(text, known).filters
    }

    #[test]
    fn pay_is_compared_over_a_year() {
        for (text, said, yearly) in [
            ("job with at least 4,000 a month", "at least 4000 a month", 48_000.0),
            ("job over 60k a year", "at least 60000 a year", 60_000.0),
            ("job €20/h", "at least 20 an hour", 41_600.0),
            ("job, 20 euros per hour or more", "at least 20 an hour", 41_600.0),
            ("Stelle ab 45.000 im Jahr", "at least 45000 a year", 45_000.0),
            ("Stelle ab 3.500 Euro brutto im Monat", "at least 3500 a month", 42_000.0),
            ("Stelle mit 20 Euro pro Stunde", "at least 20 an hour", 41_600.0),
            ("emploi à plus de 3 000 € par mois", "at least 3000 a month", 36_000.0),
            ("trabajo de más de 2.000 euros al mes", "at least 2000 a month", 24_000.0),
        ] {
            let found = limits(text, &JOBS);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].words, said, "{text}");
            let Test::Overlaps { from: Some(from), to: None, .. } = found[0].test else { panic!("{found:?}") };
            assert!((from - yearly).abs() < 1.0, "{text}: {from}");
        }
    }

    #[test]
    fn where_only_pay_is_stated_money_is_earned() {
        const PAID_ALONE: Stating = Stating(&["pay.from", "pay.to"]);
        for (text, said) in [
            ("jobs over £30,000", "at least 30000 a year"),
            ("jobs paying at least £20 an hour", "at least 20 an hour"),
            ("Stellen ab 2.500 Euro", "at least 2500 a month"),
        ] {
            let found = limits(text, &PAID_ALONE);
            assert_eq!(found.first().map(|filter| filter.words.as_str()), Some(said), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_night_is_what_a_bed_is_paid_for_and_no_time_of_day() {
        for (text, said) in [
            ("house under 350 euros a night", "at most 350 a night"),
            ("Haus bis 350 Euro pro Nacht", "at most 350 a night"),
            ("maison à moins de 350 € la nuit", "at most 350 a night"),
            ("casa por menos de 350 euros la noche", "at most 350 a night"),
        ] {
            let found = limits(text, &HOMES);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].words, said, "{text}");
        }
    }

    #[test]
    fn rents_are_compared_by_the_month() {
        for (text, said, most) in [
            ("flat under 900 a month", "at most 900 a month", 900.0),
            ("flat for 200 euros a week", "at most 200 a week", 866.0),
            ("Wohnung bis 900 Euro im Monat", "at most 900 a month", 900.0),
            ("appartement à moins de 900 € par mois", "at most 900 a month", 900.0),
            ("piso por menos de 900 euros al mes", "at most 900 a month", 900.0),
        ] {
            let found = limits(text, &HOMES);
            assert_eq!(found[0].words, said, "{text}: {found:?}");
            let Test::Within { from: None, to: Some(to) } = found[0].test else { panic!("{text}: {found:?}") };
            assert!((to - most).abs() < 1.0, "{text}: {to}");
        }
    }

    #[test]
    fn an_amount_alone_is_for_the_time_that_it_is_usual_for() {
        let found = limits("job over €60k", &JOBS);
        let Test::AnyOf(all) = &found[0].test else { panic!("{found:?}") };
        assert!(all.iter().any(|one| matches!(one.test, Test::Overlaps { from: Some(from), .. } if from > 59_000.0)));
        let german = understood_in("Stelle ab 45.000 im Jahr", &JOBS, "de");
        assert_eq!(german.filters[0].words, "mindestens 45000 im Jahr");
        assert_eq!(german.notes.len(), 1);
    }

    #[test]
    fn where_nothing_says_for_what_time_it_is_paid_nothing_is_converted() {
        let shop = Stating(&["offers.price"]);
        let found = understood("flat under 900 euros a month", &shop);
        assert_eq!(
            (found.filters[0].words.as_str(), found.text.as_str()),
            ("at most 900, for a time that is not stated", "flat")
        );
    }
}
