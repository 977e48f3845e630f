//! What an answer of the service means to the caller. Section 12.3, the five errors.

use std::collections::BTreeMap;
use std::fmt;

use forecourt_contract::endpoint::ExternalService;
use forecourt_contract::{Failure, Schema};
use forecourt_core::json;
use forecourt_egress::{EgressError, UpstreamResponse};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::names::Names;
use crate::unfit::HandlerProblem;

/// How the answers of one service are read.
#[derive(Debug)]
pub(super) struct Reading {
    names: Names,
    errors: BTreeMap<u16, String>,
}

/// Why there is no result. Its text is for the log.
#[derive(Debug)]
pub(super) enum Fault {
    /// The time is over.
    Late,
    /// There was no exchange, or it broke off.
    Unreached(EgressError),
    /// The service answered, with no success.
    Declined(StatusCode),
    /// It answered with success, and with something that is not JSON.
    Malformed(String),
}

impl Reading {
    /// Reads the service's own part of a binding.
    ///
    /// # Errors
    /// A renaming that loses a field, or an error for what is no status.
    pub(super) fn new(service: &ExternalService) -> Result<Reading, HandlerProblem> {
        let wrong = |status: &String| {
            HandlerProblem::new(
                "external-service-bad-error-map",
                format!("`{status}` of `error_map` is not an HTTP status"),
            )
        };
        let code = |(status, code): (&String, &String)| {
            status.parse().map(|status| (status, code.clone())).map_err(|_| wrong(status))
        };
        let errors = service.error_map.iter().map(code).collect::<Result<_, _>>()?;
        Ok(Reading { names: Names::inward(&service.output_transform)?, errors })
    }

    /// The result of an answer. A redirect is none: it is not followed.
    pub(super) async fn result(
        &self,
        answer: UpstreamResponse,
        asked: &Method,
        output: &Schema,
    ) -> Result<Value, Fault> {
        let status = answer.status;
        if !status.is_success() {
            return Err(Fault::Declined(status));
        }
        if is_empty(status, asked) {
            return Ok(Value::Object(Map::new()));
        }
        let bytes = answer.body.collect().await?;
        let nothing = Value::Object(Map::new());
        // Without a body there is nothing to misread, only something to miss.
        if bytes.is_empty() && output.check(&nothing).is_ok() {
            return Ok(nothing);
        }
        match json::parse(&bytes).map_err(Fault::Malformed)? {
            Value::Object(fields) => Ok(Value::Object(self.names.rename(fields))),
            // What is promised decides whether a bare value may stay one.
            value if output.check(&value).is_ok() => Ok(value),
            value => Ok(Value::Object(Map::from_iter([("result".to_owned(), value)]))),
        }
    }

    /// Whether the operator has a word for it, so that it is no trouble.
    pub(super) fn is_expected(&self, fault: &Fault) -> bool {
        matches!(fault, Fault::Declined(status) if self.errors.contains_key(&status.as_u16()))
    }

    /// What the caller learns of a fault.
    pub(super) fn failure(&self, fault: &Fault) -> Failure {
        let (code, message) = match fault {
            Fault::Late => ("upstream_timeout", "the service behind this endpoint did not answer in time"),
            Fault::Unreached(EgressError::TooLarge { .. }) | Fault::Malformed(_) => {
                ("upstream_malformed_response", "the service behind this endpoint gave an answer that can't be read")
            }
            Fault::Unreached(EgressError::Busy) => {
                ("upstream_connection_error", "too much is asked of the service behind this endpoint; try again later")
            }
            Fault::Unreached(_) => {
                ("upstream_connection_error", "the service behind this endpoint can't be reached at the moment")
            }
            Fault::Declined(status) => match self.errors.get(&status.as_u16()) {
                Some(code) => (code.as_str(), "the service behind this endpoint declined the call"),
                None if matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                    ("upstream_authentication_failed", "the service behind this endpoint does not let this host in")
                }
                None => ("upstream_error", "the service behind this endpoint failed"),
            },
        };
        Failure::named(code, message)
    }
}

/// Whether an answer has no body to read by its kind. RFC 9110 9.3.2, 15.3.5 and 15.3.6.
fn is_empty(status: StatusCode, asked: &Method) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) || *asked == Method::HEAD
}

impl From<EgressError> for Fault {
    fn from(error: EgressError) -> Fault {
        Fault::Unreached(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Late => f.write_str("it took too long"),
            Fault::Unreached(error) => f.write_str(&error.log_reason()),
            Fault::Declined(status) => write!(f, "it answered {status}"),
            Fault::Malformed(why) => write!(f, "its answer is no JSON: {why}"),
        }
    }
}
