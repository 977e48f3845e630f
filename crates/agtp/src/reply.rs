//! An answer before it is written: what is said, not yet how.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::CallTrail;
use forecourt_core::clock::whole_seconds;
use forecourt_core::limits;
use forecourt_identity::agents::AgentIdentity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::records::RecordFacts;

/// A reply before it is encoded: status, own fields and body. Fields that every response has are added by `to_wire.rs`.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// The code.
    pub status: Status,
    /// Fields of this answer alone, such as `ETag`. Values with other characters than printable ASCII
    /// are left out.
    pub fields: Vec<(&'static str, String)>,
    /// What is said.
    pub body: Body,
}

/// The reply to a request with what its response and its record are made of.
pub(crate) struct RequestOutcome {
    /// What is said.
    pub reply: Reply,
    /// What was found on the way.
    pub trail: CallTrail,
    /// The agent that was addressed.
    pub agent: Option<Arc<AgentIdentity>>,
    /// What its record says of the caller. `None`: it has none, since none can be kept.
    pub facts: Option<RecordFacts>,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// None.
    Empty,
    /// JSON, under the media type of what answered.
    Json(Value),
    /// The same, written as it was made: an object that is no error.
    Written(Bytes),
    /// Bytes that were made before, under their own media type.
    Made {
        /// The media type.
        media_type: &'static str,
        /// The bytes.
        bytes: Bytes,
    },
}

/// The field that says when to come back.
const RETRY_AFTER: &str = "Retry-After";
/// The same in bodies.
const RETRY_SECONDS: &str = "retry_after_seconds";
/// Bytes of most answers that are written as they are made.
const WRITTEN_BYTES: usize = 1024;

impl Body {
    /// The JSON of a body as a tree, for who looks into it.
    #[must_use]
    pub(crate) fn read(self) -> Self {
        match self {
            // What was written is read again.
            Self::Written(bytes) => Self::Json(serde_json::from_slice(&bytes).unwrap_or_default()),
            body => body,
        }
    }
}

impl Reply {
    /// A body under a code.
    pub(crate) fn json(status: Status, body: Value) -> Self {
        Self { status, fields: Vec::new(), body: Body::Json(body) }
    }

    /// Done, with this to say.
    pub(crate) fn ok(body: Value) -> Self {
        Self::json(Status::OK, body)
    }

    /// Done, with this object to say. A tree of what is asked for often costs more than all else about it.
    pub(crate) fn written(body: &impl Serialize) -> Self {
        let mut bytes = Vec::with_capacity(WRITTEN_BYTES);
        // What is ours to say has text keys only, and so is always written.
        let _ = serde_json::to_writer(&mut bytes, body);
        Self { status: Status::OK, fields: Vec::new(), body: Body::Written(bytes.into()) }
    }

    /// The same, with one more field.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The error object, where there is one.
    pub(crate) fn error(self) -> Option<Value> {
        match self.body {
            Body::Json(Value::Object(mut body)) => body.remove("error"),
            Body::Json(_) | Body::Written(_) | Body::Empty | Body::Made { .. } => None,
        }
    }
}

/// Why there is no answer: an error object, as every refusal on this wire has one. Base 4.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// The code.
    pub status: Status,
    /// The members of `error`; `code` is always among them.
    pub error: Map<String, Value>,
    /// Members beside `error`.
    pub beside: Map<String, Value>,
    /// Fields of the answer, such as `Retry-After`.
    pub fields: Vec<(&'static str, String)>,
    /// Whether it is what came of work that was begun: whoever repeats the call has it as the answer.
    pub is_outcome: bool,
}

impl Problem {
    /// A problem by its code word, with a sentence for whoever can do something about it.
    pub(crate) fn new(status: Status, code: &str, message: impl Into<String>) -> Self {
        let mut error = Map::new();
        error.insert("code".to_owned(), code.into());
        error.insert("message".to_owned(), Value::String(message.into()));
        Self { status, error, beside: Map::new(), fields: Vec::new(), is_outcome: false }
    }

    /// The same, with one more member of `error`.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.error.insert(name.to_owned(), value.into());
        self
    }

    /// The same, saying when to come back, where that is known: in the field, in the error and beside it.
    #[must_use]
    pub(crate) fn retry(self, seconds: Option<u64>) -> Self {
        let Some(seconds) = seconds else { return self };
        let mut problem = self.with(RETRY_SECONDS, seconds).beside(RETRY_SECONDS, seconds);
        // It may have been said before: one field, with the last word.
        problem.fields.retain(|(name, _)| *name != RETRY_AFTER);
        problem.fields.push((RETRY_AFTER, seconds.to_string()));
        problem
    }

    /// Whether it says when to come back.
    fn has_wait(&self) -> bool {
        self.fields.iter().any(|(name, _)| *name == RETRY_AFTER)
    }

    /// The same, as what came of work that was begun.
    #[must_use]
    pub(crate) fn into_outcome(self) -> Self {
        Self { is_outcome: true, ..self }
    }

    /// The same, with one more member beside `error`.
    #[must_use]
    pub(crate) fn beside(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.beside.insert(name.to_owned(), value.into());
        self
    }
}

impl From<Problem> for Reply {
    /// Whatever is unavailable says when to come back: here, so that nothing can forget it.
    fn from(problem: Problem) -> Self {
        let problem = match problem.status == Status::UNAVAILABLE && !problem.has_wait() {
            true => problem.retry(Some(whole_seconds(limits::RETRY_AFTER))),
            false => problem,
        };
        let mut body = problem.beside;
        body.insert("error".to_owned(), Value::Object(problem.error));
        Self { status: problem.status, fields: problem.fields, body: Body::Json(Value::Object(body)) }
    }
}
