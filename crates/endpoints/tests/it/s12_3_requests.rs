//! Section 12.3: what goes out to a service elsewhere, and what can't be registered.

use forecourt_contract::limits::SERVICE_ADDRESS_BYTES_DEFAULT;
use forecourt_contract::{Call, Refusal};
use forecourt_egress::{Egress, EgressConfig};
use serde_json::{Value, json};

use crate::support::{answer, call, deployment, endpoint, loaded, loaded_with, problems, terms};
use crate::upstream::Upstream;

pub(crate) const ERRORS: &str = "errors = [\"upstream_timeout\", \"upstream_connection_error\", \
    \"upstream_malformed_response\", \"upstream_authentication_failed\", \"upstream_error\", \"room_not_found\"]\n";

/// The file of an endpoint in front of a service.
pub(crate) fn service(path: &str, method: &str, url: &str, more: &str) -> String {
    let handler = format!(
        "{ERRORS}[endpoint.handler]\ntype = \"external_service\"\nmethod = \"{method}\"\nurl = \"{url}\"\n{more}"
    );
    endpoint("QUERY", path, &handler)
}

/// Calls an endpoint in front of a service, which answers `{}`.
async fn sent(path: &str, method: &str, rest: &str, more: &str, call: Call) -> (String, Vec<String>, String) {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let folder = deployment(&[("endpoints/a.toml", &service(path, method, &upstream.url(rest), more))]);
    let loaded = loaded(folder.path());
    assert_eq!(problems(&loaded), Vec::<String>::new());
    assert_eq!(answer(&loaded, call).await, Ok(json!({})));
    upstream.request()
}

fn query(path: &str, input: Value) -> Call {
    call("QUERY", path, input)
}

#[tokio::test]
async fn s12_3_a_body_has_what_is_not_in_the_url_under_the_names_of_the_service() {
    let input = json!({"n": 1, "deep": {"n": 2}, "on": null});
    let renamed = "input_transform = { n = \"guestCount\", id = \"unused\" }";
    let (line, fields, body) =
        sent("/rooms/{id}", "POST", "/v1/{id}/book?dry={on}&fix=1", renamed, query("/rooms/a%20b", input)).await;
    assert_eq!(line, "POST /v1/a%20b/book?fix=1 HTTP/1.1");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({"guestCount": 1, "deep": {"n": 2}}));
    assert!(fields.contains(&"content-type: application/json".to_owned()), "{fields:?}");
    assert!(fields.contains(&"accept: application/json".to_owned()), "{fields:?}");
}

#[tokio::test]
async fn s12_3_without_a_body_the_query_has_it() {
    for method in ["GET", "DELETE", "OPTIONS"] {
        let input = json!({"n": "a&b=c #%+", "on": true, "list": [1, "x y", null], "deep": {"a": [1]}});
        let (line, fields, body) =
            sent("/rooms", method, "/v1?q={id}&z=1", "input_transform = { on = \"isOn\" }", query("/rooms", input))
                .await;
        let expected = "/v1?z=1&deep=%7B%22a%22%3A%5B1%5D%7D&isOn=true&list=1&list=x%20y&n=a%26b%3Dc%20%23%25%2B";
        assert_eq!(line, format!("{method} {expected} HTTP/1.1"));
        assert_eq!(body, "");
        assert!(!fields.iter().any(|field| field.starts_with("content-type")), "{fields:?}");
    }
}

