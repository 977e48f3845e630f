//! Limits of what somebody is paid, compared over a year.

use crate::filter::{Filter, Test};
use crate::paths::YEARLY_PAY;
use crate::period::Period;
use crate::reader::Reader;

/// The property of the vocabulary whose money is earned.
pub(crate) const PAID: &str = "salary";
/// How far two amounts may be apart that are one, as a part of them.
const NEARLY: f64 = 1e-6;

/// What is paid so much, where nothing says for which time: by how much it is.
pub(crate) fn of_amount(reader: &Reader<'_>, from: Option<f64>, to: Option<f64>) -> Option<Filter> {
    let period = Period::of_pay(from.or(to)?);
    reader.aids.known.has_number(YEARLY_PAY[0]).then(|| pay((from, to), period, String::new()))
}

/// What is paid so much, whatever time that is told for.
pub(crate) fn pay((from, to): (Option<f64>, Option<f64>), period: Period, words: String) -> Filter {
    // A rounding must not leave out what is paid exactly so much.
    let yearly = |end: Option<f64>, part: f64| end.map(|end| end * period.in_year() * part);
    let test = Test::Overlaps { from: yearly(from, 1.0 - NEARLY), to: yearly(to, 1.0 + NEARLY), or_unstated: false };
    Filter { fields: YEARLY_PAY.map(str::to_owned).into(), test, words }
}
