//! How long something is wanted: `24h`, or a duration of ISO 8601 such as `PT24H`.

/// A number and a unit, or a duration of ISO 8601 in weeks, days, hours, minutes and whole seconds, in seconds.
/// `None`: it is neither, it is nothing at all, or it is longer than numbers go. Months and years differ in length,
/// and are none.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let found = match text.strip_prefix('P') {
        Some(rest) => iso(rest),
        None => quantity(text, &[('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)])
            .filter(|(_, rest)| rest.is_empty())
            .map(|(found, _)| found),
    };
    found.filter(|seconds| *seconds > 0)
}

fn iso(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    // Weeks stand alone.
    if let Some((weeks, "")) = quantity(date, &[('W', 7 * 86_400)]).filter(|_| time.is_empty()) {
        return Some(weeks);
    }
    in_order(date, &[('D', 86_400)])?.checked_add(in_order(time, &[('H', 3_600), ('M', 60), ('S', 1)])?)
}

/// Quantities in the order of their units, each at most once.
fn in_order(mut text: &str, mut units: &[(char, u64)]) -> Option<u64> {
    let mut sum: u64 = 0;
    while !text.is_empty() {
        let unit = text.find(|c: char| !c.is_ascii_digit()).and_then(|at| text[at..].chars().next())?;
        let at = units.iter().position(|(name, _)| *name == unit)?;
        let (found, rest) = quantity(text, &units[at..=at])?;
        sum = sum.checked_add(found)?;
        (text, units) = (rest, &units[at + 1..]);
    }
    Some(sum)
}

/// A number with one of the units, in seconds, and what follows it.
fn quantity<'t>(text: &'t str, units: &[(char, u64)]) -> Option<(u64, &'t str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let (_, seconds) = units.iter().find(|(name, _)| text[end..].starts_with(*name))?;
    let number: u64 = text[..end].parse().ok()?;
    Some((number.checked_mul(*seconds)?, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn base_9_2_durations_are_a_number_and_a_unit_or_iso_8601() {
        for (text, expected) in [
            ("30s", 30),
            ("5m", 300),
            ("24h", 86_400),
            ("7d", 604_800),
            ("PT24H", 86_400),
            ("P7D", 604_800),
            ("P2W", 1_209_600),
            ("P1DT2H3M4S", 93_784),
            ("PT90M", 5_400),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn base_9_2_what_is_no_duration_is_none() {
        for text in [
            "",
            "24",
            "h",
            "0h",
            "-1h",
            "1.5h",
            "24H",
            "1h30m",
            " 1h",
            "P",
            "PT",
            "P1DT",
            "P1H",
            "PT1D",
            "P1M",
            "P1Y",
            "PT1M1H",
            "PT1H1H",
            "P1W1D",
            "PT0S",
            "99999999999999999999s",
            "18446744073709551615d",
            "٣h",
            "１h",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "\\PC{0,40}|P?[0-9DTHMSWsmhd]{0,30}") {
            let _ = seconds(&text);
        }
    }
}
