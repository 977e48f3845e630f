//! The same amount in the unit that people use for it: 6400 g are 6.4 kg, 36 months are 3 years.

/// A unit, how many of it are one of a larger one, what that is called, and whether only whole ones are told.
const LARGER: &[(&str, f64, &str, bool)] = &[
    ("g", 1000.0, "kg", false),
    ("kg", 1000.0, "t", false),
    ("ml", 1000.0, "l", false),
    ("m", 1000.0, "km", false),
    ("mm", 1000.0, "m", false),
    ("min", 60.0, "h", false),
    ("months", 12.0, "years", true),
    ("Monate", 12.0, "Jahre", true),
    ("mois", 12.0, "ans", true),
    ("meses", 12.0, "años", true),
];
/// Digits behind the point of an amount in the larger unit.
const DIGITS: usize = 2;

/// A property with what it states, which ends with an amount: with the same amount in brackets, where the larger unit is
/// the usual one.
pub(crate) fn with_equal(told: String) -> String {
    match equal(&told) {
        Some(equal) => format!("{told} ({equal})"),
        None => told,
    }
}

fn equal(told: &str) -> Option<String> {
    let (rest, unit) = told.rsplit_once(' ')?;
    let amount = rest.rsplit_once(' ').map_or(rest, |(_, amount)| amount);
    let (_, count, larger, is_whole) = LARGER.iter().find(|(known, ..)| *known == unit)?;
    let is_plain = amount.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let many = amount.parse::<f64>().ok().filter(|_| is_plain)? / count;
    let is_told = many >= 1.0 && (!is_whole || (many.fract() == 0.0 && many > 1.0));
    let text = format!("{many:.DIGITS$}");
    is_told.then(|| format!("{} {larger}", text.trim_end_matches('0').trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_told_in_the_larger_unit_too() {
        for (told, wanted) in [
            ("weight: 6400 g", Some("6.4 kg")),
            ("Garantie: 36 Monate", Some("3 Jahre")),
            ("length: 90 min", Some("1.5 h")),
            ("weight: 640 g", None),
            ("garantie: 18 mois", None),
            ("guarantee: 12 months", None),
            ("range: 120–160 km", None),
            ("size: 1,200 g", None),
            ("colour: red", None),
            ("", None),
        ] {
            assert_eq!(equal(told).as_deref(), wanted, "{told}");
        }
        assert_eq!(with_equal("weight: 1000 g".to_owned()), "weight: 1000 g (1 kg)");
    }

    proptest! {
        #[test]
        fn any_text_stays_what_it_is(told in ".{0,40}") {
            prop_assert!(with_equal(told.clone()).starts_with(&told));
        }
    }
}
