//! Texts that are quantities: durations in minutes, dates in days, prices and plain numbers.

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp, Unit};

/// Longest text that is looked at, in bytes.
const MEASURE_BYTES_MAX: usize = 40;

/// The number that `text` stands for under the property `key`, if it is one: an ISO 8601 duration
/// (minutes), a date or time (days since 1970), a price or a number.
pub fn quantity(key: &str, text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() || text.len() > MEASURE_BYTES_MAX {
        return None;
    }
    if text.starts_with(['P', 'p']) {
        return minutes(text);
    }
    if is_measure_key(key) {
        return leading_number(text);
    }
    // Two hyphens are a date in a property of any name; a year alone is one only where the name says so, else it is a
    // number.
    match is_date_key(key) || text.bytes().filter(|b| *b == b'-').count() >= 2 {
        true => days(text).or_else(|| number(text)),
        false => number(text),
    }
}

/// Minutes of an ISO 8601 duration such as `PT1H30M`. A month counts 30 days, a year 365.
pub fn minutes(text: &str) -> Option<f64> {
    let span: Span = text.trim().to_ascii_uppercase().parse().ok()?;
    // Added up by hand: `total` asks for a day to begin with when a span has months or years.
    let (years, months) = (span.get_years(), span.get_months());
    let days = i32::from(years) * 365 + months * 30 + span.get_weeks() * 7 + span.get_days();
    let clock = Span::new()
        .try_hours(span.get_hours())
        .and_then(|clock| clock.try_minutes(span.get_minutes()))
        .and_then(|clock| clock.try_seconds(span.get_seconds()))
        .ok()?;
    let minutes = f64::from(days) * 1_440.0 + clock.total(Unit::Minute).ok()?;
    (minutes >= 0.0).then_some(minutes)
}

/// Days since 1970-01-01 of a date (`1999`, `1999-12`, `1999-12-31`) or an RFC 3339 time.
pub(crate) fn days(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment.as_second() as f64 / 86_400.0);
    }
    let day = text.get(..10).unwrap_or(text);
    let date: Date = match day.len() {
        4 => format!("{day}-01-01").parse().ok()?,
        7 => format!("{day}-01").parse().ok()?,
        _ => day.parse().ok()?,
    };
    Some(days_of(date))
}

/// Days since 1970-01-01 of a civil date.
pub fn days_of(date: Date) -> f64 {
    let since = date.duration_since(Date::constant(1970, 1, 1));
    (since.as_secs() / SignedDuration::from_hours(24).as_secs()) as f64
}

/// A finite number, with a currency before or after it and thousands separated by commas.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = text.split_at(start);
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    let sign = match before.strip_suffix('-') {
        Some(before) if is_currency(before) => -1.0,
        None if is_currency(before) => 1.0,
        _ => return None,
    };
    // Words behind a number make it a text: `7 dwarfs` is no quantity.
    let value: f64 = if is_currency(after) { digits.replace(',', "").parse().ok()? } else { return None };
    Some(sign * value).filter(|value| value.is_finite())
}

/// Nothing, a currency sign, or a three-letter code.
fn is_currency(text: &str) -> bool {
    let text = text.trim();
    let sign = text.chars().count() == 1 && matches!(text, "$" | "€" | "£" | "¥" | "₹");
    text.is_empty() || sign || (text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Properties whose numbers have their unit behind them: `240 calories`, `4 servings`.
fn is_measure_key(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    matches!(last, "calories" | "recipeYield" | "yield") || (key.contains("nutrition.") && last.ends_with("Content"))
}

/// The number that a text begins with, whatever unit follows: 4 of `4 to 6 servings`. Words in front of it say
/// what it is of, so that only `Serves` and the like may be there.
fn leading_number(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let is_label = text[..start].chars().all(|c| c.is_alphabetic() || c.is_whitespace() || c == ':');
    let rest = text[start..].split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).next()?;
    let digits = rest.trim_end_matches(['.', ',']).replace(',', "");
    digits.parse().ok().filter(|value: &f64| is_label && value.is_finite())
}

/// Properties of schema.org that hold dates end in `Date`, `Time` or `Through`, or begin with `date`.
pub(crate) fn is_date_key(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    last.starts_with("date") || ["Date", "Time", "Through", "From", "Until"].iter().any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_minutes() {
        assert_eq!(quantity("totalTime", "PT8H10M"), Some(490.0));
        assert_eq!(quantity("totalTime", "pt20m"), Some(20.0));
        assert_eq!(quantity("duration", "P1DT30S"), Some(1_440.5));
        assert_eq!(quantity("name", "Pie"), None);
        assert_eq!(quantity("totalTime", "-PT5M"), None);
    }

    #[test]
    fn dates_are_days() {
        assert_eq!(quantity("datePublished", "1970"), Some(0.0));
        assert_eq!(quantity("datePublished", "1970-02"), Some(31.0));
        assert_eq!(quantity("x", "1970-01-02"), Some(1.0));
        assert_eq!(quantity("startTime", "1970-01-02T12:00:00Z"), Some(1.5));
        assert_eq!(quantity("startTime", "1970-01-02T12:00:00"), Some(1.0));
        assert_eq!(quantity("datePublished", "1969-12-31"), Some(-1.0));
        assert_eq!(quantity("recipeYield", "1970"), Some(1_970.0));
    }

    #[test]
    fn prices_are_numbers() {
        assert_eq!(quantity("price", "$1,250.50"), Some(1_250.5));
        assert_eq!(quantity("price", "12 EUR"), Some(12.0));
        assert_eq!(quantity("price", "EUR -3"), Some(-3.0));
        assert_eq!(quantity("price", "12 bananas"), None);
        assert_eq!(quantity("price", "1.2.3"), None);
        assert_eq!(quantity("price", "free"), None);
    }

    #[test]
    fn measures_have_their_unit_behind_them() {
        assert_eq!(quantity("nutrition.calories", "240 calories"), Some(240.0));
        assert_eq!(quantity("nutrition.calories", "1,240 kcal"), Some(1_240.0));
        assert_eq!(quantity("recipeYield", "4-6 servings"), Some(4.0));
        assert_eq!(quantity("recipeYield", "Serves 4"), Some(4.0));
        assert_eq!(quantity("recipeYield", "a loaf"), None);
        assert_eq!(quantity("size", "4 servings"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_finite_quantity_or_none(key in ".{0,10}", text in ".{0,40}") {
            prop_assert!(quantity(&key, &text).is_none_or(f64::is_finite));
        }

        #[test]
        fn any_duration_is_finite_or_none(text in "P[0-9]{0,12}[YMWD]?(T[0-9]{0,20}[HMS]){0,3}") {
            prop_assert!(quantity("duration", &text).is_none_or(f64::is_finite));
        }
    }
}
