//! Values to click of a property that is a quantity: ranges of a price, stars and more, months and years. Each is
//! written as a filter by name reads it, so that a click asks for the items that were counted.

use std::collections::BTreeMap;

use forecourt_index::limits::FACET_VALUES_MAX;
use jiff::ToSpan;
use jiff::civil::{Date, date};

/// How the values of a quantity are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// About a quarter of the items each, between round numbers: `20..50`.
    Ranges,
    /// So many and more, out of five: `4+`.
    Stars,
    /// By year, the newest first: `1999`.
    Years,
    /// By month, the first one first: `2026-12`.
    Months,
}

/// Most different quantities of a rating that is out of five.
const STARS_MAX: f64 = 5.0;
/// Stars that are offered, the most first.
const STARS: [f64; 3] = [4.0, 3.0, 2.0];
/// What round numbers begin with.
const ROUND: [f64; 8] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5];

/// What there is to click, with how many of the items have it: [`FACET_VALUES_MAX`] at most. `items` are the quantities
/// of each item.
pub(super) fn values(grouping: Grouping, items: &[Vec<f64>]) -> Vec<(String, usize)> {
    match grouping {
        Grouping::Ranges => ranges(items),
        Grouping::Stars => stars(items),
        Grouping::Years => {
            let years = by_day(items, |day| format!("{:04}", day.year()));
            years.into_iter().rev().take(FACET_VALUES_MAX).collect()
        }
        Grouping::Months => {
            let months = by_day(items, |day| format!("{:04}-{:02}", day.year(), day.month()));
            months.into_iter().take(FACET_VALUES_MAX).collect()
        }
    }
}

fn ranges(items: &[Vec<f64>]) -> Vec<(String, usize)> {
    let mut all: Vec<f64> = items.iter().flatten().copied().filter(|number| number.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (all.first(), all.last()) else { return Vec::new() };
    if *least < 0.0 {
        return Vec::new();
    }
    let quarter = |part: usize| round(all[all.len() * part / 4]);
    let mut edges = vec![below(*least), quarter(1), quarter(2), quarter(3), above(*most)];
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let range = |edges: &[f64]| {
        let is_within = |number: &f64| (edges[0]..=edges[1]).contains(number);
        let count = items.iter().filter(|numbers| numbers.iter().any(is_within)).count();
        (format!("{}..{}", edges[0], edges[1]), count)
    };
    edges.windows(2).map(range).filter(|(_, count)| *count > 0).collect()
}

/// The greatest round number that is not above a number, which is not negative.
fn below(number: f64) -> f64 {
    if number <= 0.0 {
        return 0.0;
    }
    let magnitude = 10_f64.powf(number.log10().floor());
    let fits = ROUND.iter().rev().map(|first| tidy(first * magnitude)).find(|edge| *edge <= number);
    fits.unwrap_or(tidy(magnitude * 0.75))
}

/// The least round number that is not below a number.
fn above(number: f64) -> f64 {
    let edge = below(number);
    if edge >= number {
        return edge;
    }
    let magnitude = 10_f64.powf(number.log10().floor());
    let fits = ROUND.iter().map(|first| tidy(first * magnitude)).find(|edge| *edge >= number);
    fits.unwrap_or(tidy(magnitude * 10.0))
}

/// The round number that is nearest.
fn round(number: f64) -> f64 {
    let (below, above) = (below(number), above(number));
    if number - below <= above - number { below } else { above }
}

/// Without what multiplication leaves behind the digits that count.
fn tidy(number: f64) -> f64 {
    format!("{number:.6}").parse().unwrap_or(number)
}

fn stars(items: &[Vec<f64>]) -> Vec<(String, usize)> {
    // Of a scale to ten or a hundred, four stars say nothing.
    if items.iter().flatten().any(|number| *number > STARS_MAX) {
        return ranges(items);
    }
    let at_least = |stars: f64| items.iter().filter(|numbers| numbers.iter().any(|number| *number >= stars)).count();
    STARS.iter().map(|stars| (format!("{stars}+"), at_least(*stars))).filter(|(_, count)| *count > 0).collect()
}

fn by_day(items: &[Vec<f64>], name: impl Fn(Date) -> String) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::<String, usize>::new();
    for numbers in items {
        let mut names: Vec<String> = numbers.iter().filter_map(|days| Some(name(day(*days)?))).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    }
    counts
}