#[tokio::test]
async fn s12_3_a_field_is_written_in_the_style_of_the_service() {
    let list = json!(["a,b", 2, null, true]);
    let object = json!({"min": 1, "of": ["x", "y"]});
    for (style, value, query) in [
        ("repeat", &list, "l=a%2Cb&l=2&l=true"),
        ("comma", &list, "l=a%2Cb,2,true"),
        ("space", &list, "l=a%2Cb%202%20true"),
        ("pipe", &list, "l=a%2Cb%7C2%7Ctrue"),
        ("json", &list, "l=%5B%22a%2Cb%22%2C2%2Cnull%2Ctrue%5D"),
        ("deep", &object, "l%5Bmin%5D=1&l%5Bof%5D%5B0%5D=x&l%5Bof%5D%5B1%5D=y"),
        ("deep", &list, "l%5B0%5D=a%2Cb&l%5B1%5D=2&l%5B2%5D=true"),
        ("reserved", &json!("x/y:z&?"), "l=x/y:z%26?"),
        ("fields", &object, "min=1&of=x&of=y"),
        ("comma", &object, "l=min,1,of,%5B%22x%22%2C%22y%22%5D"),
        ("comma", &json!(7), "l=7"),
        ("fields", &json!("x"), "l=x"),
    ] {
        let more = format!("input_transform = {{ deep = \"l\" }}\ninput_styles = {{ deep = \"{style}\" }}");
        for (method, rest) in [("GET", "/v1"), ("POST", "/v1?z=1")] {
            let mark = if method == "GET" { "?" } else { "?z=1&" };
            let (line, _, _) = sent("/rooms", method, rest, &more, self::query("/rooms", json!({"deep": value}))).await;
            assert_eq!(line, format!("{method} /v1{mark}{query} HTTP/1.1"), "{style} {value}");
        }
        let (line, _, _) = sent("/rooms", "GET", "/v1", &more, self::query("/rooms", json!({"deep": []}))).await;
        let nothing = if style == "json" { "/v1?l=%5B%5D" } else { "/v1" };
        assert_eq!(line, format!("GET {nothing} HTTP/1.1"), "{style}");
    }
}

#[tokio::test]
async fn s12_3_fields_that_go_to_two_places_may_have_one_name() {
    let more = "input_transform = { list = \"n\", id = \"n\" }\n\
        input_styles = { list = \"comma\", id = \"header\" }";
    let input = json!({"n": 1, "list": [2, 3], "id": "4"});
    let (line, fields, body) = sent("/rooms", "POST", "/v1", more, query("/rooms", input)).await;
    assert_eq!((line.as_str(), body.as_str()), ("POST /v1?n=2,3 HTTP/1.1", "{\"n\":1}"));
    assert!(fields.contains(&"n: 4".to_owned()), "{fields:?}");
}

