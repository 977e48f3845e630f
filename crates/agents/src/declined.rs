//! What a service behind an agent says with its status alone: the same words for every backend, so that
//! callers can tell a service that is busy from one that broke, and operators find what to mend.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Clock, Ending, FailureCause, PolicyPart, Timestamp};
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

use crate::limits::RETRY_AFTER_SECONDS_MAX;

/// Why a service did not do what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// Our credentials are missing or wrong: 401, 407.
    #[error("does not accept this host's credentials")]
    Credentials,
    /// It wants this host to pay: 402.
    #[error("asks this host to pay, which it can't")]
    Payment,
    /// Our credentials are not enough: 403.
    #[error("does not let this host ask it")]
    Forbidden,
    /// Another time: 429, 503.
    #[error("asks to try again later")]
    Later(Option<RetryAfter>),
}

impl UpstreamError {
    /// Reads the status and `Retry-After`. `None`: the status alone does not say why, so the body has to be read.
    pub fn of(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        Some(match status {
            StatusCode::UNAUTHORIZED | StatusCode::PROXY_AUTHENTICATION_REQUIRED => Self::Credentials,
            StatusCode::PAYMENT_REQUIRED => Self::Payment,
            StatusCode::FORBIDDEN => Self::Forbidden,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::Later(RetryAfter::read(headers)),
            _ => return None,
        })
    }

    /// The ending that says so to a caller, for a service called `who`. The caller can't sign in, pay or be
    /// let in there: only "later" is a refusal, the rest is a failure of this host's, and goes to the log.
    pub fn ending(self, who: &str, clock: &dyn Clock) -> Ending {
        match self {
            Self::Later(wait) => unavailable(&format!("{who} {self}."), wait.map(|wait| wait.seconds(clock))),
            Self::Credentials | Self::Payment | Self::Forbidden => {
                tracing::error!("{who} {self}; hint: look at `headers` in the agent's [backend]");
                FailureCause::UpstreamRefused.ending(format!("{who} {self}."))
            }
        }
    }
}

/// A refusal of kind `service_unavailable` (PolicyPart 3.3), with the wait in seconds if it is known.
pub fn unavailable(message: &str, retry_after_seconds: Option<u64>) -> Ending {
    Ending::Refused(Box::new(PolicyPart::new(RefusalKind::ServiceUnavailable { retry_after_seconds }, message)))
}

/// The wait that a `Retry-After` header asks for. RFC 9110 10.2.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// After so many seconds.
    Seconds(u64),
    /// At this moment.
    At(Timestamp),
}

impl RetryAfter {
    /// The field `Retry-After`, a number or a date. `None` when there is none that makes sense.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        match text.parse() {
            Ok(seconds) => Some(Self::Seconds(seconds)),
            Err(_) => {
                // HTTP dates have the form of RFC 2822 with `GMT`. A weekday that does not fit the date is a server's
                // slip: the date counts.
                let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
                parser.parse_timestamp(text).ok().map(Self::At)
            }
        }
    }

    /// Seconds from now on, at most [`RETRY_AFTER_SECONDS_MAX`].
    pub fn seconds(self, clock: &dyn Clock) -> u64 {
        let seconds = match self {
            Self::Seconds(seconds) => seconds,
            // A date in the past means "now".
            Self::At(at) => u64::try_from(at.as_second() - clock.now().as_second()).unwrap_or(0),
        };
        seconds.min(RETRY_AFTER_SECONDS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::HandClock;
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn headers(retry_after: &str) -> HeaderMap {
        HeaderMap::from_iter(HeaderValue::from_str(retry_after).ok().map(|value| (RETRY_AFTER, value)))
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_has_a_bound() {
        let clock = HandClock::new();
        for (text, seconds) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Thu, 01 Jan 2026 00:02:00 GMT", Some(120)),
            ("Wed, 31 Dec 2025 00:00:00 GMT", Some(0)),
            ("86400", Some(RETRY_AFTER_SECONDS_MAX)),
            ("86401", Some(RETRY_AFTER_SECONDS_MAX)),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(RetryAfter::read(&headers(text)).map(|wait| wait.seconds(&clock)), seconds, "{text}");
        }
    }

    #[test]
    fn each_status_has_its_words() {
        let clock = HandClock::new();
        let of = |status: u16| UpstreamError::of(StatusCode::from_u16(status).unwrap(), &headers("7"));
        let said = |status| of(status).map(|declined| declined.ending("The service", &clock));
        let refused = |words: &str| Some(FailureCause::UpstreamRefused.ending(words));
        assert_eq!(said(401), refused("The service does not accept this host's credentials."));
        assert_eq!(said(402), refused("The service asks this host to pay, which it can't."));
        assert_eq!(said(403), refused("The service does not let this host ask it."));
        let later = unavailable("The service asks to try again later.", Some(7));
        assert_eq!((said(429), said(503)), (Some(later.clone()), Some(later)));
        for status in [200, 302, 400, 404, 500, 502] {
            assert_eq!(of(status), None, "{status}");
        }
    }

    proptest! {
        #[test]
        fn no_field_is_too_strange(text in "[ -~]{0,40}") {
            let wait = RetryAfter::read(&headers(&text)).map(|wait| wait.seconds(&HandClock::new()));
            prop_assert!(wait.is_none_or(|seconds| seconds <= RETRY_AFTER_SECONDS_MAX));
        }
    }
}
