//! The traces that requests to other servers belong to: `_meta.traceparent` and `_meta.tracestate`.

use forecourt_telemetry::{OutgoingContext, TRACEPARENT, TRACESTATE, outgoing};
use http::{HeaderMap, HeaderValue};
use rmcp::model::RequestMetaObject;
use serde_json::{Map, Value};

/// Tells a server which trace a request of ours belongs to.
pub(crate) fn tell(meta: &mut RequestMetaObject) {
    let Some(OutgoingContext { traceparent, tracestate }) = outgoing() else { return };
    meta.insert(TRACEPARENT.as_str().to_owned(), traceparent.into());
    if let Some(state) = tracestate {
        meta.insert(TRACESTATE.as_str().to_owned(), state.into());
    }
}

/// Says in the headers what the metadata says, since the message may be sent by a task that knows of no trace.
pub(crate) fn repeat(meta: &Map<String, Value>, headers: &mut HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE] {
        let said = meta.get(name.as_str()).and_then(Value::as_str);
        if let Some(value) = said.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(name, value);
        }
    }
}
