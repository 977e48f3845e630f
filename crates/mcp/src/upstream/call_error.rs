//! Why a server gave no result, and what callers are told of it. Causes go to the log: they tell of the
//! inside.

use std::time::Duration;

use forecourt_agents::declined::{UpstreamError, unavailable};
use forecourt_core::clock::whole_seconds;
use forecourt_core::reply::Question;
use forecourt_core::{Clock, Ending, FailureCause, Handle, PolicyPart, SignIn};
use forecourt_egress::EgressError;
use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use crate::client::{self, OutError};
use crate::limits::FIELDS_MAX;

/// The code of an error that names pages to visit first. MCP 2025-11-25, elicitation.
const PAGES_FIRST: i32 = -32042;
/// The code of an error that wants other header fields, as after a change of a tool. MCP 2026-07-28.
const HEADERS_DIFFER: i32 = -32020;
/// The codes of errors that are the request's: no such method or tool, wrong arguments.
const REQUESTS_OWN: [i32; 3] = [-32600, -32601, -32602];

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Its program can't be started.
    #[error("could not be started: {0}")]
    NotStarted(#[from] std::io::Error),
    /// No connection was made.
    #[error("can't be reached: {0}")]
    Unreachable(String),
    /// It said with its status that this host is not served, or not now.
    #[error("{declined}: {message}")]
    Declined { declined: UpstreamError, message: String },
    /// It is asked too much by this host.
    #[error("too many requests of ours are on their way")]
    Busy,
    /// It answered with a status and nothing that can be read.
    #[error("answered with status {0}")]
    Status(u16),
    /// It said too much.
    #[error("said too much")]
    TooLarge,
    /// It crashed, or the connection broke.
    #[error("broke off: {0}")]
    Broken(String),
    /// It answered something that makes no sense.
    #[error("could not be read: {0}")]
    Unreadable(String),
    /// It took longer than it may.
    #[error("took too long")]
    TooLate,
    /// It is not asked for so long, since it failed too often.
    #[error("is left alone for {} s, since it failed too often", .0.as_secs())]
    LeftAlone(Duration),
    /// It wants something that callers of this host can't be asked for.
    #[error("asked for {0}, which is not passed on")]
    Unmet(&'static str),
    /// Nothing was asked, and this is what the caller is told.
    #[error("was not asked")]
    Unasked(Ending),
    /// It said what a guardrail does not let pass, and this is what the caller is told.
    #[error("said what a guardrail holds back")]
    HeldBack(Box<PolicyPart>),
    /// It answered the request with an error.
    #[error("answered with the error {}: {}", .0.code.0, .0.message)]
    Said(ErrorData),
}

impl CallError {
    /// Whether the connection can still be used.
    pub(crate) fn leaves_connection(&self) -> bool {
        match self {
            // The SDK knows which fields a tool wants from a list, and this one has become old.
            Self::Said(error) => error.code.0 != HEADERS_DIFFER,
            _ => {
                matches!(self, Self::Declined { .. } | Self::Busy | Self::Unmet(_) | Self::TooLate | Self::HeldBack(_))
            }
        }
    }

    /// Whether it tells of a server that does not do its work, and not of a request or of this host.
    pub(crate) fn is_servers_failure(&self) -> bool {
        match self {
            Self::NotStarted(_) | Self::Unreachable(_) | Self::Broken(_) | Self::Unreadable(_) | Self::TooLate => true,
            Self::Declined { declined, .. } => matches!(declined, UpstreamError::Later(_)),
            Self::Status(status) => *status >= 500,
            Self::Busy
            | Self::TooLarge
            | Self::LeftAlone(_)
            | Self::Unmet(_)
            | Self::Unasked(_)
            | Self::HeldBack(_)
            | Self::Said(_) => false,
        }
    }

    /// The ending that it comes to for a caller, in words that call the server `who`. `behind` is the agent or the
    /// server here that it is.
    pub(crate) fn ending(&self, who: &str, behind: &Handle, clock: &dyn Clock) -> Ending {
        tracing::warn!(%behind, "an MCP server {self}");
        let (cause, what) = match self {
            Self::Declined { declined, .. } => return declined.ending(who, clock),
            Self::Unasked(ending) => return ending.clone(),
            Self::HeldBack(part) => return Ending::Refused(part.clone()),
            Self::Busy => {
                return unavailable(
                    &format!("{who} is asked too much at once. Please try again in a moment."),
                    Some(1),
                );
            }
            Self::LeftAlone(left) => {
                let words = format!("{who} does not answer at the moment, and is not asked again so soon.");
                return unavailable(&words, Some(whole_seconds(*left)));
            }
            Self::Said(error) if error.code.0 == PAGES_FIRST => {
                return pages(error).unwrap_or_else(|| Ending::failed(format!("{who} failed.")));
            }
            Self::Said(error) if REQUESTS_OWN.contains(&error.code.0) => {
                (FailureCause::UpstreamRefused, "did not take the call")
            }
            Self::Status(404 | 405 | 410) => (FailureCause::UpstreamRefused, "was not found where it should be"),
            Self::Unmet(what) => {
                let words = format!("{who} asked for {what}, which this host does not pass on.");
                return FailureCause::UpstreamRefused.ending(words);
            }
            Self::TooLate => (FailureCause::TimedOut, "took too long for its answer"),
            Self::Status(408 | 504) => (FailureCause::TimedOut, "took too long for its answer"),
            Self::Status(400..=499) => (FailureCause::UpstreamRefused, "did not take the call"),
            Self::Status(_) | Self::Said(_) => (FailureCause::Agent, "failed"),
            Self::NotStarted(_) => (FailureCause::Unreachable, "could not be started"),
            Self::Unreachable(_) => (FailureCause::Unreachable, "can't be reached at the moment"),
            Self::TooLarge => (FailureCause::OverBound, "gave an answer that is too large"),
            Self::Broken(_) => (FailureCause::CutOff, "broke off before its answer was whole"),
            Self::Unreadable(_) => (FailureCause::Agent, "gave an answer that could not be read"),
        };
        cause.ending(format!("{who} {what}."))
    }
}

/// The pages that a person has to visit first, as a sign-in: whoever has, asks again. Their addresses are
/// words, as a page of another host is no button of ours. PolicyPart 3.2.
fn pages(error: &ErrorData) -> Option<Ending> {
    let asked = error.data.as_ref()?["elicitations"].as_array()?;
    let page = |one: &Value| {
        let url = one["url"].as_str()?;
        Some(match one["message"].as_str() {
            Some(message) => format!("{message}\n\n{url}"),
            None => url.to_owned(),
        })
    };
    let pages: Vec<String> = asked.iter().take(FIELDS_MAX).filter_map(page).collect();
    let wanted = || SignIn { question: Question::new(pages.join("\n\n")), challenges: Vec::new() };
    (!pages.is_empty()).then(|| Ending::SignIn(Box::new(wanted())))
}

impl From<ServiceError> for CallError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(said) => Self::Said(said),
            ServiceError::TransportSend(error) => below(&error),
            ServiceError::UnexpectedResponse => Self::Unreadable(error.to_string()),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<ClientInitializeError> for CallError {
    fn from(error: ClientInitializeError) -> Self {
        Self::from_initialize(&error)
    }
}

impl CallError {
    /// What an error of the beginning comes to.
    pub(crate) fn from_initialize(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::JsonRpcError(said) => Self::Said(said.clone()),
            ClientInitializeError::TransportError { error, .. } => below(error),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Self::from_initialize(fallback),
            ClientInitializeError::ConnectionClosed(reason) => Self::Broken(reason.clone()),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

/// What is behind an error of the transport.
fn below(error: &DynamicTransportError) -> CallError {
    let Some(cause) = client::http_error(error.error.as_ref()) else { return CallError::Broken(error.to_string()) };
    match cause {
        StreamableHttpError::Client(OutError::Declined { declined, message }) => {
            CallError::Declined { declined: *declined, message: message.clone() }
        }
        StreamableHttpError::Client(OutError::Egress(error)) => match error {
            EgressError::Unconnected(_) | EgressError::Refused(_) => CallError::Unreachable(error.log_reason()),
            EgressError::TooLarge { .. } => CallError::TooLarge,
            EgressError::Busy => CallError::Busy,
            EgressError::Failed(_) | EgressError::Status(_) => CallError::Broken(error.log_reason()),
        },
        StreamableHttpError::AuthRequired(_) => {
            CallError::Declined { declined: UpstreamError::Credentials, message: String::new() }
        }
        StreamableHttpError::HttpStatus(answered) => CallError::Status(answered.status),
        StreamableHttpError::UnexpectedServerResponse(_) | StreamableHttpError::UnexpectedContentType(_) => {
            CallError::Unreadable(cause.to_string())
        }
        other => CallError::Broken(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use serde_json::json;

    use super::*;

    const WHO: &str = "The server behind this agent";

    fn ending(code: i32, data: Value) -> Ending {
        let error = CallError::Said(ErrorData::new(ErrorCode(code), "db01.internal is down", Some(data)));
        error.ending(WHO, &Handle::parse("front").unwrap(), &forecourt_testkit::HandClock::new())
    }

    #[test]
    fn words_of_errors_are_for_the_log() {
        let refused = (FailureCause::UpstreamRefused, "did not take the call");
        for (code, (cause, what)) in
            [(-32602, refused), (-32603, (FailureCause::Agent, "failed")), (-1, (FailureCause::Agent, "failed"))]
        {
            assert_eq!(ending(code, Value::Null), cause.ending(format!("{WHO} {what}.")));
        }
    }

    #[test]
    fn pages_to_visit_first_are_a_sign_in() {
        let one = json!({"mode": "url", "elicitationId": "1", "url": "https://far.example/in", "message": "Sign in."});
        let Ending::SignIn(wanted) = ending(PAGES_FIRST, json!({"elicitations": [one, {"url": 7}]})) else { panic!() };
        assert_eq!(wanted.question.text, "Sign in.\n\nhttps://far.example/in");
        for none in [json!(null), json!({}), json!({"elicitations": []}), json!({"elicitations": [7]})] {
            assert_eq!(ending(PAGES_FIRST, none), Ending::failed(format!("{WHO} failed.")));
        }
    }
}
