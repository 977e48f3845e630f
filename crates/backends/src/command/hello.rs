//! The first line of a worker that speaks version 2 of the protocol, by which it is told from one of version 1.

use forecourt_core::json;
use serde_json::{Map, Value};

use crate::answer::plain;
use crate::limits::CONCURRENCY_MAX;

/// The version of the protocol that has a greeting.
const PROTOCOL: u64 = 2;
/// The key of the greeting.
pub(super) const HELLO: &str = "hello";
/// Characters of the name and version of what the worker is built with, and of a value that is refused, for the log.
const HELLO_CHARS_MAX: usize = 200;

/// What a worker says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    /// Messages that it takes at once.
    pub(super) concurrency: usize,
    /// What it is built with, for the log.
    pub(super) sdk: String,
}

/// Why a greeting is refused, for the operator.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HelloError {
    #[error("the worker speaks version {0} of the protocol, and this daemon knows versions 1 and {PROTOCOL}")]
    Protocol(String),
    #[error("`hello` must be an object with `protocol` and `concurrency`")]
    Form,
    #[error("`concurrency` in `hello` must be a whole number from 1 to {CONCURRENCY_MAX}, and is {0}")]
    Concurrency(String),
}

/// Reads a first line. `None`: it greets nobody, so its worker speaks version 1.
pub(super) fn read(line: &[u8]) -> Option<Result<Hello, HelloError>> {
    let Ok(Value::Object(mut fields)) = json::parse(line) else { return None };
    let hello = fields.remove(HELLO)?;
    Some(match hello {
        Value::Object(hello) => read_fields(&hello),
        _ => Err(HelloError::Form),
    })
}

fn read_fields(hello: &Map<String, Value>) -> Result<Hello, HelloError> {
    let protocol = hello.get("protocol").ok_or(HelloError::Form)?;
    if protocol.as_u64() != Some(PROTOCOL) {
        return Err(HelloError::Protocol(shown(protocol)));
    }
    let concurrency = match hello.get("concurrency") {
        None => 1,
        Some(given) => {
            let number = given.as_u64().and_then(|number| usize::try_from(number).ok());
            let fits = number.filter(|number| (1..=CONCURRENCY_MAX).contains(number));
            fits.ok_or_else(|| HelloError::Concurrency(shown(given)))?
        }
    };
    let sdk = hello.get("sdk").and_then(Value::as_str).unwrap_or_default();
    Ok(Hello { concurrency, sdk: plain(sdk, HELLO_CHARS_MAX) })
}

/// A value in a line of the log.
fn shown(value: &Value) -> String {
    plain(&value.to_string(), HELLO_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(hello: &Value) -> Option<Result<usize, HelloError>> {
        let read = read(json!({ HELLO: hello }).to_string().as_bytes());
        read.map(|read| read.map(|hello| hello.concurrency))
    }

    #[test]
    fn a_greeting_says_how_many_messages_are_taken_at_once() {
        for (concurrency, taken) in [(json!(1), 1), (json!(16), 16), (json!(CONCURRENCY_MAX), CONCURRENCY_MAX)] {
            assert_eq!(of(&json!({"protocol": 2, "concurrency": concurrency})), Some(Ok(taken)));
        }
        assert_eq!(of(&json!({"protocol": 2, "sdk": "x", "later": true})), Some(Ok(1)));
    }

    #[test]
    fn a_greeting_out_of_bounds_is_refused_with_the_reason() {
        for concurrency in [json!(0), json!(CONCURRENCY_MAX + 1), json!("x"), json!(1.5), json!(-1), json!(null)] {
            let refused = of(&json!({"protocol": 2, "concurrency": concurrency})).unwrap().unwrap_err();
            assert!(refused.to_string().contains(&format!("1 to 256, and is {concurrency}")), "{refused}");
        }
        for protocol in [json!(3), json!(1), json!("2")] {
            let refused = of(&json!({"protocol": protocol})).unwrap().unwrap_err().to_string();
            assert!(refused.contains(&format!("version {protocol} ")) && refused.contains("1 and 2"), "{refused}");
        }
        for hello in [json!(2), json!(null), json!([]), json!({})] {
            assert_eq!(of(&hello), Some(Err(HelloError::Form)), "{hello}");
        }
    }

    #[test]
    fn any_other_first_line_is_that_of_version_1() {
        for line in [&b"Traceback"[..], b"{\"turn\": 1, \"text\": \"a\"}", b"[{\"hello\": {}}]", b"7", b"\xff", b""] {
            assert_eq!(read(line), None);
        }
    }

    proptest! {
        #[test]
        fn no_first_line_is_too_strange(line in proptest::collection::vec(any::<u8>(), 0..60), text in ".{0,300}") {
            let _ = read(&line);
            let _ = read(json!({"hello": {"protocol": 2, "concurrency": text, "sdk": text}}).to_string().as_bytes());
        }
    }
}
