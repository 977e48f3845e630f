//! What is told of a request when its head has come: to whoever traces, and to the access log. The path is in neither,
//! only the pattern that it was mounted under with the handle of an agent filled in: what stands in other places may be
//! a question, or an id that opens something.

use forecourt_telemetry::spans::{self, HttpRequest, Origin, REDACTED};
use forecourt_telemetry::{RemoteParent, RequestLines, RequestTrace, policy};
use http::header::{self, HeaderName};
use http::{Request, Version};
use hyper::body::Incoming;

use crate::access_log::AccessEntry;
use crate::metrics::method_label;
use crate::peer::{Peer, random};
use crate::request_id::RequestId;
use crate::route_class::RouteClass;
use crate::strict::authority;

/// What the request is traced by.
pub(crate) fn trace(
    peer: &Peer,
    class: RouteClass,
    request: &Request<Incoming>,
    within: &RequestLines,
) -> RequestTrace {
    let Some(policy) = policy() else { return RequestTrace::off() };
    let settings = &peer.front.settings;
    let parent = RemoteParent::of(request.headers());
    // A caller's `sampled` flag would otherwise let anybody fill the collector.
    let is_from_proxy = settings.proxies.contains(peer.address);
    let random = random(&*settings.entropy);
    let is_sampled = policy.is_sampled(parent.as_ref(), is_from_proxy, || random);
    let origin = Origin { parent, is_sampled, random, within };
    spans::http_request(origin, || HttpRequest {
        protocol: class.protocol,
        method: request.method().as_str(),
        route: class.pattern(),
        scheme: scheme(peer.tls),
        path: told_path(class, settings.classes.agent(request.uri().path())),
        has_query: request.uri().query().is_some(),
        server: server(peer, request),
        client: settings.proxies.client(peer.address, request.headers()).0,
        version: version(request.version()),
        user_agent: text(request, header::USER_AGENT).map(AccessEntry::agent_of),
    })
}

/// What the access log will say of a request.
pub(crate) fn access(
    peer: &Peer,
    class: RouteClass,
    request: &Request<Incoming>,
    id: &RequestId,
    trace: &RequestTrace,
) -> Box<AccessEntry> {
    let (settings, headers) = (&peer.front.settings, request.headers());
    let query = if request.uri().query().is_some() { "?" } else { "" };
    // Whoever does not trace may still find the caller's trace in it.
    let trace = trace.trace_id().or_else(|| RemoteParent::of(headers).map(|parent| parent.trace_id()));
    Box::new(AccessEntry {
        client: Some(settings.proxies.client(peer.address, headers).0),
        protocol: class.protocol,
        route: format!("{}{query}", class.route),
        agent: settings.classes.agent(request.uri().path()).map(str::to_owned),
        method: method_label(request.method()),
        version: match request.version() {
            Version::HTTP_10 => "HTTP/1.0",
            Version::HTTP_2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        },
        request_id: id.to_string(),
        trace_id: trace,
        referer: text(request, header::REFERER).map(AccessEntry::referer_of),
        user_agent: text(request, header::USER_AGENT).map(AccessEntry::agent_of),
        ..AccessEntry::default()
    })
}

/// The version of HTTP as OpenTelemetry writes it.
pub(crate) fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        _ => "1.1",
    }
}

pub(crate) fn scheme(tls: bool) -> &'static str {
    if tls { "https" } else { "http" }
}

fn text(request: &Request<Incoming>, name: HeaderName) -> Option<&str> {
    request.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The name that a request is for, if it is one of ours, and the port.
fn server(peer: &Peer, request: &Request<Incoming>) -> Option<(String, u16)> {
    let (host, port) = authority(request).ok()?;
    // Any other name is a caller's own text.
    let is_ours = peer.front.settings.hosts.names_one(host);
    let usual = if peer.tls { 443 } else { 80 };
    is_ours.then(|| (spans::bare(host).to_ascii_lowercase(), port.unwrap_or(usual)))
}

/// The path of a request, without what its caller chose of it.
fn told_path(class: RouteClass, agent: Option<&str>) -> String {
    let Some(pattern) = class.pattern() else { return format!("/{REDACTED}") };
    let mut path = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, name, after)) = variable(rest) {
        path.push_str(before);
        path.push_str(agent.filter(|_| name == "handle").unwrap_or(REDACTED));
        rest = after;
    }
    path.push_str(rest);
    path
}

/// The text before the first variable of a pattern, its name, and what follows.
fn variable(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_path_only_the_agent_is_told() {
        let told = |route, agent| told_path(RouteClass { protocol: "rest", route }, agent);
        assert_eq!(told("/~{handle}/ask", Some("chef")), "/~chef/ask");
        assert_eq!(told("/~{handle}", None), "/~REDACTED", "text that can be no handle is told to nobody");
        assert_eq!(told("/tasks/{id}/files/{*path}", Some("chef")), "/tasks/REDACTED/files/REDACTED");
        assert_eq!(told("/mcp", None), "/mcp");
        assert_eq!(told_path(RouteClass::UNMATCHED, Some("chef")), "/REDACTED");
    }
}
