//! Section 12.3: bodies that are no JSON object, answers that are no JSON, and the reasons of a service.

use forecourt_contract::Refusal;
use serde_json::{Value, json};

use crate::s12_3_requests::service;
use crate::support::{answer, call, deployment, loaded, problems};
use crate::upstream::{Act, Upstream};

/// What a service is sent for an input: its first line, its media type and its body.
async fn sent(method: &str, more: &str, input: Value) -> Result<(String, Option<String>, String), Refusal> {
    let upstream = Upstream::answering("200 OK", "{}").await;
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", method, &upstream.url("/v1"), more))]);
    let loaded = loaded(folder.path());
    assert_eq!(problems(&loaded), Vec::<String>::new());
    answer(&loaded, call("QUERY", "/rooms", input)).await?;
    let (line, fields, body) = upstream.request();
    let media = fields.iter().find_map(|field| field.strip_prefix("content-type: ")).map(str::to_owned);
    Ok((line, media, body))
}

async fn body(more: &str, input: Value) -> String {
    sent("POST", more, input).await.unwrap().2
}

const FORM: &str = "media = \"application/x-www-form-urlencoded\"";

#[tokio::test]
async fn a_form_is_written_as_its_service_reads_it() {
    let input =
        json!({"n": 1.5, "on": true, "list": ["a b", "c&d"], "deep": {"x": [{"y": 1}, {"y": null}], "z": "\u{e9}"}});
    let (line, media, form) = sent("POST", &format!("body = {{ {FORM} }}"), input.clone()).await.unwrap();
    assert_eq!((line.as_str(), media.as_deref()), ("POST /v1 HTTP/1.1", Some("application/x-www-form-urlencoded")));
    let object = "deep=%7B%22x%22%3A%5B%7B%22y%22%3A1%7D%2C%7B%22y%22%3Anull%7D%5D%2C%22z%22%3A%22%C3%A9%22%7D";
    assert_eq!(form, format!("{object}&list=a%20b&list=c%26d&n=1.5&on=true"));
    let styled = format!(
        "input_transform = {{ deep = \"d\" }}\nbody = {{ {FORM}, styles = {{ deep = \"deep\", list = \"comma\" }} }}"
    );
    let form = body(&styled, input).await;
    assert_eq!(form, "d%5Bx%5D%5B0%5D%5By%5D=1&d%5Bz%5D=%C3%A9&list=a%20b,c%26d&n=1.5&on=true");
}

#[tokio::test]
async fn a_form_has_a_bound() {
    let long = "n".repeat(400_000);
    let input = json!({"deep": {&long: vec![1; 50_000]}});
    let more = format!("body = {{ {FORM}, styles = {{ deep = \"deep\" }} }}");
    let refusal = sent("POST", &more, input).await.unwrap_err();
    assert!(matches!(&refusal, Refusal::Input { .. }), "{}", refusal.kind());
}

#[tokio::test]
async fn no_body_is_sent_where_none_is_declared_or_given() {
    let input = json!({"n": 1, "list": [1, 2]});
    let (line, media, body) = sent("POST", "body = { media = \"none\" }", input).await.unwrap();
    assert_eq!((line.as_str(), media, body.as_str()), ("POST /v1?list=1&list=2&n=1 HTTP/1.1", None, ""));
    for media in ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let more = format!("body = {{ media = \"{media}\" }}");
        assert_eq!(sent("POST", &more, json!({})).await.unwrap().1, None, "{media}");
    }
    let (_, media, body) =
        sent("POST", "body = { media = \"application/json\", is_required = true }", json!({})).await.unwrap();
    assert_eq!((media.as_deref(), body.as_str()), (Some("application/json"), "{}"));
}

#[tokio::test]
async fn any_method_has_the_body_that_is_declared() {
    for method in ["DELETE", "GET"] {
        let more = "body = { media = \"application/json\" }\ninput_styles = { on = \"repeat\" }";
        let (line, media, body) = sent(method, more, json!({"n": [1], "on": true})).await.unwrap();
        assert_eq!(line, format!("{method} /v1?on=true HTTP/1.1"));
        assert_eq!((media.as_deref(), body.as_str()), (Some("application/json"), "{\"n\":[1]}"));
    }
}

