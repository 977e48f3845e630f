//! Why a server does not say what it has.

use forecourt_egress::EgressError;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::client::{self, OutError};
use crate::limits::SURVEY_TIME_MAX;

/// Why a server could not be asked, in words for its owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurveyError {
    /// Nobody listens there, or the name is unknown.
    #[error("nobody answers there: {0}")]
    Unconnected(String),
    /// It wants to know who asks; where its metadata says how to sign in, if it does.
    #[error("it wants to know who asks (401){}", .0.as_deref().map(|at| format!("; how to sign in is at {at}")).unwrap_or_default())]
    SignIn(Option<String>),
    /// It refused, in its own words.
    #[error("it refused: {0}")]
    Refused(String),
    /// Something else is spoken there.
    #[error("it does not speak MCP: {0}")]
    OtherProtocol(String),
    /// The connection broke off.
    #[error("it broke off: {0}")]
    Broken(String),
    /// It took too long.
    #[error("it did not answer within {} seconds", SURVEY_TIME_MAX.as_secs())]
    Late,
    /// A header field that can't be sent.
    #[error("{0}")]
    Header(String),
    /// There is no program to start.
    #[error("a program is needed: its file and its arguments")]
    NoProgram,
    /// The program could not be started.
    #[error("the program could not be started: {0}")]
    Unstarted(String),
    /// What went wrong with a program, and what it said last on its standard error.
    #[error("{why}")]
    Program {
        /// What went wrong.
        why: Box<SurveyError>,
        /// Its last lines.
        last_words: Vec<String>,
    },
}

impl SurveyError {
    /// What kept a connection from beginning.
    pub(super) fn begun(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::JsonRpcError(error) => Self::Refused(error.message.to_string()),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Self::begun(fallback),
            ClientInitializeError::ConnectionClosed(_) => Self::Broken("it ended before it answered".to_owned()),
            ClientInitializeError::TransportError { error, .. } => match Self::transport(error) {
                Self::Broken(reason) => Self::OtherProtocol(reason),
                error => error,
            },
            error => Self::OtherProtocol(error.to_string()),
        }
    }

    /// Why a list did not come.
    pub(super) fn asked(error: &ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Refused(error.message.to_string()),
            ServiceError::TransportSend(error) => Self::transport(error),
            other => Self::Broken(other.to_string()),
        }
    }

    fn transport(error: &DynamicTransportError) -> Self {
        match client::http_error(error.error.as_ref()) {
            Some(StreamableHttpError::Client(OutError::Egress(EgressError::Unconnected(reason)))) => {
                Self::Unconnected(reason.clone())
            }
            Some(StreamableHttpError::Client(OutError::Egress(error))) => Self::Broken(error.log_reason()),
            Some(StreamableHttpError::Client(OutError::Declined { declined, message })) => match message.is_empty() {
                true => Self::Refused(format!("the server {declined}")),
                false => Self::Refused(message.clone()),
            },
            Some(StreamableHttpError::AuthRequired(challenge)) => {
                Self::SignIn(metadata(&challenge.www_authenticate_header))
            }
            Some(error) => Self::Broken(error.to_string()),
            None => Self::Broken("the connection is gone".to_owned()),
        }
    }
}

/// Where the metadata of the resource is, of a challenge. RFC 9728 5.1.
fn metadata(challenge: &str) -> Option<String> {
    let (_, rest) = challenge.split_once("resource_metadata=")?;
    let value = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', ' ']).next(),
    };
    value.filter(|value| value.starts_with("https://") || value.starts_with("http://")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_challenge_is_read(challenge in any::<String>(), value in any::<String>()) {
            let found = [metadata(&challenge), metadata(&format!("Bearer resource_metadata={value}"))];
            prop_assert!(found.into_iter().flatten().all(|at| at.starts_with("http")));
        }
    }

    #[test]
    fn where_to_sign_in_is_read_from_a_challenge() {
        let at = Some("https://a.example/.well-known/oauth-protected-resource".to_owned());
        let of = |text: &str| metadata(text);
        assert_eq!(of("Bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\", x=1"), at);
        assert_eq!(of("Bearer resource_metadata=https://a.example/.well-known/oauth-protected-resource, x=1"), at);
        assert_eq!((of("Bearer"), of("Bearer resource_metadata=\"javascript:x\"")), (None, None));
    }
}
