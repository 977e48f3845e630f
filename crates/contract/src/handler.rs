//! This module has the trait of what answers an endpoint. Section 12.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::{Caller, Thread};
use crate::endpoint::Endpoint;
use crate::refusal::FailedStep;
use crate::refusal::IdentityRefusal;
use crate::schema::Violation;
use crate::scope::Scope;

/// Answers the calls of an endpoint: a composition, a function, or a service elsewhere.
pub trait Handler: Send + Sync + 'static {
    /// Answers one call. The input is validated and the caller authorised; what comes back is
    /// validated in turn. Work happens as the future is polled and stops when it is dropped.
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>>;
}

/// A call that passed every check.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What was promised.
    pub endpoint: Arc<Endpoint>,
    /// What the caller said, in the shape that was promised.
    pub input: Map<String, Value>,
    /// Who calls, and what may be done in its name by this call.
    pub caller: Caller,
    /// What the call belongs to.
    pub thread: Thread,
    /// How many compositions this call is inside of.
    pub depth: u32,
}

/// How a handler ends without a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// One of the errors that the endpoint declares.
    Named {
        /// Its name.
        code: String,
        /// A sentence for the caller.
        message: String,
        /// What helps to recover; null when there is nothing.
        details: Value,
    },
    /// The input keeps its schema and can't be used all the same.
    Input(Violation),
    /// The caller did not show who it is as this call turned out to need it. Section 12.1.
    Unidentified(IdentityRefusal),
    /// The caller may not do what this call turned out to need. Section 12.1.
    Unauthorised(Vec<Scope>),
    /// A call that this one is made of came to nothing. Section 12.1.
    Step(Box<FailedStep>),
    /// So much is being done that this call did not begin. The text is for the log.
    Busy(String),
    /// It did not end in its time; what it did until then may stand. The text is for the log.
    Late(String),
    /// A fault of ours. The text is for the log.
    Crashed(String),
}

impl Failure {
    /// A declared error without details.
    pub fn named(code: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure::Named { code: code.into(), message: message.into(), details: Value::Null }
    }
}
