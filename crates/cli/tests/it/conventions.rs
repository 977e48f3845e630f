//! What reaches a collector is held against OpenTelemetry's published registry: names, types, allowed values, what must
//! be there. `conventions/registry.json` has the part of it that concerns spans and metrics of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use opentelemetry_proto::tonic::common::v1::any_value::Value as Otel;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::{DOMAIN, Served, within};
use crate::telemetry::{attributes, stopped, traced};

/// The part of the registry.
fn registry() -> Value {
    serde_json::from_str(include_str!("conventions/registry.json")).unwrap()
}

/// The type of a value in the words of the registry.
fn kind_of(value: &Otel) -> &'static str {
    match value {
        Otel::StringValue(_) => "string",
        Otel::IntValue(_) => "int",
        Otel::DoubleValue(_) => "double",
        Otel::BoolValue(_) => "boolean",
        Otel::ArrayValue(list) if list.values.iter().all(|one| matches!(one.value, Some(Otel::StringValue(_)))) => {
            "string[]"
        }
        _ => "something else",
    }
}

/// What a span or a point is by the registry: all of it, or why not.
fn check(about: &Value, name: &str, attributes: &[KeyValue]) -> Result<(), String> {
    let registry = registry();
    let names: BTreeSet<&str> = attributes.iter().map(|pair| pair.key.as_str()).collect();
    if names.len() != attributes.len() {
        return Err(format!("{name}: an attribute stands twice: {attributes:?}"));
    }
    let list = |key: &str| about[key].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
    if let Some(missing) = list("required").find(|required| !names.contains(required)) {
        return Err(format!("{name}: {missing} is missing among {names:?}"));
    }
    for pair in attributes.iter().filter(|pair| !pair.key.starts_with("forecourt.")) {
        let KeyValue { key, value: Some(AnyValue { value: Some(value) }), .. } = pair else {
            return Err(format!("{name}: {} has no value", pair.key));
        };
        if !list("required").chain(list("allowed")).any(|known| known == key) {
            return Err(format!("{name}: {key} is none of its attributes"));
        }
        if registry["types"][key] != kind_of(value) {
            return Err(format!("{name}: {key} is {value:?}, and no {}", registry["types"][key]));
        }
        let (Some(values), Otel::StringValue(text)) = (registry["values"][key].as_array(), value) else { continue };
        if !values.iter().any(|known| known == text) {
            return Err(format!("{name}: {key} is {text:?}"));
        }
    }
    // A port says nothing without its address, and of a server both are told.
    match names.contains("server.address") == names.contains("server.port") {
        true => Ok(()),
        false => Err(format!("{name}: an address without a port, or a port without an address")),
    }
}

/// Which convention a span is of; none for those that are ours alone.
fn convention(span: &Span) -> Option<&'static str> {
    let of = attributes(&span.attributes);
    let operation = of.get("gen_ai.operation.name").map(String::as_str);
    match operation {
        _ if of.contains_key("mcp.method.name") => Some("mcp.server"),
        Some("chat") => Some("gen_ai.inference.client"),
        Some("invoke_agent") => Some("gen_ai.invoke_agent.internal"),
        Some("execute_tool") => Some("gen_ai.execute_tool.internal"),
        _ if of.contains_key("db.system.name") => Some("db.client"),
        _ if of.contains_key("http.request.method") && span.kind == 2 => Some("http.server"),
        _ if of.contains_key("http.request.method") => Some("http.client"),
        _ => None,
    }
}

fn check_span(span: &Span) -> Result<Option<&'static str>, String> {
    let Some(name) = convention(span) else {
        let own = ["forecourt.", "gen_ai.agent.name", "network.protocol.name", "messaging.", "error.type"];
        let odd = span.attributes.iter().find(|pair| !own.iter().any(|start| pair.key.starts_with(start)));
        return match odd {
            Some(odd) => Err(format!("{}: {} is no attribute of ours", span.name, odd.key)),
            None => told_as_error(span).map(|()| None),
        };
    };
    let about = registry()["spans"][name].clone();
    check(&about, &format!("{name} ({})", span.name), &span.attributes)?;
    let kind = ["", "internal", "server", "client", "producer", "consumer"][usize::try_from(span.kind).unwrap()];
    if about["kind"] != kind {
        return Err(format!("{}: its kind is {kind}", span.name));
    }
    told_as_error(span).map(|()| Some(name))
}

/// The status of an error and an `error.type` go together.
fn told_as_error(span: &Span) -> Result<(), String> {
    let has_error = span.attributes.iter().any(|pair| pair.key == "error.type");
    let is_error = span.status.as_ref().is_some_and(|status| status.code == 2);
    match has_error == is_error {
        true => Ok(()),
        false => Err(format!("{}: the status of an error and an `error.type` go together", span.name)),
    }
}

