//! The traces that calls of clients belong to: `_meta.traceparent` and `_meta.tracestate`, as they come in.

use forecourt_telemetry::{RemoteParent, TRACEPARENT, TRACESTATE, is_on, spans};
use http::HeaderName;
use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;
use tracing::Span;

use crate::caller::Caller;
use crate::offer::Offer;

/// The span of the request over HTTP that brought one of MCP, which is answered on another task.
#[derive(Debug, Clone)]
pub(crate) struct Carrier(Span);

impl Carrier {
    /// Remembers the span of the moment, if anybody traces.
    pub(crate) fn remember(head: &mut Parts) {
        if is_on() {
            head.extensions.insert(Self(Span::current()));
        }
    }
}

/// What a call through the SDK is traced by.
pub(crate) fn of_call(context: &RequestContext<RoleServer>, offer: &Offer, caller: &Caller, tool: &str) -> Span {
    if !is_on() {
        return Span::none();
    }
    let text = |name: HeaderName| context.meta.get(name.as_str()).and_then(Value::as_str);
    let parent = text(TRACEPARENT).and_then(|parent| RemoteParent::parse(parent, text(TRACESTATE)));
    let carrier = context.extensions.get::<Parts>().and_then(|head| head.extensions.get::<Carrier>());
    match carrier {
        Some(Carrier(span)) => tool_span(span, offer, caller, tool, parent),
        None => tool_span(&Span::current(), offer, caller, tool, parent),
    }
}

/// What a call of a tool is traced by.
pub(crate) fn tool_span(
    carrier: &Span,
    offer: &Offer,
    caller: &Caller,
    tool: &str,
    parent: Option<RemoteParent>,
) -> Span {
    if !is_on() {
        return Span::none();
    }
    // What is not offered is a caller's own text.
    let agent = caller.agent.as_ref();
    let is_offered = offer.find(agent, tool).is_some() || offer.server_tool(agent, tool).is_some();
    let tool = is_offered.then_some(tool);
    spans::mcp_request(carrier, "tools/call", tool, parent)
}
