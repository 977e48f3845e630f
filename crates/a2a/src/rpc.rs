//! The JSON-RPC binding: requests read, answers written. JSON-RPC 2.0.

use forecourt_core::json;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::codec::{Dialect, Method};
use crate::model::{OperationError, Version};

/// A request that was read.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcCall {
    /// What its answer is known by: a string, a number, or nothing.
    pub(crate) id: Value,
    /// What is asked.
    pub(crate) method: Method,
    /// The version that has such a method.
    pub(crate) version: Version,
    /// What it is asked with.
    pub(crate) params: Value,
}

impl RpcCall {
    /// How its parameters and its answer are spelled.
    pub(crate) fn dialect(&self) -> Dialect {
        dialect(self.version)
    }
}

/// How JSON-RPC of a version is spelled.
pub(crate) fn dialect(version: Version) -> Dialect {
    match version {
        Version::V0_3 => Dialect::Json03,
        Version::V1_0 => Dialect::Json10,
    }
}

/// Reads a request. A fault comes with the id that its answer has, as far as that could be read, and
/// with what was asked, if that was understood.
pub(crate) fn read(
    body: &[u8],
    asked: Result<Option<Version>, OperationError>,
) -> Result<RpcCall, (Value, Option<Method>, OperationError)> {
    let value = json::parse(body).map_err(|error| (Value::Null, None, OperationError::Parse(error)))?;
    let Value::Object(mut fields) = value else {
        return Err((Value::Null, None, invalid("a request is one object; batches are not understood")));
    };
    let id = fields.remove("id").unwrap_or_default();
    let id = match id {
        Value::Null | Value::String(_) | Value::Number(_) => id,
        _ => return Err((Value::Null, None, invalid("`id` must be a string or a number"))),
    };
    match call(fields, asked) {
        Ok((method, version, params)) => Ok(RpcCall { id, method, version, params }),
        Err((method, fault)) => Err((id, method, fault)),
    }
}

type RpcCallParts = (Method, Version, Value);

fn call(
    mut fields: Map<String, Value>,
    asked: Result<Option<Version>, OperationError>,
) -> Result<RpcCallParts, (Option<Method>, OperationError)> {
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((None, invalid("`jsonrpc` must be \"2.0\"")));
    }
    let Some(Value::String(name)) = fields.remove("method") else {
        return Err((None, invalid("`method` must be a string")));
    };
    let asked = asked.map_err(|fault| (None, fault))?;
    let Some((version, method)) = Method::from_rpc(&name) else {
        return Err((None, OperationError::MethodNotFound(printable_name(&name))));
    };
    agrees(version, asked, &name).map_err(|fault| (Some(method), fault))?;
    let params = fields.remove("params").unwrap_or_default();
    match params {
        Value::Object(_) | Value::Null => Ok((method, version, params)),
        _ => Err((Some(method), OperationError::param("params", "must be an object"))),
    }
}

/// Whether a method is one of the version that was named; without a name, that is 0.3.
pub(crate) fn agrees(version: Version, asked: Option<Version>, name: &str) -> Result<(), OperationError> {
    // A2A 1.0 3.6.2: without the field a request is of 0.3. A method of 1.0 is then refused with the way out, not
    // guessed at.
    match (version, asked.unwrap_or(Version::V0_3)) {
        (Version::V0_3, Version::V0_3) | (Version::V1_0, Version::V1_0) => Ok(()),
        (Version::V1_0, Version::V0_3) => Err(OperationError::VersionNotSupported(format!(
            "{name} is a method of A2A 1.0: send the header A2A-Version: 1.0"
        ))),
        (Version::V0_3, Version::V1_0) => Err(OperationError::VersionNotSupported(format!(
            "{name} is a method of A2A 0.3: leave the header A2A-Version out, or send 0.3"
        ))),
    }
}

/// A name as an error shows it: bounded, as it is the caller's.
fn printable_name(name: &str) -> String {
    name.chars().take(64).collect()
}

fn invalid(words: &str) -> OperationError {
    OperationError::InvalidRequest(words.to_owned())
}

/// An answer, with `R` as its result.
#[derive(Serialize)]
pub(crate) struct ResultFrame<'a, R> {
    id: &'a Value,
    jsonrpc: &'static str,
    result: R,
}

impl<'a, R: Serialize> ResultFrame<'a, R> {
    /// The answer to the request of this id.
    pub(crate) fn new(id: &'a Value, result: R) -> Self {
        Self { id, jsonrpc: "2.0", result }
    }
}

/// An answer that there is none.
pub(crate) fn error(id: &Value, fault: &OperationError) -> Value {
    json!({"error": fault.to_rpc(), "id": id, "jsonrpc": "2.0"})
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(body: &str, asked: Option<Version>) -> i32 {
        let (_, _, fault) = read(body.as_bytes(), Ok(asked)).expect_err(body);
        fault.row().rpc
    }

    #[test]
    fn each_wrong_request_gets_its_code() {
        let cases = [
            ("", -32700),
            ("{", -32700),
            (r#"{"jsonrpc":"2.0","jsonrpc":"2.0"}"#, -32700),
            ("[]", -32600),
            ("1", -32600),
            (r#"{"id":1,"method":"message/send"}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"message/send"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"message/send"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"message/send"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"message/sent"}"#, -32601),
            (r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":[]}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":"x"}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage"}"#, -32009),
        ];
        for (body, expected) in cases {
            assert_eq!(code(body, None), expected, "{body}");
        }
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#, Some(Version::V1_0)), -32009);
    }

    #[test]
    fn ids_come_back_as_they_were() {
        for id in [json!("a"), json!(7), json!(null), json!(1.5)] {
            let body = json!({"jsonrpc": "2.0", "id": id, "method": "tasks/get", "params": {}}).to_string();
            let call = read(body.as_bytes(), Ok(None)).expect("a call");
            assert_eq!(serde_json::to_value(ResultFrame::new(&call.id, json!({}))).unwrap()["id"], id);
        }
        let (id, _, _) = read(br#"{"jsonrpc":"2.0","id":"x","method":"nope"}"#, Ok(None)).unwrap_err();
        assert_eq!(id, "x");
    }

    #[test]
    fn deep_json_is_a_parse_error() {
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        assert_eq!(code(&deep, None), -32700);
    }

    proptest! {
        #[test]
        fn no_body_panics(body in ".{0,200}") {
            let _ = read(body.as_bytes(), Ok(None));
        }
    }
}
