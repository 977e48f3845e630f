//! Opening hours, which schema.org takes apart, as people write them.

use serde_json::Value;

use crate::item::{first_text, type_name};

/// Days of the week as schema.org's short form has them, in their order.
const DAYS: [(&str, &str); 7] = [
    ("monday", "Mo"),
    ("tuesday", "Tu"),
    ("wednesday", "We"),
    ("thursday", "Th"),
    ("friday", "Fr"),
    ("saturday", "Sa"),
    ("sunday", "Su"),
];

/// Opening hours, a line for days of equal hours: `Mo-Fr 09:00-17:00`, as schema.org's short form has them.
/// Takes that form and specifications. Empty for what says nothing.
pub(crate) fn opening_hours(hours: &Value) -> Vec<String> {
    let hours = hours.as_array().map_or(std::slice::from_ref(hours), Vec::as_slice);
    hours.iter().filter_map(line_of).collect()
}

fn line_of(hours: &Value) -> Option<String> {
    if let Some(text) = hours.as_str() {
        return Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }
    let days = hours.get("dayOfWeek")?;
    let days = days.as_array().map_or(std::slice::from_ref(days), Vec::as_slice);
    let mut days: Vec<usize> =
        days.iter().filter_map(|day| place_of(first_text(day, &["name"]).or(day.as_str())?)).collect();
    days.sort_unstable();
    days.dedup();
    // Hours and minutes; seconds are left out.
    let time = |key: &str| hours.get(key)?.as_str().map(|time| time.get(..5).unwrap_or(time));
    match (runs(&days), time("opens"), time("closes")) {
        (days, ..) if days.is_empty() => None,
        // How sites say that a place is closed all day: it opens and closes at the same time.
        (days, Some(opens), Some(closes)) if opens == closes => Some(format!("{days} closed")),
        (days, Some(opens), Some(closes)) => Some(format!("{days} {opens}-{closes}")),
        (days, ..) => Some(days),
    }
}

fn place_of(day: &str) -> Option<usize> {
    let day = type_name(day).to_lowercase();
    DAYS.iter().position(|(long, short)| *long == day || short.to_lowercase() == day)
}

/// `Mo-We,Fr` of days in their order.
fn runs(days: &[usize]) -> String {
    let runs = days.chunk_by(|one, next| one + 1 == *next);
    let name = |day: &usize| DAYS.get(*day).map_or("", |(_, short)| short);
    let said = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(name(one).to_owned()),
        [first, .., last] => Some(format!("{}-{}", name(first), name(last))),
    });
    said.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hours_are_told_by_days() {
        let spec = json!([
            {"dayOfWeek": ["https://schema.org/Monday", "Tuesday", "Wednesday", "Fr"], "opens": "09:00:00", "closes": "17:00"},
            {"dayOfWeek": "Sunday", "opens": "00:00", "closes": "00:00"}, {"opens": "1"}]);
        assert_eq!(opening_hours(&spec), ["Mo-We,Fr 09:00-17:00", "Su closed"]);
        assert_eq!(opening_hours(&json!("Mo-Fr 10:00-12:00")), ["Mo-Fr 10:00-12:00"]);
        assert!(opening_hours(&json!(null)).is_empty());
    }
}
