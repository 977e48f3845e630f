//! Bodies: bare and in envelopes, JSON and YAML. Base 2.2.

use serde_json::{Value, json};

use super::support::{Server, body, code, server};

async fn input(server: &Server, head: &str, sent: &str) -> Value {
    let answer = server.ask_as_chef(head, sent).await;
    assert_eq!(answer.start.code, 200, "{head} {sent}: {:?}", answer.body);
    body(&answer)["input"].clone()
}

#[tokio::test]
async fn base_2_2_an_envelope_is_opened() {
    let server = server("").await;
    let bare = input(&server, "FETCH /rooms/7", r#"{"n": 1}"#).await;
    assert_eq!(bare, json!({"room": "7", "n": 1}));
    for envelope in [
        r#"{"parameters": {"n": 1}}"#,
        r#"{"method": "FETCH", "task_id": "t", "session_id": "s", "parameters": {"n": 1}, "context": {"a": 1}}"#,
    ] {
        assert_eq!(input(&server, "FETCH /rooms/7", envelope).await, bare, "{envelope}");
    }
    for (length, status) in [(255, 200), (256, 400)] {
        let long = format!(r#"{{"task_id": "{}", "parameters": {{"n": 1}}}}"#, "t".repeat(length));
        assert_eq!(server.ask_as_chef("FETCH /rooms/7", &long).await.start.code, status);
    }
    let other = server.ask_as_chef("FETCH /rooms/7", r#"{"method": "BOOK", "parameters": {}}"#).await;
    assert_eq!(code(&other), (400, "invalid-body".to_owned()));
}

#[tokio::test]
async fn base_2_2_what_an_endpoint_declares_is_no_envelope() {
    let server = server("").await;
    let sent = r#"{"parameters": {"n": 1}}"#;
    assert_eq!(input(&server, "EXECUTE /plays", sent).await, json!({"parameters": {"n": 1}}));
    // Neither is what has another member.
    let answer = server.ask_as_chef("FETCH /rooms/7", r#"{"name": "x", "parameters": {}}"#).await;
    assert_eq!(code(&answer), (422, "input-validation-failed".to_owned()));
}

#[tokio::test]
async fn base_2_2_a_body_is_an_object_or_none() {
    let server = server("").await;
    for wrong in ["[]", "1", "\"a\"", "null", "{", "{\"n\":1,\"n\":2}", "\u{feff}{}", "{} {}"] {
        assert_eq!(code(&server.ask_as_chef("FETCH /rooms/7", wrong).await), (400, "invalid-body".into()), "{wrong}");
    }
    assert_eq!(input(&server, "FETCH /rooms/7", "").await, json!({"room": "7"}));
}

#[tokio::test]
async fn base_2_2_yaml_says_the_same() {
    let server = server("").await;
    for media_type in ["application/vnd.agtp+yaml", "application/yaml; charset=utf-8", "text/YAML"] {
        let head = format!("FETCH /rooms/7\r\nContent-Type: {media_type}");
        assert_eq!(input(&server, &head, "n: 1\ntext: \"07\"\n").await, json!({"room": "7", "n": 1, "text": "07"}));
    }
    let head = "FETCH /rooms/7\r\nContent-Type: application/vnd.agtp+yaml";
    let bomb = "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
        d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
    let deep = format!("text: {}{}", "[".repeat(2_000), "]".repeat(2_000));
    for wrong in ["n: 1\nn: 2\n", "- 1\n", "n: .nan\n", "n: [", "a: *nobody\n", "--- {n: 1}\n--- {n: 2}\n", bomb, &deep]
    {
        let answer = server.ask_as_chef(head, wrong).await;
        assert_eq!(code(&answer), (400, "invalid-body".into()), "{:.40}", wrong);
    }
}

#[tokio::test]
async fn s5_5_the_query_joins_the_body_which_counts_before_it() {
    let server = server("").await;
    let merged = input(&server, "FETCH /rooms/7?n=1&n=2&text=a%20b+c", "").await;
    assert_eq!(merged, json!({"room": "7", "n": 2, "text": "a b+c"}));
    assert_eq!(input(&server, "FETCH /rooms/7?n=1", r#"{"n": 5}"#).await["n"], 5);
}
