//! What an answer of the service means to the caller. Section 12.3, the five errors.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_contract::endpoint::{AnswerKind, ExternalService};
use forecourt_contract::{Failure, Schema};
use forecourt_core::json;
use forecourt_egress::{EgressError, UpstreamResponse};
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value, json};

use super::names::Names;
use super::reason::Reasons;
use crate::limits::REASON_BYTES_MAX;
use crate::unfit::HandlerProblem;

/// How the answers of one service are read.
#[derive(Debug)]
pub(super) struct Reading {
    names: Names,
    errors: BTreeMap<u16, String>,
    kind: AnswerKind,
    /// `None`: callers learn no reasons.
    reasons: Option<Reasons>,
    /// Bytes of an answer, and of the result that is made of it.
    bytes_max: usize,
}

/// Why there is no result. Its text is for the log.
#[derive(Debug)]
pub(super) enum ReadingError {
    /// The time is over.
    Late,
    /// There was no exchange, or it broke off.
    Unreached(EgressError),
    /// The service answered, with no success, and perhaps with a reason that a caller may learn.
    Declined(StatusCode, Option<String>),
    /// It answered with success, and with something that can't be read.
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
        let reasons = service.passes_reasons.then(|| Reasons::new(service));
        Ok(Reading {
            names: Names::inward(&service.output_transform)?,
            errors,
            kind: service.answer,
            reasons,
            bytes_max: service.answer_bytes_max,
        })
    }

    /// The result of an answer. A redirect is none: it is not followed.
    pub(super) async fn result(
        &self,
        answer: UpstreamResponse,
        asked: &Method,
        output: &Schema,
    ) -> Result<Value, ReadingError> {
        let status = answer.status;
        // Where the operator says that the place is the answer, it is handed on; nobody goes there.
        if status.is_redirection() && self.kind == AnswerKind::Location {
            let place = answer.headers.get(LOCATION).and_then(|place| place.to_str().ok());
            return place.map(|place| json!({ "location": place })).ok_or(ReadingError::Declined(status, None));
        }
        if !status.is_success() {
            return Err(ReadingError::Declined(status, self.reason(answer).await));
        }
        if is_empty(status, asked) {
            return Ok(Value::Object(Map::new()));
        }
        let media = media(&answer.headers);
        let bytes = answer.body.collect().await?;
        let nothing = Value::Object(Map::new());
        // Without a body there is nothing to misread, only something to miss.
        if bytes.is_empty() && output.check(&nothing).is_ok() {
            return Ok(nothing);
        }
        match self.kind {
            AnswerKind::Text => return self.bounded(json!({ "text": text(&bytes, &media), "media_type": media })),
            AnswerKind::Bytes => return self.bounded(json!({ "data": STANDARD.encode(&bytes), "media_type": media })),
            AnswerKind::Json | AnswerKind::Location => {}
        }
        match json::parse(&bytes).map_err(ReadingError::Malformed)? {
            Value::Object(fields) => Ok(Value::Object(self.names.rename(fields))),
            // What is promised decides whether a bare value may stay one.
            value if output.check(&value).is_ok() => Ok(value),
            value => Ok(Value::Object(Map::from_iter([("result".to_owned(), value)]))),
        }
    }

    /// Bytes that an answer may have.
    pub(super) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// An answer that was put into JSON, unless it is larger there than an answer may be.
    fn bounded(&self, value: Value) -> Result<Value, ReadingError> {
        // Base64 and escapes make it larger: an answer within the bound may be over it as JSON.
        match value.to_string().len() <= self.bytes_max {
            true => Ok(value),
            false => Err(ReadingError::Unreached(EgressError::TooLarge { bytes_max: self.bytes_max })),
        }
    }

    /// What a service says of a failure, where callers may learn it.
    async fn reason(&self, answer: UpstreamResponse) -> Option<String> {
        let bytes = match &self.reasons {
            Some(_) => answer.body.collect().await.ok().filter(|bytes| bytes.len() <= REASON_BYTES_MAX)?,
            None => return None,
        };
        self.reasons.as_ref()?.of(&bytes)
    }

    /// Whether the operator has a word for it, so that it is no trouble.
    pub(super) fn is_expected(&self, fault: &ReadingError) -> bool {
        matches!(fault, ReadingError::Declined(status, _) if self.errors.contains_key(&status.as_u16()))
    }

    /// What the caller learns of a fault.
    pub(super) fn failure(&self, fault: &ReadingError) -> Failure {
        let (code, message) = match fault {
            ReadingError::Late => ("upstream_timeout", "the service behind this endpoint did not answer in time"),
            ReadingError::Unreached(EgressError::TooLarge { bytes_max }) => {
                let most = format!(
                    "the service behind this endpoint gave more than {bytes_max} bytes, which is all that is taken; ask for less at once"
                );
                return Failure::named("upstream_malformed_response", most);
            }
            ReadingError::Malformed(_) => {
                ("upstream_malformed_response", "the service behind this endpoint gave an answer that can't be read")
            }
            ReadingError::Unreached(EgressError::Busy) => {
                ("upstream_connection_error", "too much is asked of the service behind this endpoint; try again later")
            }
            ReadingError::Unreached(_) => {
                ("upstream_connection_error", "the service behind this endpoint can't be reached at the moment")
            }
            ReadingError::Declined(status, _) => match self.errors.get(&status.as_u16()) {
                Some(code) => (code.as_str(), "the service behind this endpoint declined the call"),
                // The operator's credentials are wrong, not the caller's: it must not be told to sign in (section
                // 12.3).
                None if matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                    ("upstream_authentication_failed", "the service behind this endpoint does not let this host in")
                }
                None => ("upstream_error", "the service behind this endpoint failed"),
            },
        };
        match fault {
            ReadingError::Declined(_, Some(reason)) => Failure::named(code, format!("{message}: {reason}")),
            _ => Failure::named(code, message),
        }
    }
}

/// The media type of an answer, without what is no plain text.
fn media(headers: &HeaderMap) -> String {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.unwrap_or("application/octet-stream").to_owned()
}

/// The text of an answer. Latin-1 where it says so, else UTF-8; bytes that are none are marked.
fn text(bytes: &[u8], media: &str) -> String {
    let media = media.to_ascii_lowercase();
    let is_latin =
        ["charset=iso-8859-1", "charset=\"iso-8859-1", "charset=latin1"].iter().any(|set| media.contains(set));
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // Latin-1's bytes are the first 256 code points, so this needs no table.
        Err(_) if is_latin => bytes.iter().copied().map(char::from).collect(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Whether an answer has no body to read by its kind. RFC 9110 9.3.2, 15.3.5 and 15.3.6.
fn is_empty(status: StatusCode, asked: &Method) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) || *asked == Method::HEAD
}

impl From<EgressError> for ReadingError {
    fn from(error: EgressError) -> ReadingError {
        ReadingError::Unreached(error)
    }
}

impl fmt::Display for ReadingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadingError::Late => f.write_str("it took too long"),
            ReadingError::Unreached(error) => f.write_str(&error.log_reason()),
            ReadingError::Declined(status, _) => write!(f, "it answered {status}"),
            ReadingError::Malformed(why) => write!(f, "its answer can't be read: {why}"),
        }
    }
}