/// The day that lies so many days after 1970 began. `None` where no calendar has it.
fn day(days: f64) -> Option<Date> {
    let whole = days.floor();
    (whole.abs() < 3e6).then_some(())?;
    date(1970, 1, 1).checked_add((whole as i64).days()).ok().filter(|day| day.year() > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn each(numbers: &[f64]) -> Vec<Vec<f64>> {
        numbers.iter().map(|number| vec![*number]).collect()
    }

    fn said(grouping: Grouping, items: &[Vec<f64>]) -> String {
        let values = values(grouping, items);
        values.iter().map(|(value, count)| format!("{value} ({count})")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn ranges_lie_between_round_numbers() {
        let prices = each(&[9.9, 12.0, 19.0, 24.5, 31.0, 49.0, 55.0, 120.0]);
        assert_eq!(said(Grouping::Ranges, &prices), "7.5..20 (3), 20..30 (1), 30..50 (2), 50..150 (2)");
        assert_eq!(said(Grouping::Ranges, &each(&[5.0, 5.0])), "");
        assert_eq!(said(Grouping::Ranges, &each(&[0.0, 0.19, 0.2, 3.0])), "0..0.2 (3), 0.2..3 (2)");
        assert_eq!(said(Grouping::Ranges, &[]), "");
    }

    #[test]
    fn stars_years_and_months_are_counted() {
        assert_eq!(said(Grouping::Stars, &each(&[4.5, 3.0, 1.0])), "4+ (1), 3+ (2), 2+ (2)");
        assert!(said(Grouping::Stars, &each(&[70.0, 95.0, 88.0])).contains(".."), "another scale");
        assert_eq!(said(Grouping::Years, &each(&[0.0, 364.0, 365.5])), "1971 (1), 1970 (2)");
        assert_eq!(said(Grouping::Months, &[vec![0.0, 30.0, 31.0]]), "1970-01 (1), 1970-02 (1)");
        assert_eq!(said(Grouping::Years, &each(&[1e300, f64::NAN])), "");
    }

    #[test]
    fn no_more_years_and_months_are_told_than_the_bound() {
        let told = |grouping: Grouping, every: f64, times: usize| {
            let days: Vec<f64> = (0..times).map(|time| (time as f64 + 0.5) * every).collect();
            let told = values(grouping, &each(&days));
            (told.len(), told[0].0.clone(), told[told.len() - 1].0.clone())
        };
        let (year, month) = (365.25, 365.25 / 12.0);
        assert_eq!(told(Grouping::Years, year, 20), (20, "1989".to_owned(), "1970".to_owned()));
        assert_eq!(told(Grouping::Years, year, 21), (20, "1990".to_owned(), "1971".to_owned()));
        assert_eq!(told(Grouping::Months, month, 20), (20, "1970-01".to_owned(), "1971-08".to_owned()));
        assert_eq!(told(Grouping::Months, month, 21), (20, "1970-01".to_owned(), "1971-08".to_owned()));
    }

    proptest! {
        #[test]
        fn every_item_is_in_a_range(numbers in proptest::collection::vec(0.0_f64..1e7, 2..40)) {
            let found = values(Grouping::Ranges, &each(&numbers));
            let counted: usize = found.iter().map(|(_, count)| count).sum();
            let (least, most) = numbers.iter().fold((f64::MAX, 0.0_f64), |(a, b), n| (a.min(*n), b.max(*n)));
            prop_assert!(least == most || counted >= numbers.len() || least < 1e-5, "{found:?}");
        }
    }
}
