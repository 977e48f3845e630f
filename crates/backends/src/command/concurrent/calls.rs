//! The calls of tools that one turn of a worker has open. Dropping them cancels them.

use std::sync::Arc;

use forecourt_agents::tool::{ToolError, ToolResult};
use forecourt_core::{Admitted, Ending, Event, FailureCause};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer;
use crate::limits::PROGRAM_ID_CHARS_MAX;
use crate::tools::limits::{PROGRAM_CALLS_MAX, PROGRAM_CALLS_OPEN_MAX};
use crate::tools::{Call, Toolbox};

/// The key of a call.
pub(super) const CALL: &str = "call";
/// Calls over the bound that are answered with an error, before the turn is ended.
const CALLS_REFUSED_MAX: usize = 200;

/// A call that a worker asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct CallRequest {
    id: String,
    tool: String,
    #[serde(default = "no_arguments")]
    arguments: Value,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

impl CallRequest {
    /// Reads one.
    ///
    /// # Errors
    /// It can't be read.
    pub(super) fn read(value: Value) -> Result<Self, Ending> {
        let unreadable = |reason: &str| answer::unreadable(&format!("`{CALL}`: {reason}"));
        let request: Self = serde_json::from_value(value).map_err(|error| unreadable(&error.to_string()))?;
        match (1..=PROGRAM_ID_CHARS_MAX).contains(&request.id.chars().count()) {
            true => Ok(request),
            false => Err(unreadable(&format!("`id` has 1 to {PROGRAM_ID_CHARS_MAX} characters"))),
        }
    }
}

/// The calls of one turn.
pub(super) struct OpenCalls {
    admitted: Arc<Admitted>,
    toolbox: Arc<Toolbox>,
    open: FuturesUnordered<BoxFuture<'static, (Call, ToolResult)>>,
    made: usize,
}

impl OpenCalls {
    pub(super) fn new(admitted: Arc<Admitted>, toolbox: Arc<Toolbox>) -> Self {
        Self { admitted, toolbox, open: FuturesUnordered::new(), made: 0 }
    }

    /// Whether none is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Makes a call, in the name of whoever is answered; the call as callers see it. One over a bound is answered with
    /// an error.
    ///
    /// # Errors
    /// There are far too many.
    pub(super) fn begin(&mut self, request: CallRequest) -> Result<Event, Ending> {
        let CallRequest { id, tool, arguments } = request;
        self.made += 1;
        if self.made > PROGRAM_CALLS_MAX + CALLS_REFUSED_MAX {
            let told = format!("The agent's program made more than {PROGRAM_CALLS_MAX} calls for one answer.");
            return Err(FailureCause::OverBound.ending(told));
        }
        let arguments = match arguments {
            _ if self.made > PROGRAM_CALLS_MAX => Err(format!("an answer has at most {PROGRAM_CALLS_MAX} calls")),
            _ if self.open.len() >= PROGRAM_CALLS_OPEN_MAX => {
                Err(format!("an answer has at most {PROGRAM_CALLS_OPEN_MAX} calls open at once"))
            }
            arguments @ Value::Object(_) => Ok(arguments),
            _ => Err("`arguments` must be an object".to_owned()),
        };
        let call = Call::of_program(id, tool, arguments);
        let running = call.running();
        let (admitted, toolbox) = (self.admitted.clone(), self.toolbox.clone());
        self.open.push(
            async move {
                let result = toolbox.call(&call, admitted.message()).await;
                (call, result)
            }
            .boxed(),
        );
        Ok(running)
    }

    /// Waits for the next call that is done: how callers see it, and what the worker is told. For ever where none is
    /// open. Can be given up and begun again.
    pub(super) async fn next(&mut self) -> (Event, Value) {
        let Some((call, result)) = self.open.next().await else { return std::future::pending().await };
        let told = match &result {
            Ok(content) => json!({"id": call.id(), "content": content}),
            Err(ToolError::Said(message)) => json!({"id": call.id(), "error": {"message": message}}),
            Err(ToolError::Refused(part)) => {
                json!({"id": call.id(), "error": {"message": part.message, "policy": part}})
            }
        };
        (call.done(result), told)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Part;
    use forecourt_testagents::{admitted, message};

    use super::*;

    fn request(id: &str) -> Result<CallRequest, Ending> {
        CallRequest::read(json!({"id": id, "tool": "none"}))
    }

    /// The calls of a turn that may call nothing.
    async fn calls() -> OpenCalls {
        let admitted = admitted(message(vec![Part::text("hi")])).await;
        OpenCalls::new(Arc::new(admitted), Arc::new(Toolbox::default()))
    }

    #[test]
    fn what_names_a_call_has_a_bound() {
        let max = PROGRAM_ID_CHARS_MAX;
        for (chars, is_read) in [(0, false), (1, true), (max, true), (max + 1, false)] {
            for id in ["x", "ä"] {
                assert_eq!(request(&id.repeat(chars)).is_ok(), is_read, "{chars} of {id}");
            }
        }
    }

    #[tokio::test]
    async fn a_call_over_those_that_may_be_open_at_once_is_answered_with_an_error() {
        let mut calls = calls().await;
        for number in 0..=PROGRAM_CALLS_OPEN_MAX {
            calls.begin(request(&format!("c{number}")).unwrap()).unwrap();
        }
        let mut over = Vec::new();
        while !calls.is_empty() {
            let (_, told) = calls.next().await;
            if told["error"]["message"].as_str().unwrap().contains("open at once") {
                over.push(told["id"].clone());
            }
        }
        assert_eq!(over, [json!(format!("c{PROGRAM_CALLS_OPEN_MAX}"))]);
    }

    #[tokio::test]
    async fn a_turn_with_far_too_many_calls_is_ended() {
        let mut calls = calls().await;
        for number in 0..PROGRAM_CALLS_MAX + CALLS_REFUSED_MAX {
            assert!(calls.begin(request("c").unwrap()).is_ok(), "{number}");
            let (_, told) = calls.next().await;
            let is_over = told["error"]["message"].as_str().unwrap().contains("at most 200 calls");
            assert_eq!(is_over, number >= PROGRAM_CALLS_MAX, "{told}");
        }
        assert!(matches!(calls.begin(request("c").unwrap()), Err(Ending::Failed { .. })));
    }
}
