//! Every span there is, so that what they are called and what they say stands in one place.
//!
//! Names and attributes are those of OpenTelemetry's semantic conventions (HTTP, GenAI, MCP) where they have one, and
//! begin with `forecourt.` where they have none. What people say, ids that open something, secrets, and paths and
//! queries that callers chose are in none of them: values come from settings, from closed sets and from numbers. Two
//! things that a caller may choose are told, each within a bound: a method that is not known, and what a client calls
//! itself. So are names that a provider of models gives, if they can be names.
//!
//! | file | holds |
//! |---|---|
//! | `http.rs` | requests over HTTP, in and out |
//! | `gen_ai.rs` | agents, models, tools |

mod gen_ai;
mod http;

use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::TARGET;
use crate::lines::RequestLines;
use crate::outgoing::{current, is_recorded};
use crate::policy::is_on;
use crate::request::RequestTrace;
use crate::w3c::RemoteParent;

pub use gen_ai::{
    ChatRequest, chat, execute_tool, gate, invoke_agent, record_finish, record_first_chunk, record_reply_names,
    record_tokens,
};
pub use http::{
    AnswerBreak, HttpRequest, REDACTED, bare, http_client, http_request, record_answer, record_break, record_reply,
};

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
    info_span!(
        target: TARGET,
        "receive",
        forecourt.protocol = via,
        forecourt.outcome = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
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
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Names the endpoint of a call: its method and path as its file has them.
pub fn record_endpoint(span: &Span, endpoint: &str) {
    span.record("forecourt.endpoint", endpoint);
    span.record("otel.name", format!("invoke {endpoint}"));
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
        "error.type" = Empty,
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
        "error.type" = Empty,
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