#[tokio::test]
async fn s12_3_no_caller_says_again_what_the_operator_says_in_the_query() {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let (styled, renamed) = ("input_styles = { deep = \"fields\" }", "input_transform = { n = \"ten ant\" }");
    for (method, more, input) in [
        ("GET", styled, json!({"deep": {"ten ant": "theirs"}})),
        ("POST", styled, json!({"deep": {"ten ant": "theirs"}})),
        ("GET", renamed, json!({"n": "theirs"})),
    ] {
        let text = service("/rooms", method, &upstream.url("/v1?ten%20ant=ours"), more);
        let folder = deployment(&[("endpoints/a.toml", &text)]);
        let refusal = answer(&loaded(folder.path()), query("/rooms", input)).await.unwrap_err();
        assert!(refusal.to_string().starts_with("`ten ant` is said"), "{refusal:?}");
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn s12_3_a_long_name_is_not_written_for_each_item_beneath_it() {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let long = "n".repeat(400_000);
    let (items, members) = (vec![1; 200_000], Value::from_iter((0..50_000).map(|n| (n.to_string(), json!({})))));
    for style in ["deep", "fields"] {
        let more = format!("input_styles = {{ deep = \"{style}\" }}");
        let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "GET", &upstream.url("/v1"), &more))]);
        // Eighty gigabytes, were all of them written.
        let input = json!({"deep": {&long: &items, format!("{long}m"): &members}});
        let refusal = answer(&loaded(folder.path()), query("/rooms", input)).await.unwrap_err();
        assert!(matches!(&refusal, Refusal::Input { .. }), "{}", refusal.kind());
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn s12_3_a_caller_fills_the_header_fields_that_the_operator_names() {
    let more = "input_transform = { id = \"If-Match\" }\ninput_styles = { id = \"header\", list = \"header\" }";
    let input = json!({"id": "\"v7\"", "list": ["de", "en"], "n": 1});
    let (_, fields, body) = sent("/rooms", "POST", "/v1", more, query("/rooms", input)).await;
    for field in ["if-match: \"v7\"", "list: de,en"] {
        assert!(fields.contains(&field.to_owned()), "{fields:?}");
    }
    assert_eq!(body, "{\"n\":1}");
    let upstream = Upstream::answering("200 OK", "{}").await;
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "POST", &upstream.url("/v1"), more))]);
    for id in ["a\r\nX: 1", "caf\u{e9}", "\0"] {
        let refusal = answer(&loaded(folder.path()), query("/rooms", json!({"id": id}))).await.unwrap_err();
        assert!(matches!(&refusal, Refusal::Input { violation, .. } if violation.field == "/id"), "{refusal:?}");
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn s12_3_nothing_tells_the_service_who_calls() {
    let mut call = query("/rooms", json!({"n": 1}));
    call.caller.agent_id = Some("f00dface".into());
    call.idempotency_key = Some("once-only".into());
    call.thread.task_id = Some("task-seven".into());
    call.thread.session_id = Some("session-nine".into());
    let (line, fields, body) = sent("/rooms", "POST", "/v1", "", call).await;
    let all = format!("{line}\n{}\n{body}", fields.join("\n"));
    for secret in ["f00dface", "once-only", "task-seven", "session-nine", "agtp", "principal"] {
        assert!(!all.contains(secret), "{all}");
    }
}

#[tokio::test]
async fn s12_3_headers_are_the_operators_with_secrets_from_the_environment() {
    let headers = "headers = { Authorization = \"Bearer ${TOKEN}\", Content-Type = \"application/vnd.rooms+json\", accept = \"*/*\" }";
    let (_, fields, _) = sent("/rooms", "PUT", "/v1", headers, query("/rooms", json!({}))).await;
    for field in ["authorization: bearer s3cret", "content-type: application/vnd.rooms+json", "accept: */*"] {
        assert_eq!(fields.iter().filter(|found| *found == field).count(), 1, "{field} in {fields:?}");
    }
}

#[tokio::test]
async fn s12_3_an_unresolved_secret_refuses_the_endpoint() {
    let text =
        service("/rooms", "GET", "https://api.example/v1", "headers = { Authorization = \"Bearer ${MISSING}\" }");
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    assert_eq!(problems(&loaded(folder.path())), ["a.toml:14: the environment variable `MISSING` is not set"]);
}

#[tokio::test]
async fn what_a_caller_says_does_not_leave_its_segment() {
    for (id, segment) in [
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("%2e%2e", "%252e%252e"),
        ("..;", "..%3B"),
        ("\u{e9}", "%C3%A9"),
        ("@evil.example", "%40evil.example"),
    ] {
        let (line, fields, _) = sent("/rooms", "GET", "/v1/{id}", "", query("/rooms", json!({"id": id}))).await;
        assert_eq!(line, format!("GET /v1/{segment} HTTP/1.1"));
        assert!(fields.iter().any(|field| field.starts_with("host: 127.0.0.1:")), "{fields:?}");
    }
}

#[tokio::test]
async fn what_can_not_stand_in_the_url_is_refused_before_anything_is_sent() {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let in_path = service("/rooms", "GET", &upstream.url("/v1/{n}/x"), "");
    let mixed = service("/halls", "GET", &upstream.url("/v1/.{n}"), "");
    let folder = deployment(&[("endpoints/a.toml", &in_path), ("endpoints/b.toml", &mixed)]);
    let loaded = loaded(folder.path());
    let cases = [
        ("/rooms", json!({})),
        ("/rooms", json!({"n": null})),
        ("/rooms", json!({"n": ""})),
        ("/rooms", json!({"n": "."})),
        ("/rooms", json!({"n": ".."})),
        ("/rooms", json!({"n": [1]})),
        ("/rooms", json!({"n": {"a": 1}})),
        ("/halls", json!({"n": "."})),
        ("/rooms", json!({"n": "a", "list": "x".repeat(SERVICE_ADDRESS_BYTES_DEFAULT)})),
    ];
    for (path, input) in cases {
        let refusal = answer(&loaded, query(path, input.clone())).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Input { .. }), "{input}: {refusal:?}");
    }
    assert_eq!(upstream.seen().len(), 0);
}

