//! Public and own test data through the whole transport.

use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_testkit::vectors;
use http::Method;
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::support::{echo, form, get, post_to, request};

fn cases(path: &str) -> Option<Vec<Value>> {
    vectors(path).map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

/// The body that a case describes.
fn body(case: &Value) -> Vec<u8> {
    if let Some(body) = case["body"].as_str() {
        return body.as_bytes().to_vec();
    }
    if let Some(packed) = case["body_b64"].as_str() {
        return STANDARD.decode(packed).unwrap();
    }
    let sized = |bytes: usize| form(&[("user", &"a".repeat(bytes - form(&[("user", "")]).len()))]).into_bytes();
    match case["id"].as_str().unwrap() {
        "mp-many-parts" => form(&vec![("user", ""); 10_000]).into_bytes(),
        "mp-part-headers-huge" => {
            let long = format!("Content-Disposition: form-data; name=\"user\"\r\nX: {}", "a".repeat(500_000));
            form(&[("user", "a")]).replacen("Content-Disposition: form-data; name=\"user\"", &long, 1).into_bytes()
        }
        "mp-exactly-1mib" => sized(1_048_576),
        "mp-1mib-plus-1" | "mp-1mib-plus-1-chunked" => sized(1_048_577),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn hostile_forms_get_their_status() {
    let Some(cases) = cases("multipart/hostile.json") else { return };
    let place = echo().await;
    for case in cases {
        let mut ask = request(Method::POST, "/~echo").header("accept", "text/markdown");
        if let Some(mime) = case["ct"].as_str() {
            ask = ask.header("content-type", mime);
        }
        let before = Instant::now();
        let answer = place.send_with(ask, body(&case)).await;
        let status = Value::from(answer.status.as_u16());
        let fits = match &case["expect"] {
            Value::Array(any) => any.contains(&status),
            Value::Number(_) => case["expect"] == status,
            _ => answer.status.is_client_error(),
        };
        assert!(fits, "{}: {} {}", case["id"], status, answer.text());
        assert!(before.elapsed() < Duration::from_secs(5), "{}", case["id"]);
        answer.has_required_fields("@echo@demo.localhost");
        if let Some(entries) = case["entries"].as_array() {
            let texts: Vec<_> = entries.iter().map(|entry| entry[1].as_str().unwrap()).collect();
            assert_eq!(answer.text(), texts.join("\n"), "{}", case["id"]);
        }
    }
}

#[tokio::test]
async fn hostile_ids_are_not_found() {
    let (Some(ids), Some(traversal)) = (cases("paths/ids.json"), cases("paths/traversal.json")) else { return };
    let place = echo().await;
    for id in ids.iter().chain(&traversal).filter_map(Value::as_str) {
        let paths = [
            format!("/tasks/{id}"),
            format!("/tasks/{id}/webhook"),
            format!("/tasks/{id}/artifacts/a"),
            format!("/tasks/{}/artifacts/{id}", "A".repeat(43)),
        ];
        for path in paths {
            let Ok(uri) = path.parse::<http::Uri>() else { continue };
            let answer = place.send(get(&uri.to_string())).await;
            assert!([404, 405].contains(&answer.status.as_u16()), "{path}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn naughty_strings_come_back_unchanged_in_every_form() {
    let Some(strings) = cases("text/naughty-strings.json") else { return };
    let place = echo().await;
    for text in strings.iter().filter_map(Value::as_str) {
        if ["http://", "https://", "data:"].iter().any(|scheme| text.starts_with(scheme)) {
            continue;
        }
        let query = format!("/~echo?user={}", byte_serialize(text.as_bytes()).collect::<String>());
        assert_eq!(place.ask(&query, "text/markdown").await.is(200).text(), text);
        let json = place.ask(&query, "application/json").await.is(200).json();
        assert_eq!(json["parts"][0]["text"].as_str().unwrap_or_default(), text);
        let page = place.ask(&query, "text/html").await.is(200);
        assert_eq!(page.text().matches("<script").count(), 0, "{text}");
        let stream = place.ask(&query, "text/event-stream").await.is(200);
        assert_eq!(stream.text().matches("\nevent: ").count() + usize::from(stream.text().starts_with("event:")), 1);
        let posted = place.post("/~echo", &[("user", text)]).await.is(200).json();
        assert_eq!(posted["parts"][0]["text"].as_str().unwrap_or_default(), text);
    }
}

#[tokio::test]
async fn no_payload_becomes_part_of_a_page() {
    let Some(payloads) = cases("markdown-xss/payloads.json") else { return };
    let place = echo().await;
    for case in payloads {
        let text = case["markdown"].as_str().unwrap();
        let encoded: String = byte_serialize(text.as_bytes()).collect();
        let mut requests = vec![get(&format!("/~echo?x={encoded}")), get(&format!("/~echo?user=a&session={encoded}"))];
        if encoded.len() < 8000 && !text.starts_with("data:") && !text.starts_with("http") {
            requests.push(get(&format!("/~echo?user={encoded}")));
        }
        if let Ok(from) = http::HeaderValue::from_str(text) {
            requests.push(get("/~echo?user=a").header("x-mentionable-from", from));
        }
        for request in requests {
            let answer = place.send(request.header("accept", "text/html")).await;
            let page = answer.text().to_ascii_lowercase();
            // The question is the heading of its answer, as text; what might act is a tag or the target of a link.
            let told = page.split("<article").next().unwrap();
            let tags = ["<script", "<iframe", "<svg", "<object", "<embed", "<form", "<base"];
            let targets = ["href=\"javascript:", "src=\"javascript:", "action=\"javascript:"];
            for open in tags.into_iter().chain(targets) {
                assert!(!told.contains(open), "{text}");
            }
            for element in ["<html", "<head", "<body", "<main", "<article"] {
                let count = page.matches(&format!("{element} ")).count() + page.matches(&format!("{element}>")).count();
                assert_eq!(count, 1, "{element} {text}");
            }
        }
    }
}

#[tokio::test]
async fn data_urls_are_bytes_or_refused() {
    let Some(cases) = cases("data-url/data-urls.json") else { return };
    let place = echo().await;
    for case in cases {
        let Some(url) = case[0].as_str().filter(|url| url.starts_with("data:")) else { continue };
        let answer = place.post("/~echo", &[("user", url)]).await;
        match case[1].as_str() {
            Some(_) => {
                let bytes: Vec<u8> = case[2].as_array().unwrap().iter().map(|b| b.as_u64().unwrap() as u8).collect();
                let part = answer.is(200).json()["parts"][0].clone();
                assert_eq!(part["bytes_ref"]["data"], STANDARD.encode(bytes), "{url}");
            }
            None => assert_eq!(answer.status, 400, "{url}"),
        }
    }
}

#[tokio::test]
async fn hostile_data_urls_are_kept_apart() {
    let Some(cases) = cases("data-url/hostile.json") else { return };
    let place = echo().await;
    for url in cases.iter().filter_map(|case| case["url"].as_str()) {
        let answer = place.post("/~echo", &[("user", url)]).await;
        assert!([200, 400].contains(&answer.status.as_u16()), "{url}");
        let page = post_to("/~echo").header("x", "");
        let page =
            request(Method::POST, "/~echo").header("content-type", page.headers_ref().unwrap()["content-type"].clone());
        let page = place.send_with(page, form(&[("user", url)])).await;
        assert!(!page.text().contains("<script>") && !page.text().contains("<svg"), "{url}");
    }
    let many = vec![("user", "data:,x"); 100];
    place.post("/~echo", &many).await.is(400);
}
