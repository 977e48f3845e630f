//! Answers of JSON-RPC 2.0 over HTTP, held against what was asked.

use forecourt_agents::sse_reader::SseReader;
use serde_json::Value;

use crate::place::Answer;

/// Bytes of an event: more than any answer has.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The code of a failure of the host itself.
const INTERNAL_ERROR: i64 = -32603;

/// The messages of an answer, each of which is one of JSON-RPC, and a response only to what was asked.
pub fn messages(asked: &[u8], answer: &Answer) -> Vec<Value> {
    let ids = serde_json::from_slice(asked).map(|asked: Value| ids(&asked)).unwrap_or_default();
    let messages: Vec<Value> = match answer.kind() {
        Some("application/json") if !answer.body.is_empty() => match answer.json() {
            Some(Value::Array(messages)) => messages,
            message => message.into_iter().collect(),
        },
        Some("text/event-stream") => {
            let data = events(&answer.body);
            data.iter().map(|data| serde_json::from_str(data).unwrap_or_else(|_| panic!("no JSON: {data}"))).collect()
        }
        _ => Vec::new(),
    };
    messages.iter().for_each(|message| check(message, &ids));
    messages
}

/// The responses among the messages of an answer that came to its end: requests that name themselves have one at least,
/// and one alone where nothing is streamed.
pub fn responses(asked: &[u8], answer: &Answer, messages: &[Value]) -> usize {
    let responses = messages.iter().filter(|message| message.get("method").is_none()).count();
    let is_named = serde_json::from_slice::<Value>(asked)
        .is_ok_and(|asked| asked["method"].is_string() && (asked["id"].is_string() || asked["id"].is_i64()));
    if is_named && answer.is_whole && answer.status == 200 {
        assert!(responses > 0, "nothing answers {}: {}", asked.escape_ascii(), answer.shown());
        assert!(responses == 1 || answer.kind() == Some("text/event-stream"), "{}", answer.shown());
    }
    responses
}

/// The data of each event that has any.
pub fn events(body: &[u8]) -> Vec<String> {
    let mut reader = SseReader::new(EVENT_BYTES_MAX);
    reader.push(body).expect("events within bounds");
    std::iter::from_fn(|| reader.next_event()).map(|event| event.data).filter(|data| !data.is_empty()).collect()
}

/// The ids of a request, or of several.
fn ids(asked: &Value) -> Vec<Value> {
    match asked {
        Value::Array(several) => several.iter().flat_map(ids).collect(),
        asked => asked.get("id").cloned().into_iter().collect(),
    }
}

fn check(message: &Value, ids: &[Value]) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let kinds = ["result", "error", "method"].into_iter().filter(|kind| message.get(kind).is_some()).count();
    assert_eq!(kinds, 1, "{message}");
    if message.get("method").is_some() {
        return assert!(message["method"].is_string(), "{message}");
    }
    let id = &message["id"];
    let is_error = message.get("error").is_some();
    // Of an error it may not be known what it is for, and what names itself not is answered without a name.
    let is_nameless = id.is_null() && (is_error || ids.is_empty());
    assert!(ids.contains(id) || is_nameless, "this is no answer to {ids:?}: {message}");
    if is_error {
        let code = message["error"]["code"].as_i64().unwrap_or_else(|| panic!("no code: {message}"));
        assert!(message["error"]["message"].is_string(), "{message}");
        assert_ne!(code, INTERNAL_ERROR, "something broke: {message}");
    }
}