#[tokio::test]
async fn a_field_may_be_the_whole_body() {
    let json = "body = { media = \"application/vnd.x+json\", field = \"list\" }";
    let (line, media, body) = sent("PUT", json, json!({"list": [1, null], "n": 2})).await.unwrap();
    assert_eq!((line.as_str(), body.as_str()), ("PUT /v1?n=2 HTTP/1.1", "[1,null]"));
    assert_eq!(media.as_deref(), Some("application/vnd.x+json"));
    for (media, value, sent_as, bytes) in [
        ("text/csv", "a,b\n1,2", "text/csv", "a,b\n1,2"),
        ("text/plain", "caf\u{e9}", "text/plain; charset=utf-8", "caf\u{e9}"),
        ("application/octet-stream", "aGVsbG8=", "application/octet-stream", "hello"),
        ("application/octet-stream", "aGVs\nbG8", "application/octet-stream", "hello"),
        ("image/png", "data:image/png;base64,aGVsbG8", "image/png", "hello"),
    ] {
        let more = format!("body = {{ media = \"{media}\", field = \"id\" }}");
        let (_, found, body) = sent("POST", &more, json!({"id": value})).await.unwrap();
        assert_eq!((found.as_deref(), body.as_str()), (Some(sent_as), bytes));
    }
    let more = "body = { media = \"application/pdf\", field = \"id\" }";
    let refusal = sent("POST", more, json!({"id": "no base64!"})).await.unwrap_err();
    assert!(matches!(&refusal, Refusal::Input { violation, .. } if violation.field == "/id"), "{refusal:?}");
}

#[tokio::test]
async fn a_form_with_parts_has_a_part_for_each_value() {
    let more = "body = { media = \"multipart/form-data\", files = { id = \"image/png\" } }";
    let input = json!({"id": "LS1mb3JlY291cnQtcGFydC0w", "n": 7, "list": ["a", "b"], "deep": {"x": 1}});
    let (_, media, body) = sent("POST", more, input).await.unwrap();
    let media = media.unwrap();
    let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
    assert!(!"--forecourt-part-0".contains(boundary), "{boundary}");
    let part = |head: &str, text: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name={head}\r\n\r\n{text}\r\n")
    };
    let expected = [
        part("\"deep\"\r\nContent-Type: application/json", "{\"x\":1}"),
        part("\"id\"; filename=\"id\"\r\nContent-Type: image/png", "--forecourt-part-0"),
        part("\"list\"", "a"),
        part("\"list\"", "b"),
        part("\"n\"", "7"),
    ];
    assert_eq!(body, expected.concat() + &format!("--{boundary}--\r\n"));
}

#[tokio::test]
async fn cookies_and_lists_in_the_path_are_written_as_the_service_reads_them() {
    let upstream = Upstream::answering("200 OK", "{}").await;
    for (style, value, segment) in [
        ("simple", json!("1,2 3"), "1,2%203"),
        ("simple", json!([1, 2]), "1,2"),
        ("simple", json!({"a": 1}), "a,1"),
        ("simple-pairs", json!({"a": 1, "b": 2}), "a=1,b=2"),
        ("label", json!([1, 2]), ".1,2"),
        ("label-each", json!([1, 2]), ".1.2"),
        ("matrix", json!([1, 2]), ";n=1,2"),
        ("matrix-each", json!([1, 2]), ";n=1;n=2"),
        ("matrix-each", json!({"a": 1}), ";a=1"),
    ] {
        let more = format!(
            "headers = {{ cookie = \"k=1\" }}\ninput_styles = {{ n = \"{style}\", on = \"cookie\", deep = \"header-pairs\" }}"
        );
        let text = service("/rooms", "GET", &upstream.url("/v1/{n}/x"), &more);
        let folder = deployment(&[("endpoints/a.toml", &text)]);
        let loaded = loaded(folder.path());
        assert_eq!(problems(&loaded), Vec::<String>::new());
        let input = json!({"n": value, "on": "a;b", "deep": {"x": 1, "y": 2}});
        answer(&loaded, call("QUERY", "/rooms", input)).await.unwrap();
        let seen = upstream.seen().pop().unwrap();
        assert!(seen.starts_with(&format!("GET /v1/{segment}/x HTTP/1.1\r\n")), "{style}: {seen}");
        assert!(seen.contains("cookie: k=1; on=a%3Bb\r\n") && seen.contains("deep: x=1,y=2\r\n"), "{seen}");
    }
}

