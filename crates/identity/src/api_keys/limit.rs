//! This module limits how often an API key may be used: so many requests in a span, as a bucket that fills evenly.

use std::fmt;
use std::str::FromStr;

use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::limits::API_KEY_REQUESTS_MAX;

/// How often a key may be used: after a rest so many requests at once, and as many in each span from then on.
/// Written as `60/min`, with `s`, `min`, `h` or `day`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApiKeyLimit {
    requests: u32,
    span: Span,
}

/// A text that is no limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a limit is 1 to {API_KEY_REQUESTS_MAX} requests in a span, such as 10/s, 60/min, 1000/h or 5000/day")]
pub struct ApiKeyLimitError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    unit: &'static str,
    word: &'static str,
    seconds: i128,
}

const SPANS: [Span; 4] = [
    Span { unit: "s", word: "second", seconds: 1 },
    Span { unit: "min", word: "minute", seconds: 60 },
    Span { unit: "h", word: "hour", seconds: 3_600 },
    Span { unit: "day", word: "day", seconds: 86_400 },
];

impl ApiKeyLimit {
    /// The limit in words: `60 requests a minute`.
    pub fn in_words(self) -> String {
        let noun = if self.requests == 1 { "request" } else { "requests" };
        let article = if self.span.unit == "h" { "an" } else { "a" };
        format!("{} {noun} {article} {}", self.requests, self.span.word)
    }

    fn nanos(self) -> i128 {
        self.span.seconds * 1_000_000_000
    }
}

impl FromStr for ApiKeyLimit {
    type Err = ApiKeyLimitError;

    fn from_str(text: &str) -> Result<Self, ApiKeyLimitError> {
        let (count, unit) = text.split_once('/').ok_or(ApiKeyLimitError)?;
        // `parse` alone would take `+1`.
        let digits = (1..=7).contains(&count.len()) && count.bytes().all(|b| b.is_ascii_digit());
        let requests = count.parse().ok().filter(|n| digits && (1..=API_KEY_REQUESTS_MAX).contains(n));
        let span = SPANS.into_iter().find(|span| span.unit == unit);
        Ok(Self { requests: requests.ok_or(ApiKeyLimitError)?, span: span.ok_or(ApiKeyLimitError)? })
    }
}

impl TryFrom<String> for ApiKeyLimit {
    type Error = ApiKeyLimitError;

    fn try_from(text: String) -> Result<Self, ApiKeyLimitError> {
        text.parse()
    }
}

impl From<ApiKeyLimit> for String {
    fn from(limit: ApiKeyLimit) -> Self {
        limit.to_string()
    }
}

impl fmt::Display for ApiKeyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.requests, self.span.unit)
    }
}

/// What of a limit is used up: when the bucket is full again, in nanoseconds times the requests of the limit, so
/// that nothing is ever rounded.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Bucket(i128);

impl Bucket {
    /// Takes one request out, or gives the whole seconds until there is one, at least 1.
    pub(super) fn take(&mut self, limit: ApiKeyLimit, now: Timestamp) -> Result<(), u64> {
        let (requests, span) = (i128::from(limit.requests), limit.nanos());
        let now = now.as_nanosecond() * requests;
        // Clamped: a clock that was set back must not lock a key out for longer than the span.
        let full_at = self.0.clamp(now, now + span * requests);
        self.0 = full_at;
        let too_early = full_at - now - (span * requests - span);
        if too_early > 0 {
            let nanos = too_early.div_euclid(requests) + 1;
            return Err(u64::try_from(nanos.div_euclid(1_000_000_000) + 1).unwrap_or(u64::MAX));
        }
        self.0 = full_at + span;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_767_225_600_000 + millis).unwrap()
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        for text in ["1/s", "60/min", "1000/h", "1000000/day"] {
            assert_eq!(text.parse::<ApiKeyLimit>().unwrap().to_string(), text);
        }
        for text in ["", "60", "0/min", "1000001/day", "-1/s", "+1/s", "60/minute", "1.5/s", "60/ min", "9999999999/s"]
        {
            assert_eq!(text.parse::<ApiKeyLimit>(), Err(ApiKeyLimitError), "{text}");
        }
        assert_eq!("1/h".parse::<ApiKeyLimit>().unwrap().in_words(), "1 request an hour");
    }

    #[test]
    fn s12_the_request_after_the_limit_waits_for_the_next_one() {
        let (limit, mut bucket) = ("3/min".parse().unwrap(), Bucket::default());
        for _ in 0..3 {
            assert_eq!(bucket.take(limit, at(0)), Ok(()));
        }
        assert_eq!(bucket.take(limit, at(0)), Err(21), "whole seconds, never too few");
        assert!(bucket.take(limit, at(19_999)).is_err());
        assert_eq!(bucket.take(limit, at(20_000)), Ok(()));
        assert!(bucket.take(limit, at(20_000)).is_err());
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let (limit, mut bucket) = ("2/s".parse().unwrap(), Bucket::default());
        assert_eq!(bucket.take(limit, at(86_400_000)), Ok(()));
        assert!(bucket.take(limit, at(0)).unwrap_err() <= 2);
        assert_eq!(bucket.take(limit, at(1_000)), Ok(()));
    }

    proptest! {
        #[test]
        fn s12_exactly_as_many_as_the_limit_says_are_let_in_at_once(requests in 1u32..3_000, span in 0usize..4) {
            let limit = ApiKeyLimit { requests, span: SPANS[span] };
            let mut bucket = Bucket::default();
            let taken = (0..=requests).filter(|_| bucket.take(limit, at(0)).is_ok()).count();
            prop_assert_eq!(taken, requests as usize);
        }
    }
}
