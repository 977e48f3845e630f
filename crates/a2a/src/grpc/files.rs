//! Files in 0.3, which clients do not agree on: the field holds bytes, but the libraries for
//! Python, Go and Java put base64 text into it, and can't read anything else from it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::USER_AGENT;
use serde_json::Value;

/// How the runtimes of those libraries name themselves.
const TEXT_RUNTIMES: [&str; 3] = ["grpc-python", "grpc-go", "grpc-java"];

/// Whether the client has files as base64 text. Any other client has them as the protocol says.
pub(super) fn are_text(head: &HeaderMap) -> bool {
    let agent = head.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    TEXT_RUNTIMES.iter().any(|runtime| agent.contains(runtime))
}

/// Of a message in JSON, where bytes are base64: text that was taken for bytes, as what it stands
/// for. Bytes that are no base64 stay what they are: later libraries send them as they should.
pub(super) fn read_text(message: &mut Value) {
    each_file(message, &|bytes| {
        let text = STANDARD.decode(&*bytes).ok().and_then(|text| String::from_utf8(text).ok());
        if let Some(text) = text.filter(|text| STANDARD.decode(text).is_ok()) {
            *bytes = text;
        }
    });
}

/// The reverse: base64 that will be taken for text.
pub(super) fn write_text(message: &mut Value) {
    each_file(message, &|bytes| *bytes = STANDARD.encode(&*bytes));
}

/// Does `change` to the bytes of each file part; what is free in form is passed over.
fn each_file(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_file(item, change)),
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("metadata" | "data", _) => {}
                    ("fileWithBytes", Value::String(bytes)) => change(bytes),
                    (_, member) => each_file(member, change),
                }
            }
        }
        _ => {}
    }
}
