//! Traces, metrics and logs at a collector: what it gets, with which parents, and what it never gets.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;

use crate::receiver::{Post, Receiver};
use crate::support::{Deployment, FREE_PORTS, Served, within};

/// What somebody asks, and what must be nowhere in what is exported.
const QUESTION: &str = "sesame-question";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A trace of its own for the `n`th request.
fn trace(n: u8) -> String {
    format!("{}{n:02x}", &TRACE[..30])
}

/// A span of somebody else in that trace.
fn traceparent(n: u8, flags: &str) -> String {
    format!("00-{}-{PARENT}-{flags}", trace(n))
}

/// What reached the collector.
#[derive(Default)]
pub(crate) struct Exported {
    pub(crate) spans: Vec<Span>,
    /// Of the resource.
    about: BTreeMap<String, String>,
    pub(crate) metrics: Vec<Metric>,
    /// Lines of the log: body and trace.
    lines: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
}

impl Exported {
    fn take(&mut self, post: &Post) {
        self.bytes.extend(&post.body);
        match post.target.as_str() {
            "/v1/traces" => {
                let read = ExportTraceServiceRequest::decode(post.body.as_slice()).expect("spans");
                for resource in read.resource_spans {
                    self.about = attributes(&resource.resource.unwrap_or_default().attributes);
                    self.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
                }
            }
            "/v1/metrics" => {
                let read = ExportMetricsServiceRequest::decode(post.body.as_slice()).expect("metrics");
                let scopes = read.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
                self.metrics.extend(scopes.flat_map(|scope| scope.metrics));
            }
            "/v1/logs" => {
                let read = ExportLogsServiceRequest::decode(post.body.as_slice()).expect("lines");
                let scopes = read.resource_logs.into_iter().flat_map(|resource| resource.scope_logs);
                for record in scopes.flat_map(|scope| scope.log_records) {
                    let body = record.body.and_then(|body| body.value).map_or_else(String::new, text);
                    self.lines.push((body, hex(&record.trace_id)));
                }
            }
            other => panic!("posted to {other}"),
        }
    }

    /// The span of this name in a trace.
    #[track_caller]
    fn span(&self, trace: &str, name: &str) -> &Span {
        let of_trace = || self.spans.iter().filter(|span| hex(&span.trace_id) == trace);
        let names: Vec<_> = of_trace().map(|span| span.name.as_str()).collect();
        of_trace().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} among {names:?} of {trace}"))
    }
}

