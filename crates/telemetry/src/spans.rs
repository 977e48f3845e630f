//! Every span there is, so that what they are called and what they say stands in one place.
//!
//! Names and attributes are those of OpenTelemetry's semantic conventions (HTTP, GenAI, MCP) where they have one, and
//! begin with `forecourt.` where they have none. What people say, ids that open something, secrets and URLs are in none
//! of them: values come from settings, from closed sets and from numbers.

use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::TARGET;
use crate::lines::RequestLines;
use crate::outgoing::{current, is_recorded};
use crate::policy::is_on;
use crate::request::RequestTrace;
use crate::w3c::RemoteParent;

/// Where a trace goes on, and whether it is recorded.
#[derive(Debug)]
pub struct Origin<'a> {
    /// The span of whoever sent the request.
    pub parent: Option<RemoteParent>,
    /// Whether this request is recorded.
    pub is_sampled: bool,
    /// What the trace is named by where it begins here and is not recorded.
    pub random: u64,
    /// What lines of the log say of the request, so that those within keep its id.
    pub within: &'a RequestLines,
}

impl Origin<'_> {
    fn begin(self, recorded: impl FnOnce(&Span) -> Span) -> RequestTrace {
        if !self.is_sampled {
            return RequestTrace::carried(self.parent, self.random);
        }
        let span = recorded(self.within.span());
        if let Some(parent) = self.parent {
            // Fails where nobody traces, which is as well.
            let _ = span.set_parent(parent.context(true));
        }
        RequestTrace::recorded(span)
    }
}

/// A request over HTTP. Labels alone: `method` and `route` are of closed sets. The status is recorded by
/// [`record_status`].
pub fn http_request(
    origin: Origin<'_>,
    protocol: &'static str,
    method: &'static str,
    route: &'static str,
    scheme: &'static str,
) -> RequestTrace {
    origin.begin(|within| {
        info_span!(
            target: TARGET,
            parent: within,
            "server",
            otel.name = format!("{method} {route}"),
            otel.kind = "server",
            http.request.method = method,
            http.route = route,
            url.scheme = scheme,
            forecourt.protocol = protocol,
            http.response.status_code = Empty,
            "error.type" = Empty,
            otel.status_code = Empty,
        )
    })
}

/// [`record_status`] of a request that came in, if it is recorded.
pub fn record_answer(trace: &RequestTrace, status: u16) {
    if let Some(span) = trace.span() {
        record_status(span, status);
    }
}

/// Records the status of an answer, and that it is a fault of ours from 500 on.
pub fn record_status(span: &Span, status: u16) {
    if span.is_disabled() {
        return;
    }
    span.record("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.record("error.type", status);
        span.record("otel.status_code", "ERROR");
    }
}

/// A request on a socket of a protocol's own. `method` is of a closed set.
pub fn stream_request(origin: Origin<'_>, protocol: &'static str, method: &'static str) -> RequestTrace {
    origin.begin(|within| {
        info_span!(
            target: TARGET,
            parent: within,
            "server",
            otel.name = format!("{method} {protocol}"),
            otel.kind = "server",
            network.protocol.name = protocol,
            forecourt.protocol = protocol,
            forecourt.method = method,
            http.response.status_code = Empty,
            "error.type" = Empty,
            otel.status_code = Empty,
        )
    })
}

/// A request of MCP within one of HTTP, whose span is `carrier`, and which decides whether it is recorded. `parent` is
/// what its `_meta` names, in which case there is a link to the carrier.
pub fn mcp_request(carrier: &Span, method: &'static str, tool: Option<&str>, parent: Option<RemoteParent>) -> Span {
    carrier.in_scope(|| mcp_span(method, tool, parent))
}

fn mcp_span(method: &'static str, tool: Option<&str>, parent: Option<RemoteParent>) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    let span = info_span!(
        target: TARGET,
        "mcp",
        otel.name = tool.map_or_else(|| method.to_owned(), |tool| format!("{method} {tool}")),
        otel.kind = "server",
        "mcp.method.name" = method,
        gen_ai.tool.name = tool,
        gen_ai.operation.name = tool.map(|_| "execute_tool"),
        "error.type" = Empty,
        otel.status_code = Empty,
    );
    if let Some(parent) = parent {
        let carrier = current();
        // It exists only below a request that is recorded.
        let _ = span.set_parent(parent.context(true));
        if let Some(carrier) = carrier {
            span.add_link(carrier);
        }
    }
    span
}

