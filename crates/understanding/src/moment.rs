//! Days, months, years and decades as they are written, and the days that they last.

use forecourt_vocabulary::{YearDay, YearlyDays};
use jiff::ToSpan;
use jiff::civil::Date;

use crate::measure::days_of;

/// The shortest time that is told apart: a second, as part of a day.
pub(crate) const MOMENT: f64 = 1.0 / 86_400.0;
/// The last moment of a day, as part of it.
pub(crate) const TO_MIDNIGHT: f64 = 1.0 - MOMENT;
/// The first three letters of the months.
const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `90` is 1990, `20` is 2020, `1890` is itself.
pub(crate) fn decade(number: i16) -> i16 {
    match number {
        0..30 => 2_000 + number,
        30..100 => 1_900 + number,
        _ => number,
    }
}

/// The first and the last moment of a decade, a year, a month or a day.
pub(crate) fn ends(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    // `1990s` and `1990's`.
    let digits = text.strip_suffix('s').map(|text| text.trim_end_matches('\''));
    let days = match digits.and_then(|text| text.parse().ok()).map(decade) {
        Some(first) => (Date::new(first, 1, 1).ok()?, Date::new(first + 9, 12, 31).ok()?),
        None => moment(text)?,
    };
    Some((days_of(days.0), days_of(days.1) + TO_MIDNIGHT))
}

/// The first and the last day of a year, a month or a day.
pub(crate) fn moment(text: &str) -> Option<(Date, Date)> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split([' ', '\t', '-', ',', '.']).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<i16>().ok();
        match (number, MONTHS.iter().position(|name| lower.starts_with(name))) {
            // Two years are a range and no moment.
            (Some(1_000..), _) if year.is_some() => return None,
            (Some(number @ 1_000..), _) => year = Some(number),
            (Some(number), _) if month.is_none() && year.is_some() => month = i8::try_from(number).ok(),
            (Some(number), _) => day = i8::try_from(number).ok(),
            (None, Some(at)) => month = i8::try_from(at + 1).ok(),
            (None, None) => return None,
        }
    }
    days(year?, month, day)
}

/// The first and the last day of what comes back every year, of the year in which it begins.
pub(crate) fn yearly_days(days: YearlyDays, year: i16) -> Option<(Date, Date)> {
    let first = year_day(days.first, year)?;
    let last = year_day(days.last, year).filter(|last| *last >= first);
    Some((first, last.or_else(|| year_day(days.last, year + 1))?))
}

fn year_day(day: YearDay, year: i16) -> Option<Date> {
    match day {
        YearDay::Fixed(month, day) => Date::new(year, month, day).ok(),
        YearDay::LastOf(month) => Date::new(year, month, 1).ok().map(Date::last_of_month),
        YearDay::Easter(days) => easter(year)?.checked_add(i64::from(days).days()).ok(),
    }
}

/// Easter Sunday of the Gregorian calendar, by the rule of Gauss as Meeus gives it.
fn easter(year: i16) -> Option<Date> {
    let year_of = i32::from(year);
    let (golden, century, in_century) = (year_of % 19, year_of / 100, year_of % 100);
    let shift = (century + 8) / 25;
    let moon = (19 * golden + century - century / 4 - (century - shift + 1) / 3 + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (in_century / 4) - moon - in_century % 4) % 7;
    let late = (golden + 11 * moon + 22 * weekday) / 451;
    let day = moon + weekday - 7 * late + 114;
    Date::new(year, i8::try_from(day / 31).ok()?, i8::try_from(day % 31 + 1).ok()?).ok()
}

/// The first and the last day of a year, a month of it, or a day.
pub(crate) fn days(year: i16, month: Option<i8>, day: Option<i8>) -> Option<(Date, Date)> {
    let first = Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).ok()?;
    let last = match (month, day) {
        (None, _) => first.last_of_year(),
        (Some(_), None) => first.last_of_month(),
        (Some(_), Some(_)) => first,
    };
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_are_none_are_no_moments() {
        for text in ["31 Feb 2020", "2020-13", "2020-00-01", "May", "", "99"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn a_decade_has_ten_years() {
        assert_eq!(ends("70s"), Some((0.0, 3_651.0 + TO_MIDNIGHT)));
        assert_eq!(ends("99999s"), None);
    }

    #[test]
    fn easter_is_when_it_is() {
        for (year, month, day) in
            [(1961, 4, 2), (2000, 4, 23), (2024, 3, 31), (2026, 4, 5), (2027, 3, 28), (2038, 4, 25)]
        {
            assert_eq!(easter(year), Date::new(year, month, day).ok());
        }
    }
}
