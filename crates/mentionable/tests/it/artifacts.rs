//! REST 5.6: what tasks made.

use std::time::Duration;

use forecourt_core::{Event, File, Part};
use http::Method;
use serde_json::Value;

use crate::background::{begun, settled};
use crate::support::{Place, bot, done, get, request};

/// A settled task with one file; gives the path of the file.
async fn made(mime: &str, name: Option<&str>, bytes: &'static [u8]) -> (Place, String) {
    let file = File::inline(mime, name.map(str::to_owned), bytes.into());
    let place = bot(vec![Event::Part(Part::File(file)), done()]).await;
    let path = begun(&place).await;
    settled(&place, &path).await;
    let url = place.send(get(&path)).await.json()["status"]["message"]["parts"][0]["url"].as_str().unwrap().to_owned();
    (place, url)
}

#[tokio::test]
async fn s5_6_bytes_for_everybody_and_json_for_who_wants_it() {
    let (place, path) = made("image/png", Some("a.png"), b"\x89PNG").await;
    for accept in ["*/*", "image/png", "text/html", "image/*, application/json;q=0.5", "nonsense"] {
        let answer = place.ask(&path, accept).await.is(200);
        assert_eq!(
            (answer.field("content-type"), answer.body.as_slice()),
            (Some("image/png"), &b"\x89PNG"[..]),
            "{accept}"
        );
    }
    place.send(get(&path)).await.is(200).has_required_fields("@bot@demo.localhost");
    for accept in ["application/json", "application/json, */*;q=0.1"] {
        let about = place.ask(&path, accept).await.is(200).json();
        let id = path.rsplit('/').next().unwrap();
        assert_eq!(about, serde_json::json!({"id": id, "mime": "image/png", "size": 4, "url": path}), "{accept}");
    }
}

#[tokio::test]
async fn s5_6_bytes_that_are_json_are_bytes_unless_named() {
    let (place, path) = made("application/json", None, b"[1]").await;
    assert_eq!(place.ask(&path, "*/*").await.is(200).text(), "[1]");
    assert_eq!(place.ask(&path, "application/json").await.is(200).json()["size"], 3);
}

#[tokio::test]
async fn s5_6_artifacts_may_be_kept_as_long_as_they_live() {
    let (place, path) = made("image/png", None, b"x").await;
    let first = place.send(get(&path)).await.is(200);
    assert_eq!(first.field("cache-control"), Some("public, max-age=3600"));
    let tag = first.field("etag").unwrap();
    let known = |tag: &str| get(&path).header("if-none-match", tag.to_owned());
    assert!(place.send(known(tag)).await.is(304).body.is_empty());
    assert!(place.send(known(&format!("\"x\", W/{tag}"))).await.is(304).body.is_empty());
    place.send(known("\"x\"")).await.is(200);
    let json = place.ask(&path, "application/json").await.is(200);
    assert_ne!(json.field("etag"), first.field("etag"));
    place.clock.advance(Duration::from_secs(3590));
    assert_eq!(place.send(get(&path)).await.is(200).field("cache-control"), Some("public, max-age=10"));
    place.clock.advance(Duration::from_secs(10));
    assert_eq!(
        place.send(get(&path)).await.is(404).text(),
        r#"{"error":"task not found or expired","code":"task-not-found"}"#
    );
    place.send(known(tag)).await.is(404);
}

#[tokio::test]
async fn s8_active_content_is_only_a_download() {
    for mime in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", "bad\r\nmime"] {
        let (place, path) = made(mime, Some("x.html"), b"<script>").await;
        let answer = place.ask(&path, "*/*").await.is(200);
        let stored = if mime.contains('\r') { "application/octet-stream" } else { mime };
        assert_eq!(answer.field("content-type"), Some(stored));
        assert_eq!(answer.field("content-disposition"), Some("attachment; filename=\"x.html\""));
        assert!(answer.field("content-security-policy").unwrap().starts_with("sandbox"));
        assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn s5_6_names_can_not_leave_their_field() {
    let Some(bytes) = forecourt_testkit::vectors("headers/content-disposition.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for case in cases {
        let (place, path) = made("image/png", case["filename"].as_str(), b"x").await;
        let answer = place.send(get(&path)).await.is(200);
        let field = answer.field("content-disposition").unwrap();
        assert!(field.starts_with("attachment; filename=\""), "{field}");
        let named = field["attachment; filename=\"".len()..].split('"').collect::<Vec<_>>();
        assert!(named.len() == 2 && (named[1].is_empty() || named[1].starts_with("; filename*=UTF-8''")), "{field}");
    }
}

#[tokio::test]
async fn s5_6_an_artifact_is_found_under_its_own_task_only() {
    let (place, path) = made("image/png", None, b"x").await;
    let other = begun(&place).await;
    let id = path.rsplit('/').next().unwrap();
    for path in [
        format!("{}/artifacts/{id}", "/tasks/A".to_owned() + &"A".repeat(42)),
        format!("{path}x"),
        format!("{other}/artifacts/nothing"),
        format!("{other}/artifacts/{}", "a".repeat(300)),
        format!("{other}/artifacts/"),
    ] {
        place.send(get(&path)).await.is(404);
    }
    place.send(get(&format!("/artifacts/{id}"))).await.is(404);
}

#[tokio::test]
async fn s3_5_head_of_an_artifact_has_its_length() {
    let (place, path) = made("image/png", None, b"12345").await;
    let answer = place.send(request(Method::HEAD, &path)).await.is(200);
    assert_eq!((answer.field("content-length"), answer.body.len()), (Some("5"), 0));
}
