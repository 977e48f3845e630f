//! This module says what belongs to the request that is answered now, and writes it into requests of ours. W3C Trace
//! Context.

use http::{HeaderMap, HeaderValue};
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceFlags};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::policy::is_on;
use crate::w3c::{TRACEPARENT, TRACESTATE};

/// What a request that is sent now belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingContext {
    /// The `traceparent`.
    pub traceparent: String,
    /// The `tracestate`, where there is any.
    pub tracestate: Option<String>,
}

/// What a request that is sent now belongs to: the innermost span of [`crate::spans`]. `None` while nobody traces, and
/// outside of every request.
pub fn outgoing() -> Option<OutgoingContext> {
    let context = current()?;
    let flags = context.trace_flags() & TraceFlags::SAMPLED;
    let traceparent = format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), flags.to_u8());
    let state = context.trace_state().header();
    Some(OutgoingContext { traceparent, tracestate: (!state.is_empty()).then_some(state) })
}

/// The id of the trace that what happens now belongs to, 32 hexadecimal digits. `None` while nobody traces, and outside
/// of every request.
pub fn current_trace() -> Option<String> {
    current().map(|context| context.trace_id().to_string())
}

/// Writes [`outgoing`] into the headers of a request, over what was there.
pub fn inject(headers: &mut HeaderMap) {
    let Some(OutgoingContext { traceparent, tracestate }) = outgoing() else { return };
    if let Ok(value) = HeaderValue::from_str(&traceparent) {
        headers.insert(TRACEPARENT, value);
    }
    // One that was there belongs to another trace.
    headers.remove(TRACESTATE);
    if let Some(value) = tracestate.and_then(|state| HeaderValue::from_str(&state).ok()) {
        headers.insert(TRACESTATE, value);
    }
}

/// The id of the trace that a span belongs to, as it is written. `None` for spans that are none of ours.
pub(crate) fn trace_id(span: &Span) -> Option<String> {
    if !is_on() {
        return None;
    }
    let context = span.context().span().span_context().clone();
    context.is_valid().then(|| context.trace_id().to_string())
}

/// The context of the innermost span of ours that is entered. Whoever is within none has none.
pub(crate) fn current() -> Option<SpanContext> {
    if !is_on() {
        return None;
    }
    let context = Context::map_current(|context| context.span().span_context().clone());
    context.is_valid().then_some(context)
}

/// Whether what happens now is recorded. Asked before a span is made, so that those of other requests cost this look.
pub(crate) fn is_recorded() -> bool {
    is_on() && Context::map_current(|context| context.span().span_context().is_sampled())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_while_nobody_traces() {
        let mut headers = HeaderMap::new();
        inject(&mut headers);
        assert!(headers.is_empty() && !is_recorded());
    }
}
