//! Spans of requests over HTTP, in and out. OpenTelemetry's conventions for HTTP.

use std::net::IpAddr;

use tracing::field::Empty;
use tracing::{Span, info_span};

use super::{Origin, record_error};
use crate::TARGET;
use crate::methods::{OTHER_METHOD, known_method};
use crate::outgoing::is_recorded;
use crate::request::RequestTrace;

/// Bytes of a method that is not known, as it is written into its span.
const METHOD_BYTES_MAX: usize = 32;
/// What stands for text that might say something of a person, or open something.
pub const REDACTED: &str = "REDACTED";

/// What is known of a request when its head has come.
#[derive(Debug)]
pub struct HttpRequest<'a> {
    /// The wire.
    pub protocol: &'static str,
    /// As it came.
    pub method: &'a str,
    /// The pattern of its path, where one is mounted.
    pub route: Option<&'static str>,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The path with [`REDACTED`] in the place of what a caller chose.
    pub path: String,
    /// Whether it has a query, of which nothing is told.
    pub has_query: bool,
    /// The name that it is for, if it is one that is served, and the port.
    pub server: Option<(String, u16)>,
    /// Where it came from.
    pub client: IpAddr,
    /// `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// What the client calls itself, bounded.
    pub user_agent: Option<String>,
}

/// How an answer ended that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerBreak {
    /// The caller went away before it had all of it.
    CallerLeft,
    /// This host stopped before all of it was written.
    HostLeft,
    /// What it is made of failed in the middle.
    BrokeOff,
    /// It ended in a panic.
    Panic,
}

impl AnswerBreak {
    /// The `error.type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CallerLeft => "caller_left",
            Self::HostLeft => "host_left",
            Self::BrokeOff => "broke_off",
            Self::Panic => "panic",
        }
    }
}

/// A request over HTTP, of which `request` tells where it is recorded. The status is recorded by [`record_answer`], and
/// that it is not whole by [`record_break`].
pub fn http_request<'a>(origin: Origin<'_>, request: impl FnOnce() -> HttpRequest<'a>) -> RequestTrace {
    origin.begin(|within| {
        let request = request();
        let method = known_method(request.method);
        let is_other = method == OTHER_METHOD;
        let (address, port) = request.server.unzip();
        info_span!(
            target: TARGET,
            parent: within,
            "server",
            otel.name = name(method, request.route),
            otel.kind = "server",
            http.request.method = method,
            http.request.method_original = is_other.then(|| original(request.method)),
            http.route = request.route,
            url.scheme = request.scheme,
            url.path = request.path,
            url.query = request.has_query.then_some(REDACTED),
            server.address = address,
            server.port = port.map(i64::from),
            client.address = request.client.to_string(),
            network.protocol.version = request.version,
            user_agent.original = request.user_agent,
            forecourt.protocol = request.protocol,
            http.response.status_code = Empty,
            "error.type" = Empty,
            otel.status_code = Empty,
        )
    })
}

fn name(method: &str, route: Option<&str>) -> String {
    // The conventions want a word of their own for methods that are not known.
    let method = if method == OTHER_METHOD { "HTTP" } else { method };
    route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"))
}

fn original(method: &str) -> &str {
    // Methods are ASCII, so every byte is a boundary; `get` is for whoever hands on something else.
    method.get(..METHOD_BYTES_MAX).unwrap_or(method)
}

/// Records the status of an answer to a request that came in, if it is recorded: from 500 on it is a fault of ours.
pub fn record_answer(trace: &RequestTrace, status: u16) {
    if let Some(span) = trace.span() {
        record_status(span, status, 500);
    }
}

/// Records that an answer is not whole, if its request is recorded.
pub fn record_break(trace: &RequestTrace, broke: AnswerBreak) {
    if let Some(span) = trace.span() {
        record_error(span, broke.name(), true);
    }
}

/// Records the status of an answer to a request that went out: from 400 on it is a fault.
pub fn record_reply(span: &Span, status: u16) {
    record_status(span, status, 400);
}

fn record_status(span: &Span, status: u16, faults_from: u16) {
    if span.is_disabled() {
        return;
    }
    span.record("http.response.status_code", i64::from(status));
    if status >= faults_from {
        // The conventions want text, as of every other kind of fault.
        record_error(span, &status.to_string(), true);
    }
}

/// A request that goes out. `method` and `purpose` are of closed sets. Its address is told without path and query,
/// which open something where it is a webhook's.
pub fn http_client(method: &str, host: &str, port: u16, scheme: &'static str, purpose: &'static str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    let name = if method == OTHER_METHOD { "HTTP" } else { method };
    info_span!(
        target: TARGET,
        "client",
        otel.name = name,
        otel.kind = "client",
        http.request.method = method,
        server.address = bare(host),
        server.port = i64::from(port),
        url.scheme = scheme,
        url.full = format!("{scheme}://{host}:{port}/{REDACTED}"),
        forecourt.egress.purpose = purpose,
        http.response.status_code = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A host without the brackets that stand around an address of IPv6 in URLs.
pub fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_named_by_method_and_route() {
        assert_eq!(name("GET", Some("/~{handle}")), "GET /~{handle}");
        assert_eq!(name("GET", None), "GET");
        assert_eq!(name(OTHER_METHOD, Some("/mcp")), "HTTP /mcp");
    }

    #[test]
    fn a_made_up_method_is_kept_up_to_its_bound() {
        let longest = "B".repeat(METHOD_BYTES_MAX);
        assert_eq!(original(&longest), longest);
        assert_eq!(original(&format!("{longest}B")), longest);
        assert_eq!(original("BREW"), "BREW");
    }

    #[test]
    fn an_address_has_no_brackets() {
        assert_eq!([bare("[::1]"), bare("a.example"), bare("10.0.0.7")], ["::1", "a.example", "10.0.0.7"]);
    }
}