#[test]
fn s12_3_plain_http_is_not_registered_unless_it_was_opened() {
    let shut = |allow: &[&str], allow_http| {
        let allow = allow.iter().map(|net| net.parse().unwrap()).collect();
        Egress::builder(EgressConfig { allow, allow_http, ..EgressConfig::default() }).build().unwrap()
    };
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "GET", "http://127.0.0.1:9/v1", ""))]);
    let found = |egress| problems(&loaded_with(folder.path(), terms(json!({})), egress));
    for egress in [shut(&[], false), shut(&["127.0.0.0/8"], false), shut(&[], true), shut(&["10.0.0.0/8"], true)] {
        let found = found(egress);
        assert!(found.len() == 1 && found[0].starts_with("a.toml:10: external-service-bad-scheme"), "{found:?}");
    }
    assert_eq!(found(shut(&["127.0.0.0/8"], true)), Vec::<String>::new());
}

#[test]
fn s12_3_https_is_registered_without_asking_for_an_address() {
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "GET", "https://nowhere.invalid/v1", ""))]);
    let shut = Egress::builder(EgressConfig::default()).build().unwrap();
    assert_eq!(problems(&loaded_with(folder.path(), terms(json!({})), shut)), Vec::<String>::new());
}

#[test]
fn what_is_wrong_with_a_url_is_said_without_its_secrets() {
    for rest in ["/v1/{n?key=${TOKEN}", "/v1?key=${TOKEN}{n", "/v1?key=${TOKEN}&{n}=1"] {
        let text = service("/rooms", "GET", &format!("https://api.example{rest}"), "");
        let loaded = loaded(deployment(&[("endpoints/a.toml", &text)]).path());
        assert!(problems(&loaded)[0].contains("bad-placeholder"), "{rest}");
        assert!(!loaded.refused.to_string().contains("s3cret"), "{}", loaded.refused);
    }
}

#[test]
fn what_could_never_be_sent_is_refused_at_load() {
    let cases = [
        ("/v1/{none}", "", "external-service-placeholder-undeclared:none"),
        ("/v1/{n", "", "external-service-bad-placeholder"),
        ("/v1/n}", "", "external-service-bad-placeholder"),
        ("/v1/{}", "", "external-service-bad-placeholder"),
        ("/v1/{{n}}", "", "external-service-bad-placeholder"),
        ("/v1?{n}=1", "", "external-service-bad-placeholder"),
        ("/v1?a={n", "", "external-service-bad-placeholder"),
        ("/a b", "", "external-service-bad-url"),
        ("/v1", "input_styles = { nowhere = \"comma\" }", "external-service-style-undeclared:nowhere"),
        ("/v1/{n}", "input_styles = { n = \"comma\" }", "external-service-style-undeclared:n"),
        ("/v1", "input_transform = { n = \"a b\" }\ninput_styles = { n = \"header\" }", "external-service-bad-style"),
        (
            "/v1",
            "input_transform = { n = \"X-A\", on = \"x-a\" }\ninput_styles = { n = \"header\", on = \"header\" }",
            "external-service-bad-transform",
        ),
        ("/v1", "input_transform = { n = \"on\" }", "external-service-bad-transform"),
        ("/v1", "input_transform = { n = \"x\", on = \"x\" }", "external-service-bad-transform"),
        ("/v1", "output_transform = { a = \"x\", b = \"x\" }", "external-service-bad-transform"),
    ];
    for (rest, more, tag) in cases {
        let text = service("/rooms", "GET", &format!("https://api.example{rest}"), more);
        let found = problems(&loaded(deployment(&[("endpoints/a.toml", &text)]).path()));
        assert!(found.len() == 1 && found[0].starts_with(&format!("a.toml:10: {tag}")), "{rest} {more}: {found:?}");
    }
    let swapped = service(
        "/rooms",
        "GET",
        "https://api.example/{list}",
        "input_transform = { n = \"on\", on = \"n\", id = \"list\" }",
    );
    assert_eq!(problems(&loaded(deployment(&[("endpoints/a.toml", &swapped)]).path())), Vec::<String>::new());
}
