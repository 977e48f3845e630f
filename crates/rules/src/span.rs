//! Spans of time as operators write them: seconds, or a number with a unit.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::limits::{SPAN_SECONDS_MAX, SPAN_SECONDS_MIN};

/// The units, each with its seconds. A month has 30 days.
const UNITS: [(&[&str], u64); 6] = [
    (&["s", "second"], 1),
    (&["m", "min", "minute"], 60),
    (&["h", "hour"], 3_600),
    (&["d", "day"], 86_400),
    (&["w", "week"], 604_800),
    (&["month"], 2_592_000),
];

/// A span of time: whole seconds, from [`SPAN_SECONDS_MIN`] to [`SPAN_SECONDS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(u64);

impl Span {
    /// A span of so many seconds. `None` outside of the bounds.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (SPAN_SECONDS_MIN..=SPAN_SECONDS_MAX).contains(&seconds).then_some(Self(seconds))
    }

    /// Reads `90`, `90s`, `12h`, `30d`, or the bare name of a unit, such as `minute`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: u64 = if number.is_empty() { 1 } else { number.parse().ok()? };
        let unit = unit.trim();
        let seconds = match (digits, unit) {
            (0, "") => return None,
            (_, "") => 1,
            // One letter alone is a typing error, not a second.
            (0, one) if one.len() == 1 => return None,
            (_, unit) => UNITS.iter().find(|(names, _)| names.contains(&unit))?.1,
        };
        Self::from_seconds(number.checked_mul(seconds)?)
    }

    /// In seconds.
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// As a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let span = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_u64().and_then(Self::from_seconds),
            Value::String(text) => Self::parse(&text),
            _ => None,
        };
        let wrong =
            "expected seconds, or a number with a unit such as \"30d\" (s, m, h, d, w), from a second to ten years";
        span.ok_or_else(|| serde::de::Error::custom(wrong))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (names, seconds) =
            // Without the month, which is no exact unit: 30 days are written as days.
            UNITS[..5].iter().rev().find(|(_, seconds)| self.0.is_multiple_of(*seconds)).unwrap_or(&UNITS[0]);
        write!(f, "{}{}", self.0 / seconds, names[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_seconds_or_a_number_with_a_unit() {
        let seconds = |text: &str| Span::parse(text).map(Span::seconds);
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("2 h"), Some(7_200));
        assert_eq!(seconds("30d"), Some(2_592_000));
        assert_eq!(seconds("minute"), Some(60));
        for wrong in ["", "d", "-1", "1.5h", "0", "1y", "99999999999999999999d", "h5"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(Span::parse("36h").unwrap().to_string(), "36h");
    }

    #[test]
    fn ten_years_is_the_longest_span() {
        assert!(Span::from_seconds(SPAN_SECONDS_MAX).is_some());
        assert!(Span::from_seconds(SPAN_SECONDS_MAX + 1).is_none());
    }
}
