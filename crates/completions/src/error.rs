//! Why a provider gave no reply, told by what can be done about it. A provider's own words may quote what it was
//! asked: the log has its codes, and callers have ours.

use std::sync::LazyLock;

use forecourt_core::{Clock, Ending, FailureCause};
use http::{HeaderMap, StatusCode};
use regex::Regex;
use serde_json::Value;

use forecourt_agents::declined::{RetryAfter, unavailable};
use forecourt_agents::upstream::UpstreamFailure;

/// How our own words call the provider.
pub const WHO: &str = "The model provider";

/// Bytes of an error's code that reaches the log.
const CODE_BYTES_MAX: usize = 64;

/// Why a request got no reply.
#[derive(Debug)]
pub enum ProviderError {
    /// The provider does not take a request like this. A plainer one it might.
    Unfit(Ending),
    /// It broke over the request, as some do over what they do not know.
    Broke(Ending),
    /// The request holds more tokens than the model reads: so many, where the provider says it.
    TooLong(Ending, Option<u32>),
    /// It wants to be asked later, in so many seconds where it says so.
    Later(Ending, Option<u64>),
    /// It can't be reached or broke off. Another time, or another provider, may do.
    Away(Ending),
    /// It said nothing for as long as anybody waits. Asked again it would be waited for twice as long; another provider
    /// may do.
    Silent(Ending),
    /// Anything else, which asking again does not mend.
    Other(Ending),
}

impl ProviderError {
    /// The ending of the answer when nothing is tried again.
    pub fn into_ending(self) -> Ending {
        match self {
            Self::Unfit(ending)
            | Self::Broke(ending)
            | Self::TooLong(ending, _)
            | Self::Later(ending, _)
            | Self::Away(ending)
            | Self::Silent(ending)
            | Self::Other(ending) => ending,
        }
    }

    /// Whether asking the same provider again may do.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Broke(_) | Self::Later(..) | Self::Away(_))
    }

    /// The label `outcome` of the metrics: `declined`, `failed` or `unreachable`.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Unfit(_) | Self::TooLong(..) | Self::Later(..) | Self::Other(_) => "declined",
            Self::Broke(_) => "failed",
            Self::Away(_) | Self::Silent(_) => "unreachable",
        }
    }
}

/// What came of a connection, and what can be done about it.
impl From<UpstreamFailure> for ProviderError {
    fn from(failure: UpstreamFailure) -> Self {
        let ending = failure.ending(WHO);
        match failure {
            UpstreamFailure::Unreachable | UpstreamFailure::Stalled | UpstreamFailure::Broken => Self::Away(ending),
            UpstreamFailure::Slow => Self::Silent(ending),
            UpstreamFailure::Overtime | UpstreamFailure::TooLarge | UpstreamFailure::Busy => Self::Other(ending),
        }
    }
}

/// What a status other than success comes to, with the beginning of its body.
pub(crate) fn declined(status: StatusCode, headers: &HeaderMap, said: &[u8], clock: &dyn Clock) -> ProviderError {
    let said: Value = serde_json::from_slice(said).unwrap_or_default();
    // Some wrap their error in a list.
    let error = if said[0]["error"].is_object() { &said[0]["error"] } else { &said["error"] };
    tracing::warn!(status = status.as_u16(), code = code(error), "the model provider declined");
    let seconds = RetryAfter::read(headers).map(|wait| wait.seconds(clock));
    // Providers say "too long" with any of these statuses. It is looked for first, since cutting the request mends it.
    if matches!(status.as_u16(), 400 | 413 | 422 | 500)
        && let Some(bound) = too_long(if error.is_null() { &said } else { error }, status)
    {
        return ProviderError::TooLong(does_not_fit(), bound);
    }
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            let text = "The model behind this agent is busy. Please try again later.";
            ProviderError::Later(unavailable(text, seconds), seconds)
        }
        // Without `Retry-After` a 503 is an outage like any other, with the waits of the chain.
        StatusCode::SERVICE_UNAVAILABLE if seconds.is_some() => {
            let text = "The model behind this agent is away for a moment. Please try again later.";
            ProviderError::Later(unavailable(text, seconds), seconds)
        }
        // The key is the operator's: neither the caller nor another attempt can mend it.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            ProviderError::Other(FailureCause::UpstreamRefused.ending("The model provider refused our key."))
        }
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => {
            ProviderError::Unfit(not_accepted())
        }
        StatusCode::INTERNAL_SERVER_ERROR | StatusCode::NOT_IMPLEMENTED => {
            ProviderError::Broke(Ending::failed("The model provider failed."))
        }
        status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            let cause = match status {
                StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => FailureCause::TimedOut,
                _ => FailureCause::Unreachable,
            };
            ProviderError::Away(cause.ending("The model provider failed."))
        }
        _ => ProviderError::Other(not_accepted()),
    }
}

