//! What can be wrong with a request, and what each is called. NLWeb 4.1.4, 7.4.

use forecourt_core::QuotaBound;
use forecourt_sentences::Sentences;
use http::StatusCode;

/// Codes of failures. NLWeb 4.1.4, and our own where it has none.
pub(crate) mod code {
    pub(crate) const NO_RESULTS: &str = "NO_RESULTS";
    pub(crate) const INVALID_QUERY: &str = "INVALID_QUERY";
    pub(crate) const UNSUPPORTED_FORMAT: &str = "UNSUPPORTED_FORMAT";
    pub(crate) const UNSUPPORTED_MODE: &str = "UNSUPPORTED_MODE";
    pub(crate) const RATE_LIMITED: &str = "RATE_LIMITED";
    pub(crate) const INTERNAL_ERROR: &str = "INTERNAL_ERROR";
    pub(crate) const TIMEOUT: &str = "TIMEOUT";
    pub(crate) const TOKEN_LIMIT: &str = "TOKEN_LIMIT";
    pub(crate) const CANCELLED: &str = "CANCELLED";
    pub(crate) const DECLINED: &str = "DECLINED";
    pub(crate) const SIGN_IN_NEEDED: &str = "SIGN_IN_NEEDED";
    pub(crate) const NOT_FOUND: &str = "NOT_FOUND";
    pub(crate) const SERVICE_UNAVAILABLE: &str = "SERVICE_UNAVAILABLE";
}

/// Why a request was not carried to an answer. Each says what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApiError {
    /// Not JSON, or not the JSON of a request.
    Malformed(String),
    /// A field is missing or has another shape than NLWeb gives it.
    Wrong {
        /// Its path, such as `query.text`.
        field: String,
        /// What it must be.
        wanted: String,
    },
    /// The body is no JSON by its own account.
    NotJson,
    /// More than is read of a request. NLWeb calls all of that a limit of tokens.
    TooMuch {
        /// The field, such as `context`.
        field: &'static str,
        /// How much is read, with its unit.
        bound: String,
    },
    /// The body, or the query string, is longer than is read.
    TooLarge(usize),
    /// The body did not come in time.
    Cut(String),
    /// None of the formats is spoken here.
    Format(String),
    /// None of the modes is known here.
    Mode(String),
    /// Nothing here goes by this name.
    Site {
        /// What was asked for.
        named: String,
        /// What there is.
        known: String,
    },
    /// The path names no agent.
    NoAgent(String),
    /// Unknown, expired, or somebody else's: they look alike.
    NoPromise,
    /// What was asked will not answer again.
    Gone(String),
    /// The resource takes other methods.
    Method(&'static str),
    /// The host asks for something else of the request.
    Invalid(String),
    /// The host has too much to do; seconds to wait.
    Unavailable(u64),
    /// There is no room to keep it.
    Full(QuotaBound),
    /// The host failed; its log has the cause.
    Internal,
}

impl ApiError {
    /// A field that is not what it must be.
    pub(crate) fn wrong(field: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self::Wrong { field: field.into(), wanted: wanted.into() }
    }

    /// The code of the failure.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) | Self::Wrong { .. } | Self::NotJson | Self::Cut(_) | Self::Site { .. } => {
                code::INVALID_QUERY
            }
            Self::Method(_) | Self::Invalid(_) => code::INVALID_QUERY,
            Self::TooMuch { .. } | Self::TooLarge(_) => code::TOKEN_LIMIT,
            Self::Format(_) => code::UNSUPPORTED_FORMAT,
            Self::Mode(_) => code::UNSUPPORTED_MODE,
            Self::NoAgent(_) | Self::NoPromise | Self::Gone(_) => code::NOT_FOUND,
            Self::Full(bound) if bound.is_callers() => code::RATE_LIMITED,
            Self::Unavailable(_) | Self::Full(_) => code::SERVICE_UNAVAILABLE,
            Self::Internal => code::INTERNAL_ERROR,
        }
    }

    /// The status it goes under: 200 where the request itself was understood. NLWeb 7.4.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) | Self::Wrong { .. } | Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Cut(_) => StatusCode::REQUEST_TIMEOUT,
            Self::TooMuch { .. } | Self::Format(_) | Self::Mode(_) | Self::Site { .. } => StatusCode::OK,
            Self::NoAgent(_) | Self::NoPromise => StatusCode::NOT_FOUND,
            Self::Gone(_) => StatusCode::GONE,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Full(bound) if bound.is_callers() => StatusCode::TOO_MANY_REQUESTS,
            Self::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl ApiError {
    /// What is told. What is wrong with the form of a request is for whoever programs it, and in English.
    pub(crate) fn message(&self, say: Sentences) -> String {
        match self {
            Self::Malformed(reason) => {
                format!("the request is not the JSON of a question: {reason}; send {{\"query\": {{\"text\": \"…\"}}}}")
            }
            Self::Wrong { field, wanted } => format!("`{field}` must be {wanted}"),
            Self::NotJson => "send the request with Content-Type: application/json".to_owned(),
            Self::TooMuch { field, bound } => say.failure_too_much(field, bound),
            Self::TooLarge(bytes) => say.failure_too_large(*bytes),
            Self::Cut(reason) | Self::Invalid(reason) | Self::Gone(reason) => reason.clone(),
            Self::Format(asked) => say.failure_format(asked),
            Self::Mode(asked) => say.failure_mode(asked),
            Self::Site { named, known } => say.failure_no_site(named, known),
            Self::NoAgent(known) => say.failure_no_agent(known),
            Self::NoPromise => say.failure_no_promise(),
            Self::Method(allowed) => format!("this resource takes {allowed}"),
            Self::Full(bound) => bound.to_string(),
            Self::Unavailable(_) => say.failure_busy(),
            Self::Internal => say.failure_internal(),
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;

    use super::*;

    #[test]
    fn s7_4_each_fault_has_its_code_and_status() {
        let text = String::new;
        let rows = [
            (ApiError::Malformed(text()), "INVALID_QUERY", 400),
            (ApiError::wrong("query.text", "a string"), "INVALID_QUERY", 400),
            (ApiError::NotJson, "INVALID_QUERY", 415),
            (ApiError::TooMuch { field: "context", bound: text() }, "TOKEN_LIMIT", 200),
            (ApiError::TooLarge(1), "TOKEN_LIMIT", 413),
            (ApiError::Cut(text()), "INVALID_QUERY", 408),
            (ApiError::Format(text()), "UNSUPPORTED_FORMAT", 200),
            (ApiError::Mode(text()), "UNSUPPORTED_MODE", 200),
            (ApiError::Site { named: text(), known: text() }, "INVALID_QUERY", 200),
            (ApiError::NoAgent(text()), "NOT_FOUND", 404),
            (ApiError::NoPromise, "NOT_FOUND", 404),
            (ApiError::Gone(text()), "NOT_FOUND", 410),
            (ApiError::Method("POST"), "INVALID_QUERY", 405),
            (ApiError::Invalid(text()), "INVALID_QUERY", 400),
            (ApiError::Unavailable(5), "SERVICE_UNAVAILABLE", 503),
            (ApiError::Internal, "INTERNAL_ERROR", 500),
        ];
        for (fault, code, status) in rows {
            assert_eq!((fault.code(), fault.status().as_u16()), (code, status), "{fault:?}");
            for language in SpokenLanguage::ALL {
                let message = fault.message(Sentences::in_language(language));
                assert!(!message.contains("  ") && !message.starts_with("failure-"), "{message}");
            }
        }
    }
}