fn check_metric(metric: &Metric) -> Result<Vec<BTreeMap<String, String>>, String> {
    let about = registry()["metrics"][&metric.name].clone();
    let Some(Data::Histogram(histogram)) = &metric.data else { return Err(format!("{}: no histogram", metric.name)) };
    if about["unit"] != *metric.unit {
        return Err(format!("{}: {:?}", metric.name, metric.unit));
    }
    let bounds: Vec<f64> = about["bounds"].as_array().unwrap().iter().map(|bound| bound.as_f64().unwrap()).collect();
    for point in &histogram.data_points {
        if point.explicit_bounds != bounds {
            return Err(format!("{}: {:?}", metric.name, point.explicit_bounds));
        }
        check(&about, &metric.name, &point.attributes)?;
    }
    Ok(histogram.data_points.iter().map(|point| attributes(&point.attributes)).collect())
}

/// What a provider does behind the first words of a reply.
#[derive(Clone, Copy)]
enum Behind {
    /// It closes in the middle.
    Broken,
    /// It says nothing more, and keeps the connection.
    Silence,
}

/// A provider of models whose replies begin and never end well. Gives its address.
fn half_a_reply(behind: Behind) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            if begin(&mut stream).is_some() && matches!(behind, Behind::Silence) {
                open.push(stream);
            }
        }
    });
    format!("http://127.0.0.1:{port}/v1")
}