#[test]
fn a_body_names_fields_of_the_input() {
    for (more, tag) in [
        ("body = { media = \"text/csv\", field = \"nowhere\" }", "external-service-body-undeclared:nowhere"),
        (
            "body = { media = \"multipart/form-data\", files = { nowhere = \"a/b\" } }",
            "external-service-body-undeclared",
        ),
        (
            "body = { media = \"text/csv\", field = \"n\" }\ninput_styles = { n = \"header\" }",
            "external-service-bad-body",
        ),
        ("input_styles = { n = \"label\" }", "external-service-style-undeclared:n"),
        ("input_transform = { n = \"a b\" }\ninput_styles = { n = \"cookie\" }", "external-service-bad-style"),
    ] {
        let text = service("/rooms", "POST", "https://api.example/v1", more);
        let found = problems(&loaded(deployment(&[("endpoints/a.toml", &text)]).path()));
        assert!(found.len() == 1 && found[0].contains(tag), "{more}: {found:?}");
    }
}

/// What comes of an answer with that media type.
async fn answered(head: &str, content: &str, more: &str) -> Result<Value, Refusal> {
    let bytes = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{content}", content.len());
    let upstream = Upstream::new(Act::Send(bytes.into_bytes())).await;
    let folder = deployment(&[("endpoints/a.toml", &service("/rooms", "GET", &upstream.url("/v1"), more))]);
    answer(&loaded(folder.path()), call("QUERY", "/rooms", json!({}))).await
}

#[tokio::test]
async fn an_answer_may_be_a_text_bytes_or_a_place() {
    let csv = answered("200 OK\r\nContent-Type: text/csv; header=present", "a\n1", "answer = \"text\"").await;
    assert_eq!(csv, Ok(json!({"text": "a\n1", "media_type": "text/csv; header=present"})));
    let bytes = answered("200 OK\r\nContent-Type: image/png", "hello", "answer = \"bytes\"").await;
    assert_eq!(bytes, Ok(json!({"data": "aGVsbG8=", "media_type": "image/png"})));
    let place = answered("302 Found\r\nLocation: https://x.example/a", "", "answer = \"location\"").await;
    assert_eq!(place, Ok(json!({"location": "https://x.example/a"})));
    assert!(answered("302 Found", "", "answer = \"location\"").await.is_err(), "it leads nowhere");
    assert_eq!(answered("204 No Content", "", "answer = \"text\"").await, Ok(json!({})));
}

#[tokio::test]
async fn callers_learn_the_reasons_of_a_service_where_the_operator_wants_it() {
    let reason = async |more: &str, said: &str| {
        let refusal = answered("404 Not Found", &json!({"message": said}).to_string(), more).await.unwrap_err();
        let Refusal::Declared { message, .. } = refusal else { panic!("{refusal:?}") };
        message
    };
    let plain = "the service behind this endpoint failed";
    assert_eq!(reason("", "No such room.").await, plain);
    assert_eq!(reason("pass_reasons = true", "No such room.").await, format!("{plain}: No such room."));
    let secret = "pass_reasons = true\nheaders = { Authorization = \"Bearer ${TOKEN}\" }";
    assert_eq!(reason(secret, "bad token s3cret").await, plain);
    assert_eq!(reason(secret, "see http://127.0.0.1/v1").await, format!("{plain}: see …"));
}
