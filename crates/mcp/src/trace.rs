//! The traces that requests to other servers belong to: `_meta.traceparent` and `_meta.tracestate`.

use forecourt_telemetry::{OutgoingContext, TRACEPARENT, TRACESTATE, outgoing};
use http::{HeaderMap, HeaderValue};
use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// Tells a server which trace a request of ours belongs to.
pub(crate) fn tell(meta: &mut RequestMetaObject) {
    let Some(OutgoingContext { traceparent, tracestate }) = outgoing() else { return };
    meta.insert(TRACEPARENT.as_str().to_owned(), traceparent.into());
    if let Some(state) = tracestate {
        meta.insert(TRACESTATE.as_str().to_owned(), state.into());
    }
}

/// Says in the headers what the message says, since it is sent by a task that knows of no trace.
pub(crate) fn repeat(message: &Value, headers: &mut HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE] {
        let said = message["params"]["_meta"][name.as_str()].as_str();
        if let Some(value) = said.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(name, value);
        }
    }
}
