//! Requests to a worker and its answers: a line each. That of a request is JSON; that of an answer begins
//! with the request's number, so that what a function writes into the pipe is taken for nobody's answer.

use std::time::Duration;

use forecourt_contract::{Failure, Invocation};
use serde::Serialize;
use serde_json::{Map, Value};

/// What a worker is asked to do: to import a function, and then to call it if there is an input.
#[derive(Debug, Serialize)]
pub(super) struct Request {
    /// Which one of its worker it is.
    number: u64,
    /// A dotted path.
    pub(super) function: String,
    /// After how many seconds the worker ends itself, should nobody else do it.
    seconds: f64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    call: Option<Call>,
}

#[derive(Debug, Serialize)]
struct Call {
    input: Map<String, Value>,
    agent_id: Option<String>,
    method: String,
    path: String,
    session_id: Option<String>,
    task_id: Option<String>,
}

/// What a worker answers.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    /// What came of it.
    pub(super) outcome: Outcome,
    /// Whether the worker can take another request.
    pub(super) is_fit: bool,
}

/// What came of a request.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// The function is imported.
    Ready,
    /// The function's result or declared error.
    Ended(Result<Value, Failure>),
    /// What is wrong with the function.
    Fault(String),
}

impl Request {
    /// To import a function.
    pub(super) fn import(function: &str) -> Request {
        Request { number: 0, function: function.to_owned(), seconds: 0.0, call: None }
    }

    /// To call one.
    pub(super) fn call(function: &str, invocation: Invocation) -> Request {
        let Invocation { endpoint, input, caller, thread, .. } = invocation;
        let call = Call {
            input,
            agent_id: caller.agent_id,
            method: endpoint.method.to_string(),
            path: endpoint.path.as_str().to_owned(),
            session_id: thread.session_id,
            task_id: thread.task_id,
        };
        Request { number: 0, function: function.to_owned(), seconds: 0.0, call: Some(call) }
    }

    /// The line, as the request of that number to a worker that has `time` from now on.
    pub(super) fn line(&mut self, number: u64, time: Duration) -> Result<Vec<u8>, String> {
        (self.number, self.seconds) = (number, time.as_secs_f64());
        let mut line = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Reads the line of the answer to the request of that number. What may not be passed on is a fault of the
/// function; its worker is fit.
///
/// # Errors
/// It is none to this request: the function wrote into the pipe itself.
pub(super) fn read(line: &[u8], number: u64) -> Result<Answer, String> {
    let mark = format!("{number} ");
    let answer = line.strip_prefix(mark.as_bytes()).ok_or("the worker's answer is to another request")?;
    let mut answer = match forecourt_core::json::parse(answer) {
        Ok(Value::Object(answer)) => answer,
        Ok(_) => return Err("the worker's answer can't be read".to_owned()),
        Err(error) => {
            // What Python writes and strict JSON refuses, such as half a surrogate pair: the worker itself is fine.
            let told = format!("what it returned can't be passed on: {error}");
            return Ok(Answer { outcome: Outcome::Fault(told), is_fit: true });
        }
    };
    let is_fit = answer.get("unfit") != Some(&Value::Bool(true));
    let outcome = if let Some(result) = answer.remove("result") {
        Outcome::Ended(Ok(result))
    } else if let Some(Value::Object(error)) = answer.remove("error") {
        Outcome::Ended(Err(named(error)))
    } else if let Some(Value::String(fault)) = answer.remove("fault") {
        // It may repeat what a caller said.
        Outcome::Fault(forecourt_process::printable(fault.as_bytes()))
    } else if answer.contains_key("ready") {
        Outcome::Ready
    } else {
        return Err("the worker's answer can't be read".to_owned());
    };
    Ok(Answer { outcome, is_fit })
}

fn named(mut error: Map<String, Value>) -> Failure {
    let mut text = |key: &str| match error.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (code, message) = (text("code"), text("message"));
    Failure::Named { code, message, details: error.remove("details").unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_answer_is_said_to_be_none() {
        for line in ["", "7", "7{}", "7 7", "7 {}", "{\"ready\":true}", "6 {\"ready\":true}", "77 {\"ready\":true}"] {
            assert!(read(line.as_bytes(), 7).is_err(), "{line}");
        }
    }

    #[test]
    fn what_may_not_be_passed_on_is_a_fault_of_its_function_alone() {
        for result in ["NaN", "{\"a\": 1, \"a\": 2}", "\"\\ud800\""] {
            let answer = read(format!("7 {{\"result\": {result}}}").as_bytes(), 7);
            assert!(matches!(answer, Ok(Answer { outcome: Outcome::Fault(_), is_fit: true })), "{result}");
        }
    }

    #[test]
    fn an_answer_says_whether_its_worker_is_fit() {
        let fault = |is_fit| Answer { outcome: Outcome::Fault("x".to_owned()), is_fit };
        assert_eq!(read(br#"0 {"fault": "x"}"#, 0), Ok(fault(true)));
        assert_eq!(read(br#"0 {"fault": "x", "unfit": true}"#, 0), Ok(fault(false)));
    }

    #[test]
    fn a_fault_is_one_line() {
        let Ok(Answer { outcome: Outcome::Fault(text), .. }) = read(br#"0 {"fault": "no room\n\u001b[2Jfor you"}"#, 0)
        else {
            panic!("a fault is expected");
        };
        assert_eq!(text, "no room\u{fffd}\u{fffd}[2Jfor you");
    }

    #[test]
    fn a_declared_error_keeps_its_details() {
        let Ok(Answer { outcome: Outcome::Ended(Err(failure)), .. }) =
            read(br#"0 {"error": {"code": "full", "message": "No room.", "details": {"free": 0}}}"#, 0)
        else {
            panic!("an error is expected");
        };
        let details = json!({"free": 0});
        assert_eq!(failure, Failure::Named { code: "full".into(), message: "No room.".into(), details });
    }

    #[test]
    fn a_request_is_one_line() {
        let line = Request::import("rooms.book").line(3, Duration::from_millis(1500)).unwrap();
        assert_eq!(line, b"{\"number\":3,\"function\":\"rooms.book\",\"seconds\":1.5}\n");
    }

    proptest! {
        #[test]
        fn reading_never_panics(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&line, 0);
            let _ = read(&[b"0 ", &*line].concat(), 0);
        }
    }
}
