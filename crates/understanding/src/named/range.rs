//! A text as the range of a quantity: `less than $20`, `1990..1995`, `4 or more`.

use std::sync::LazyLock;

use forecourt_vocabulary::{PropertyTable, Quantity};
use regex::Regex;

use crate::pattern::pattern;
use crate::{measure, moment};

static UP_TO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:<=?|≤|at\s+most|up\s+to|max(?:imum)?|no\s+more\s+than|less\s+than|under|below|cheaper\s+than|shorter\s+than|until|unter|höchstens|bis|moins\s+de|menos\s+de)\s*(.+)$",
    )
});
static FROM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:>=?|≥|at\s+least|min(?:imum)?|from|since|more\s+than|over|above|longer\s+than|über|mindestens|ab|seit|plus\s+de|au\s+moins|más\s+de|al\s+menos|desde)\s*(.+)$",
    )
});
static OR_MORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(.+?)(?:\s*\+|\s*\.\.|\s+(?:or|and)\s+(?:more|better|later|newer|up|above|over))(?:\s*stars?)?$")
});
static OR_LESS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\.\.\s*(.+)|(.+?)\s+or\s+(?:less|under|earlier|older|cheaper))$"));
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:between\s+|from\s+|zwischen\s+|entre\s+)?(.+?)(?:\s*(?:\.\.|…|–)\s*|\s+(?:-|to|and|und|bis|et|y|a)\s+|/)(.+)$",
    )
});
static DASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\D?\d+(?:[.,]\d+)?)-(\D?\d+(?:[.,]\d+)?.*)$"));
static AFTER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:after|later\s+than|newer\s+than|nach|après|después\s+de)\s+(.+)$"));
static BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:before|prior\s+to|older\s+than|vor|avant|antes\s+de)\s+(.+)$"));
/// A number with the unit that the property has anyway.
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[$€£]?\s*(half an?|an?|\d{1,12}(?:[.,]\d{1,4})?)[\s-]*(h|hrs?|hours?|stunden?|heures?|horas?)?[\s-]*(?:m|mins?|minutes?|minuten|minutos|stars?|sterne|étoiles|estrellas|dollars?|euros?|pounds?|calories|kcal|people|usd|eur|gbp|chf|€|\$|£)?$",
    )
});

/// The ends of a range.
pub(super) type Ends = (Option<f64>, Option<f64>);

/// Whether a property says what may be spent: money, or time.
pub(super) fn is_spent(field: &str) -> bool {
    is_of(field, Quantity::Price) || is_of(field, Quantity::Time)
}

fn is_of(field: &str, quantity: Quantity) -> bool {
    PropertyTable::shipped().paths(quantity).iter().any(|path| path == field)
}

/// A number as people write it in a value: digits, or `a`, `half an`.
fn amount(text: &str) -> Option<f64> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let word = match text.as_str() {
        "a" | "an" => Some(1.0),
        "half a" | "half an" => Some(0.5),
        _ => None,
    };
    word.or_else(|| text.replace(',', ".").parse().ok()).filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// The range that a text says for a property.
pub(super) fn range(field: &str, text: &str) -> Option<Ends> {
    let part = |found: &regex::Captures<'_>, at: usize| found.get(at).and_then(|part| quantity(field, part.as_str()));
    let is_open = is_spent(field);
    // A plain amount is read before the patterns: `BETWEEN` and `DASH` would cut a date at its hyphens.
    if let Some(ends) = quantity(field, text) {
        return Some((Some(ends.0).filter(|_| !is_open), Some(ends.1)));
    }
    if let Some(found) = AFTER.captures(text) {
        return Some((Some(part(&found, 1)?.1), None));
    }
    if let Some(found) = BEFORE.captures(text) {
        // Before a day ends with the last second of the day in front of it; ends of filters are included.
        return Some((None, Some(part(&found, 1)?.0 - moment::MOMENT)));
    }
    if let Some(found) = UP_TO.captures(text) {
        return Some((None, Some(part(&found, 1)?.1)));
    }
    if let Some(found) = OR_LESS.captures(text) {
        return Some((None, Some(part(&found, 1).or_else(|| part(&found, 2))?.1)));
    }
    if let Some(ends) = [&*BETWEEN, &*DASH].into_iter().find_map(|it| {
        let found = it.captures(text)?;
        Some((part(&found, 1)?, part(&found, 2)?))
    }) {
        return Some((Some(ends.0.0.min(ends.1.0)), Some(ends.0.1.max(ends.1.1))));
    }
    let found = FROM.captures(text).or_else(|| OR_MORE.captures(text))?;
    Some((Some(part(&found, 1)?.0), None))
}

/// The quantity that a text is, from its least to its most: a year begins and ends.
pub(super) fn quantity(field: &str, text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    if let Some(ends) = moments(field, text) {
        return Some(ends);
    }
    if let Some(found) = AMOUNT.captures(text) {
        let hours = found.get(2).is_some();
        let number = amount(&found[1])? * if hours { 60.0 } else { 1.0 };
        return Some((number, number));
    }
    // `2021-01-01/2021-02-01` begins like a date, and would be read as its first day.
    measure::quantity(field, text).filter(|_| !text.contains('/')).map(|number| (number, number))
}

/// The ends of a day, a month, a year or a decade, for a property that holds dates.
pub(super) fn moments(field: &str, text: &str) -> Option<(f64, f64)> {
    if is_of(field, Quantity::Date) || measure::is_date_key(field) { moment::ends(text) } else { None }
}