fn not_accepted() -> Ending {
    FailureCause::UpstreamRefused.ending("The model provider did not accept the request.")
}

/// The error for a chunk that reports one in the middle of a reply.
pub(crate) fn reported(error: &Value) -> ProviderError {
    tracing::warn!(code = code(error), "the model provider reported an error in its answer");
    match too_long(error, StatusCode::BAD_REQUEST) {
        Some(bound) => ProviderError::TooLong(does_not_fit(), bound),
        None => {
            ProviderError::Away(FailureCause::CutOff.ending("The model provider failed in the middle of its answer."))
        }
    }
}

/// The ending of a request that does not fit the model, whatever is left out of it.
pub fn does_not_fit() -> Ending {
    FailureCause::OverBound.ending("The model provider says that this is more than the model can read.")
}

/// Whether an error says that the request was too long; inside is the bound, where it says that too.
fn too_long(error: &Value, status: StatusCode) -> Option<Option<u32>> {
    static SAYS_SO: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = r"(?i)context[ _]length|context[ _]size|context window|prompt is too long|maximum context|exceed_context|input token count|too large for model|reduce the length of the messages|maximum number of tokens";
        Regex::new(words).ok()
    });
    static BOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = r"(?i)(?:maximum context length (?:is|of)|context size \(|context window (?:is|of)|> |allowed \(|model with)\s*([0-9]{2,8})";
        Regex::new(words).ok()
    });
    let code = [&error["code"], &error["type"]].into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    let message = error["message"].as_str().or_else(|| error.as_str()).unwrap_or_default();
    let says_so = SAYS_SO.as_ref()?;
    // A 413 needs no words; with other statuses only the code or the message tells.
    if status != StatusCode::PAYLOAD_TOO_LARGE && !says_so.is_match(&code) && !says_so.is_match(message) {
        return None;
    }
    // llama.cpp has the bound as a number; others only in their sentence.
    let own = error["n_ctx"].as_u64().and_then(|bound| u32::try_from(bound).ok());
    let told = BOUND.as_ref().and_then(|bound| bound.captures(message)?.get(1)?.as_str().parse().ok());
    Some(own.or(told))
}

/// What a provider calls an error: its code or its type, where these are words of the protocol.
pub fn code(error: &Value) -> String {
    let is_code = |text: &&str| {
        text.len() <= CODE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let mut texts = ["code", "type", "status"].iter().filter_map(|key| error.get(*key)?.as_str());
    texts.find(is_code).unwrap_or("none that is known").to_owned()
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::HandClock;
    use serde_json::json;

    use super::*;

    fn of(status: u16, body: &Value) -> ProviderError {
        let status = StatusCode::from_u16(status).unwrap();
        declined(status, &HeaderMap::new(), body.to_string().as_bytes(), &HandClock::new())
    }

    #[test]
    fn what_is_too_long_is_known_by_the_words_of_each_provider() {
        for (status, error, bound) in [
            (
                400,
                json!({"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens. However, you requested 9000."}),
                Some(8192),
            ),
            (
                400,
                json!({"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available context size", "n_ctx": 4096}),
                Some(4096),
            ),
            (
                400,
                json!({"type": "BadRequestError", "message": "This model's maximum context length is 2048 tokens."}),
                Some(2048),
            ),
            (400, json!({"message": "prompt is too long: 210000 tokens > 200000 maximum"}), Some(200_000)),
            (
                400,
                json!({"message": "The input token count (70) exceeds the maximum number of tokens allowed (64)."}),
                Some(64),
            ),
            (400, json!({"message": "Please reduce the length of the messages or completion."}), None),
            (413, json!({"message": "no"}), None),
            (
                400,
                json!({"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}),
                Some(32_768),
            ),
        ] {
            let ProviderError::TooLong(_, found) = of(status, &json!({"error": error})) else { panic!("{error}") };
            assert_eq!(found, bound, "{error}");
        }
        assert!(matches!(of(400, &json!({"error": {"message": "unknown field"}})), ProviderError::Unfit(_)));
        assert!(matches!(of(400, &json!([{"error": {"message": "unknown field"}}])), ProviderError::Unfit(_)));
    }

    #[test]
    fn what_may_be_asked_again_is_told_from_what_may_not() {
        for (status, passes) in
            [(429, true), (500, true), (502, true), (503, true), (504, true), (408, true), (529, true)]
        {
            assert_eq!(of(status, &json!({})).is_passing(), passes, "{status}");
        }
        for status in [400, 401, 402, 403, 404, 422] {
            assert!(!of(status, &json!({})).is_passing(), "{status}");
        }
    }
}
