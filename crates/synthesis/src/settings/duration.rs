//! How long something lasts, as a number of seconds or as text such as `24h`. Base protocol, section 10.

use std::fmt;
use std::num::NonZeroU64;

use serde::de::{Deserializer, Error, Visitor};

/// The units of durations that are text, each with its seconds.
const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60)];

/// Seconds, of which there may be none.
pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Seconds)
}

/// Seconds, of which there is one at least.
pub(super) fn positive_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroU64, D::Error> {
    NonZeroU64::new(seconds(deserializer)?).ok_or_else(|| D::Error::custom("must be at least 1"))
}

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seconds, or a text such as \"24h\"")
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<u64, E> {
        Ok(seconds)
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<u64, E> {
        u64::try_from(seconds).map_err(|_| E::custom("must not be negative"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        read(text).ok_or_else(|| E::custom(format!("`{text}` is no duration: write a number and s, m, h or d")))
    }
}

/// A number and its unit. `None`: it is none, or longer than can be counted.
fn read(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let (_, seconds) = UNITS.into_iter().find(|(known, _)| *known == unit)?;
    let digits = &text[..text.len() - unit.len_utf8()];
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_10_durations_are_numbers_with_a_unit() {
        for (text, seconds) in [("10s", 10), ("10m", 600), ("24h", 86_400), ("7d", 604_800), ("0s", 0)] {
            assert_eq!(read(text), Some(seconds), "{text}");
        }
        for text in ["", "h", "24", "1.5h", "-1h", "+1h", "1 h", "1w", "1µ", "18446744073709551615d"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