/// A message on its way through the host, up to the beginning of its answer: [`record_outcome`] says what became of it.
pub fn receive(via: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(target: TARGET, "receive", forecourt.protocol = via, forecourt.outcome = Empty)
}

/// The rules before an agent.
pub fn gate(agent: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(target: TARGET, "gate", gen_ai.agent.name = agent, forecourt.outcome = Empty)
}

/// A call of an endpoint, which [`record_endpoint`] names.
pub fn invoke(via: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "invoke",
        otel.name = Empty,
        forecourt.endpoint = Empty,
        forecourt.protocol = via,
        forecourt.outcome = Empty,
        otel.status_code = Empty,
    )
}

/// Names the endpoint of a call: its method and path as its file has them.
pub fn record_endpoint(span: &Span, endpoint: &str) {
    span.record("forecourt.endpoint", endpoint);
    span.record("otel.name", format!("invoke {endpoint}"));
}

/// An agent at work on an answer.
pub fn invoke_agent(agent: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "invoke_agent",
        otel.name = format!("invoke_agent {agent}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = "forecourt",
        gen_ai.agent.name = agent,
        forecourt.outcome = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A tool that a model called. `tool` is one that it was offered.
pub fn execute_tool(tool: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {tool}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A request to a model, until its answer is at its end. `gen_ai.usage.input_tokens` and
/// `gen_ai.usage.output_tokens` can be recorded.
pub fn chat(provider: &str, model: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Work in the background: a trace of its own, with a link to the request that began it, if that is recorded.
pub fn task(agent: &str) -> Span {
    let begun_by = current().filter(|_| is_recorded());
    // Work of a request that is not recorded is not either: a link would lead nowhere.
    let Some(begun_by) = begun_by else { return Span::none() };
    let span = info_span!(
        target: TARGET,
        parent: None,
        "task",
        otel.name = format!("task {agent}"),
        gen_ai.agent.name = agent,
        forecourt.outcome = Empty,
        otel.status_code = Empty,
    );
    span.add_link(begun_by);
    span
}

/// An attempt to deliver something: a trace of its own.
pub fn deliver(protocol: &str) -> Span {
    // Not `is_recorded`: the request that it is for may be over long since.
    if !is_on() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        parent: None,
        "deliver",
        otel.name = format!("deliver {protocol}"),
        forecourt.protocol = protocol,
        forecourt.outcome = Empty,
        otel.status_code = Empty,
    )
}

/// An operation of the store, until it is done: which one, and never on what. `system` and `operation` are of closed
/// sets.
pub fn store(system: &'static str, operation: &'static str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "store",
        otel.name = operation,
        otel.kind = "client",
        db.system.name = system,
        db.operation.name = operation,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Something that other nodes are told over the bus. `topic` is of a closed set.
pub fn publish(system: &'static str, topic: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "publish",
        otel.name = format!("publish {topic}"),
        otel.kind = "producer",
        messaging.system = system,
        messaging.operation.name = "publish",
        "messaging.operation.type" = "send",
        messaging.destination.name = topic,
    )
}

/// A request that goes out. `method` and `purpose` are of closed sets.
pub fn http_client(method: &str, host: &str, port: u16, scheme: &'static str, purpose: &'static str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "client",
        otel.name = method,
        otel.kind = "client",
        http.request.method = method,
        server.address = host,
        server.port = i64::from(port),
        url.scheme = scheme,
        forecourt.egress.purpose = purpose,
        http.response.status_code = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Records what became of something: a word of a closed set. `is_error` where it is a fault.
pub fn record_outcome(span: &Span, outcome: &str, is_error: bool) {
    if span.is_disabled() {
        return;
    }
    span.record("forecourt.outcome", outcome);
    record_error(span, outcome, is_error);
}

/// Records that something failed, and of what kind, if it did.
pub fn record_error(span: &Span, kind: &str, is_error: bool) {
    if is_error && !span.is_disabled() {
        span.record("error.type", kind);
        span.record("otel.status_code", "ERROR");
    }
}
