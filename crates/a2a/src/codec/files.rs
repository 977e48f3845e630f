//! Files in the protocol buffers of 0.3, which clients do not agree on: the field holds bytes, but the
//! libraries for Python, Go and Java put base64 text into it, and can't read anything else from it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::USER_AGENT;
use serde_json::Value;

use crate::model::Version;

/// How the runtimes of those libraries name themselves, over gRPC and over HTTP+JSON.
const TEXT_RUNTIMES: [&str; 5] = ["grpc-python", "grpc-go", "grpc-java", "python-httpx", "Java-http-client"];

/// What one client takes the bytes of files for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Bytes, as the protocol says.
    Bytes,
    /// Base64 text.
    Text,
}

impl Files {
    /// What the client behind these fields takes them for.
    pub(crate) fn of(version: Version, head: &HeaderMap) -> Self {
        let agent = head.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match version == Version::V0_3 && TEXT_RUNTIMES.iter().any(|runtime| agent.contains(runtime)) {
            true => Self::Text,
            false => Self::Bytes,
        }
    }

    /// A message of the client in JSON, where bytes are base64: text that was taken for bytes becomes
    /// what it stands for. Bytes that are no base64 stay what they are: later libraries send them as
    /// they should.
    pub(crate) fn read(self, mut message: Value) -> Value {
        if self == Self::Text {
            each_file(&mut message, &|bytes| {
                // Base64 twice: once as JSON writes bytes, once as the text that the library put into them.
                let text = STANDARD.decode(&*bytes).ok().and_then(|text| String::from_utf8(text).ok());
                if let Some(text) = text.filter(|text| STANDARD.decode(text).is_ok()) {
                    *bytes = text;
                }
            });
        }
        message
    }

    /// The reverse: base64 that will be taken for text.
    pub(crate) fn write(self, mut message: Value) -> Value {
        if self == Self::Text {
            each_file(&mut message, &|bytes| *bytes = STANDARD.encode(&*bytes));
        }
        message
    }
}

/// Does `change` to the bytes of each file part; what is free in form is passed over.
fn each_file(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_file(item, change)),
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    // A caller's own data may have a member of the name below.
                    ("metadata" | "data", _) => {}
                    ("fileWithBytes", Value::String(bytes)) => change(bytes),
                    (_, member) => each_file(member, change),
                }
            }
        }
        _ => {}
    }
}