fn begin(stream: &mut TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    let chunk = json!({"id": "chatcmpl-7", "model": "tiny-2", "choices": [{"delta": {"content": "first words"}}]});
    let event = format!("data: {chunk}\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    write!(stream, "{head}{:x}\r\n{event}\r\n", event.len()).ok()?;
    stream.flush().ok()
}

/// An agent of a model.
fn agent(handle: &str, url: &str, more: &str) -> (String, String) {
    let text = format!(
        "handle = \"{handle}\"\nname = \"A model\"\n[backend]\nkind = \"model\"\nbase_url = \"{url}\"\n\
         model = \"tiny\"\n{more}"
    );
    (format!("agents/{handle}.toml"), text)
}

/// Asks for a stream of events, and goes away when the first words have come.
fn leave_in_the_middle(served: &Served, path: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", served.http)).unwrap();
    let host = format!("{DOMAIN}:{}", served.http);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n").unwrap();
    let mut read = String::new();
    let mut piece = [0; 1024];
    while !read.contains("first words") {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "closed after {read}");
        read.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
}

#[test]
fn spans_and_metrics_are_those_of_the_registry() {
    let (collector, upstream) = (Receiver::start(), Receiver::answering(vec![json!({"text": "Yes."})]));
    let said = json!({
        "id": "chatcmpl-1", "model": "tiny-2", "choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 100}}
    });
    let arguments = json!({"agent": "echo", "message": "sesame"}).to_string();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "ask_agent", "arguments": arguments}});
    let asks =
        json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let provider = Receiver::answering(vec![asks, said]);
    let whole = agent("whole", &provider.webhook_url(), "stream = false\ntemperature = 0.5\nmax_tokens = 100\n");
    let broken = agent("broken", &half_a_reply(Behind::Broken), "provider = \"mistral\"\napi_key = \"k\"\n");
    let silent = agent("silent", &half_a_reply(Behind::Silence), "");
    let away = agent("away", "http://127.0.0.1:9/v1", "");
    let mut deployment = traced(&collector, &upstream, "traces = 1.0");
    for (name, text) in [&whole, &broken, &silent, &away] {
        deployment = deployment.and(name, text);
    }
    let served = deployment.serve();
    served.curl("/~whole?user=sesame", &["-A", "curl/8"]).with_status(200);
    // What is answered in time need not be kept, but this must be.
    served.curl("/~echo", &["-F", "user=later", "-H", "Prefer: respond-async"]).with_status(202);
    served.curl("/~away", &["-F", "user=later", "-H", "Prefer: respond-async"]).with_status(202);
    for handle in ["broken", "away", "far"] {
        served.curl(&format!("/~{handle}?user=sesame"), &[]);
    }
    served.curl("/made/sesame/up", &[]).with_status(404);
    served.curl("/~whole", &["-X", "BREW"]);
    leave_in_the_middle(&served, "/~silent?user=sesame");
    within("who left is counted", || {
        let metrics = served.operator("/metrics").text();
        metrics.contains("error_type=\"caller_left\"").then_some(())
    });
    let exported = stopped(served, &collector);

    let mut seen = BTreeSet::new();
    for span in &exported.spans {
        seen.extend(check_span(span).unwrap());
    }
    let expected = [
        "db.client",
        "gen_ai.execute_tool.internal",
        "gen_ai.inference.client",
        "gen_ai.invoke_agent.internal",
        "http.client",
        "http.server",
    ];
    assert!(expected.iter().all(|name| seen.contains(name)), "{seen:?}");
    let of = |name: &str, key: &str, value: &str| {
        let found = exported.spans.iter().filter(|span| span.name == name).map(|span| attributes(&span.attributes));
        let found: Vec<_> = found.collect();
        let one = found.iter().find(|about| about.get(key).is_some_and(|own| own == value)).cloned();
        one.unwrap_or_else(|| panic!("no {name} with {key} = {value} among {found:?}"))
    };
    let server = of("GET /~{handle}", "url.path", "/~whole");
    assert_eq!((server["url.query"].as_str(), server["user_agent.original"].as_str()), ("REDACTED", "curl/8"));
    assert_eq!((server["server.address"].as_str(), server["client.address"].as_str()), (DOMAIN, "127.0.0.1"));
    assert_eq!(server["network.protocol.version"], "1.1");
    assert_eq!(of("GET", "http.response.status_code", "404")["url.path"], "/REDACTED");
    let brewed = of("HTTP /~{handle}", "http.request.method", "_OTHER");
    assert_eq!(brewed["http.request.method_original"], "BREW");
    assert!(!brewed.contains_key("error.type"), "what a caller does wrong is no error of a server: {brewed:?}");
    assert_eq!(of("GET /~{handle}", "url.path", "/~silent")["error.type"], "caller_left");
    let task = of("task away", "gen_ai.agent.name", "away");
    assert_eq!(
        (&task["error.type"], task["error.type"].as_str()),
        (&task["forecourt.outcome"], "upstream-unreachable")
    );
    let chat = of("chat tiny", "gen_ai.response.id", "chatcmpl-1");
    for (key, value) in [
        ("gen_ai.response.model", "tiny-2"),
        ("gen_ai.usage.input_tokens", "300"),
        ("gen_ai.usage.output_tokens", "20"),
        ("gen_ai.usage.cache_read.input_tokens", "100"),
        ("gen_ai.request.max_tokens", "100"),
        ("server.address", "127.0.0.1"),
    ] {
        assert_eq!(chat[key], value, "{key}");
    }
    assert!(chat.contains_key("gen_ai.response.finish_reasons") && !chat.contains_key("error.type"), "{chat:?}");
    assert_eq!(of("chat tiny", "error.type", "broken")["gen_ai.provider.name"], "mistral_ai");
    of("chat tiny", "error.type", "unreachable");
    of("chat tiny", "error.type", "canceled");

    let mut series = BTreeMap::new();
    for metric in exported.metrics.iter().filter(|metric| registry()["metrics"].get(&metric.name).is_some()) {
        series.insert(metric.name.as_str(), check_metric(metric).unwrap());
    }
    assert_eq!(series.len(), registry()["metrics"].as_object().unwrap().len(), "{:?}", series.keys());
    let has = |metric: &str, key: &str, value: &str| {
        series[metric].iter().any(|labels| labels.get(key).is_some_and(|own| own == value))
    };
    assert!(has("http.server.request.duration", "http.request.method", "_OTHER"));
    assert!(has("http.server.request.duration", "error.type", "caller_left"));
    assert!(has("gen_ai.client.operation.duration", "gen_ai.provider.name", "mistral_ai"));
    assert!(has("gen_ai.client.token.usage", "gen_ai.token.type", "output"));
    let all = String::from_utf8_lossy(&exported.bytes);
    for said in ["sesame", "Fine.", "first words"] {
        assert!(!all.contains(said), "{said} was exported");
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let pair = |key: &str, value: Otel| KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    };
    let text = |text: &str| Otel::StringValue(text.to_owned());
    let whole = || {
        vec![
            pair("http.request.method", text("GET")),
            pair("url.path", text("/")),
            pair("url.scheme", text("http")),
            pair("forecourt.protocol", text("mcp")),
        ]
    };
    let span = |attributes: Vec<KeyValue>| Span { attributes, kind: 2, ..Span::default() };
    assert_eq!(check_span(&span(whole())), Ok(Some("http.server")));
    let with = |more: KeyValue| [whole(), vec![more]].concat();
    for (wrong, said) in [
        (whole().into_iter().filter(|pair| pair.key != "url.path").collect(), "missing"),
        (with(pair("http.status_code", Otel::IntValue(200))), "none of its attributes"),
        (with(pair("http.response.status_code", text("200"))), "no \"int\""),
        (with(pair("url.scheme", text("http"))), "twice"),
        (with(pair("network.protocol.version", text("HTTP/1.1"))), "HTTP/1.1"),
        (with(pair("server.address", text("a"))), "without a port"),
        (with(pair("error.type", text("500"))), "go together"),
    ] {
        let told = check_span(&span(wrong)).unwrap_err();
        assert!(told.contains(said), "{told}");
    }
}