fn text(value: any_value::Value) -> String {
    match value {
        any_value::Value::StringValue(text) => text,
        any_value::Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

pub(crate) fn attributes(list: &[KeyValue]) -> BTreeMap<String, String> {
    let value = |pair: &KeyValue| pair.value.clone().and_then(|value| value.value).map_or_else(String::new, text);
    list.iter().map(|pair| (pair.key.clone(), value(pair))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The gatehouse with `more` in `[telemetry]`, and @far, which asks `upstream`.
pub(crate) fn traced(collector: &Receiver, upstream: &Receiver, more: &str) -> Deployment {
    let endpoint = collector.webhook_url().replace("/hook", "");
    let far =
        format!("handle = \"far\"\nname = \"Far\"\n[backend]\nkind = \"http\"\nurl = \"{}\"\n", upstream.webhook_url());
    let down = "handle = \"down\"\nname = \"Down\"\n[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:9/\"\n";
    Deployment::gatehouse()
        .with("telemetry", &format!("endpoint = \"{endpoint}\"\n{more}"))
        .and("agents/far.toml", &far)
        .and("agents/down.toml", down)
        .open_to_loopback()
}

/// Stops the daemon, which sends what waits, and gives all that came.
pub(crate) fn stopped(served: Served, collector: &Receiver) -> Exported {
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success(), "{log}");
    let mut exported = Exported::default();
    while let Some(post) = collector.waiting() {
        exported.take(&post);
    }
    exported
}

#[test]
fn a_trace_goes_through_from_the_caller_to_the_backend() {
    let (collector, upstream) = (Receiver::start(), Receiver::answering(vec![json!({"text": "Yes."})]));
    let more = "traces = 1.0\nlogs = true\nresource = { \"deployment.environment.name\" = \"test\" }\n\
                headers = { x-key = \"collector-secret\" }";
    let served = traced(&collector, &upstream, more).serve_with(&FREE_PORTS, &[("OTEL_SERVICE_NAME", "kitchen")]);
    let asked = format!("/~far?user={QUESTION}");
    let headers = ["-H", &format!("traceparent: {}", traceparent(1, "00")), "-H", "tracestate: a=1"];
    served.curl(&asked, &headers).with_status(200);
    let sent = upstream.post();
    let on_its_way = sent.field("traceparent").expect("a traceparent goes out").to_owned();
    assert_eq!(sent.field("tracestate"), Some("a=1"));
    served.curl("/~down?user=hi", &["-H", &format!("traceparent: {}", traceparent(2, "01"))]);
    let exported = stopped(served, &collector);

    assert_eq!(exported.about["service.name"], "kitchen");
    assert_eq!(exported.about["deployment.environment.name"], "test");
    assert!(!exported.about["service.instance.id"].is_empty(), "nodes are told apart");
    let server = exported.span(&trace(1), "GET /~{handle}");
    assert_eq!(hex(&server.parent_span_id), PARENT, "the caller's span is the parent");
    let about = attributes(&server.attributes);
    assert_eq!((about["http.route"].as_str(), about["http.response.status_code"].as_str()), ("/~{handle}", "200"));
    let receive = exported.span(&trace(1), "receive");
    let gate = exported.span(&trace(1), "gate");
    let agent = exported.span(&trace(1), "invoke_agent far");
    let client = exported.span(&trace(1), "POST");
    assert_eq!(receive.parent_span_id, server.span_id);
    assert_eq!(gate.parent_span_id, receive.span_id);
    assert_eq!(agent.parent_span_id, receive.span_id);
    assert_eq!(client.parent_span_id, agent.span_id);
    assert_eq!(on_its_way, format!("00-{}-{}-01", trace(1), hex(&client.span_id)));
    assert_eq!(attributes(&agent.attributes)["gen_ai.operation.name"], "invoke_agent");
    let failed = exported.span(&trace(2), "invoke_agent down");
    assert_eq!(failed.status.as_ref().map(|status| status.code), Some(2), "{failed:?}");

    for name in ["forecourt_http_requests", "forecourt_build_info", "process_resident_memory_bytes"] {
        assert!(exported.metrics.iter().any(|metric| metric.name == name), "no {name} in {:?}", exported.metrics);
    }
    assert!(exported.lines.iter().any(|(_, id)| *id == trace(2)), "a line belongs to it: {:?}", exported.lines);
    let all = String::from_utf8_lossy(&exported.bytes);
    for secret in [QUESTION, "collector-secret", "Yes.", "/hook"] {
        assert!(!all.contains(secret), "{secret} was exported");
    }
}

#[test]
fn every_wire_carries_traces() {
    let (collector, upstream) = (Receiver::start(), Receiver::start());
    let served = traced(&collector, &upstream, "traces = 1.0").serve();
    let parent = |n| format!("traceparent: {}", traceparent(n, "00"));
    let post = |path: &str, n, body: &serde_json::Value, more: &[&str]| {
        let body = body.to_string();
        let own = ["-H", "Content-Type: application/json", "-d", &body, "-H", &parent(n)];
        served.curl(path, &[&own[..], more].concat())
    };
    let message =
        json!({"role": "user", "messageId": "m1", "kind": "message", "parts": [{"kind": "text", "text": QUESTION}]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}});
    post("/a2a/echo", 1, &call, &[]).with_status(200);
    post("/~echo/ask", 2, &json!({"query": {"text": QUESTION}}), &[]);
    let meta = json!({
        "traceparent": traceparent(4, "01"), "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "ask_echo", "arguments": {"message": QUESTION}, "_meta": meta}
    });
    let direct = [
        "-H",
        "MCP-Protocol-Version: 2026-07-28",
        "-H",
        "Mcp-Method: tools/call",
        "-H",
        "Mcp-Name: ask_echo",
        "-H",
        "Accept: application/json, text/event-stream",
    ];
    post("/mcp", 3, &call, &direct);
    let later = ["-H", "Prefer: respond-async", "-F", "user=later", "-H", &parent(5)];
    served.curl("/~echo", &later).with_status(202);
    let field = format!("Traceparent: {}", traceparent(6, "00"));
    served.deployment.run("agtp", ["DISCOVER", "agtp://demo.localhost/agents", "-H", &field]).fine();
    let exported = stopped(served, &collector);

    for (n, name) in [(1, "POST /a2a/{*path}"), (2, "POST /~{handle}/ask"), (3, "POST /mcp"), (6, "DISCOVER agtp")] {
        assert_eq!(hex(&exported.span(&trace(n), name).parent_span_id), PARENT, "{name}");
    }
    let tool = exported.span(&trace(4), "tools/call ask_echo");
    assert_eq!(hex(&tool.parent_span_id), PARENT, "what `_meta` says goes before the header");
    assert_eq!(attributes(&tool.attributes)["mcp.method.name"], "tools/call");
    assert_eq!(tool.links[0].span_id, exported.span(&trace(3), "POST /mcp").span_id);
    let request = exported.spans.iter().find(|span| hex(&span.trace_id) == trace(5) && span.name.starts_with("POST "));
    let task = exported.spans.iter().find(|span| span.name == "task echo").expect("a task");
    assert_ne!(hex(&task.trace_id), trace(5), "work in the background is a trace of its own");
    assert_eq!(hex(&task.links[0].trace_id), trace(5));
    assert!(request.is_some());
    let stored = exported.spans.iter().find(|span| span.name == "create_task").expect("the store");
    assert_eq!(stored.trace_id, task.trace_id, "it is written down where it is worked on");
    let about = attributes(&stored.attributes);
    assert_eq!((about["db.system.name"].as_str(), about["db.operation.name"].as_str()), ("sqlite", "create_task"));
    assert!(about.len() <= 4, "nothing else is told of it: {about:?}");
    assert!(!String::from_utf8_lossy(&exported.bytes).contains(QUESTION));
}

#[test]
fn strangers_decide_nothing_and_proxies_do() {
    let (collector, upstream) = (Receiver::start(), Receiver::start());
    let served = traced(&collector, &upstream, "traces = 0.0").serve();
    served.curl("/~far?user=hi", &["-H", &format!("traceparent: {}", traceparent(1, "01"))]);
    let on_its_way = upstream.post().field("traceparent").expect("the trace goes on").to_owned();
    assert!(on_its_way.starts_with(&format!("00-{}-", trace(1))) && on_its_way.ends_with("-00"), "{on_its_way}");
    served.curl("/~far?user=hi", &["-H", "traceparent: 00-junk", "-H", "tracestate: a=1"]);
    let fresh = upstream.post();
    assert!(
        fresh.field("traceparent").is_some_and(|parent| parent.ends_with("-00")) && fresh.field("tracestate").is_none()
    );
    assert_eq!(stopped(served, &collector).spans.len(), 0);

    let (collector, upstream) = (Receiver::start(), Receiver::start());
    let proxied = traced(&collector, &upstream, "traces = 0.0");
    let text = proxied.read("forecourt.toml");
    proxied.write("forecourt.toml", &format!("trusted_proxies = [\"127.0.0.0/8\"]\n{text}"));
    let served = proxied.serve();
    for (n, flags) in [(1, "01"), (2, "00")] {
        served.curl("/~echo?user=hi", &["-H", &format!("traceparent: {}", traceparent(n, flags))]).with_status(200);
    }
    let exported = stopped(served, &collector);
    assert!(exported.spans.iter().all(|span| hex(&span.trace_id) == trace(1)) && !exported.spans.is_empty());
}

#[test]
fn a_collector_that_is_away_costs_a_count() {
    let upstream = Receiver::start();
    // A port on which nobody listens.
    let more = "traces = 1.0\nqueue_max = 1\nendpoint = \"http://127.0.0.1:9\"";
    let served = Deployment::gatehouse().with("telemetry", more).serve();
    drop(upstream);
    for _ in 0..20 {
        served.curl("/~echo?user=hi", &[]).with_status(200);
    }
    let lost =
        |reason: &str| format!("forecourt_telemetry_dropped_items_total{{signal=\"traces\",reason=\"{reason}\"}}");
    within("lost spans are counted", || {
        let metrics = served.operator("/metrics").text();
        (metrics.contains(&lost("unreachable")) && metrics.contains(&lost("queue_full"))).then_some(())
    });
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success());
    assert_eq!(log.matches("took nothing").count(), 1, "it is said once: {log}");
}

#[test]
fn nothing_is_traced_until_somebody_says_where() {
    let upstream = Receiver::start();
    let far =
        format!("handle = \"far\"\nname = \"Far\"\n[backend]\nkind = \"http\"\nurl = \"{}\"\n", upstream.webhook_url());
    let served = Deployment::gatehouse().and("agents/far.toml", &far).open_to_loopback().serve();
    served.curl("/~far?user=hi", &["-H", &format!("traceparent: {}", traceparent(1, "01"))]);
    assert_eq!(upstream.post().field("traceparent"), None);
}
