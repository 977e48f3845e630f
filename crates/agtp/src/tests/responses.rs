//! What every response says. Base 2.5.

use std::sync::Arc;

use forecourt_contract::{Catalog, Dispatcher};
use forecourt_testhost::Blueprint;

use super::support::{blueprint, body, contract, server, server_of};

#[tokio::test]
async fn base_2_5_every_response_is_signed_with_the_servers_name() {
    let server = server("[server]\nserver_id = \"srv.example\"").await;
    let mut ids = std::collections::BTreeSet::new();
    for head in ["FETCH /rooms/7", "FETCH /nowhere", "QEURY /", "FETCH /rooms/7#x", "not a line at all"] {
        let answer = server.ask_as_chef(head, "").await;
        assert_eq!(answer.field("Server-ID"), Some("srv.example"), "{head}");
        let id = answer.field("Response-ID").unwrap().to_owned();
        assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id}");
        assert!(ids.insert(id));
    }
}

#[tokio::test]
async fn base_2_5_what_names_the_request_comes_back() {
    let server = server("").await;
    let chef = server.id("chef");
    let head = "FETCH /rooms/7\r\nTask-ID: task-1\r\nRequest-ID: r 1\r\nSession-ID: s";
    let answer = server.ask_as_chef(head, "").await;
    assert_eq!(answer.field("Task-ID"), Some("task-1"));
    assert_eq!(answer.field("Request-ID"), Some("r 1"));
    assert_eq!(answer.field("Agent-ID"), Some(chef.as_str()));
    assert_eq!(answer.field("Session-ID"), None);
}

#[tokio::test]
async fn base_2_5_the_addressed_agent_is_vouched_for() {
    let server = server("").await;
    let answer = server.ask("FETCH /nowhere", "").await;
    assert_eq!(answer.field("Trust-Tier"), Some("2"));
    assert_eq!(answer.field("Verification-Path"), Some("org-asserted"));
    assert_eq!(answer.field("Trust-Warning"), Some("verification-incomplete"));
    assert!(answer.field("Owner-ID").is_some());
}

#[tokio::test]
async fn base_2_2_bodies_have_media_types() {
    let server = server("").await;
    let done = server.ask_as_chef("FETCH /rooms/7", "").await;
    assert_eq!(done.field("Content-Type"), Some("application/vnd.agtp.fetch+json"));
    assert_eq!(done.field("Content-Length"), Some(done.body.len().to_string().as_str()));
    let refused = server.ask_as_chef("FETCH /nowhere", "").await;
    assert_eq!(refused.field("Content-Type"), Some("application/json"));
}

#[tokio::test]
async fn s6_5_a_deprecated_endpoint_says_so_on_every_response() {
    let server = server("").await;
    let notice = Some("deprecated; successor=FETCH /rooms/{room}; removed_in=3.0.0");
    for (sent, status) in [("", 200), (r#"{"how": "taken"}"#, 422), (r#"{"x": 1}"#, 422), (r#"{"how": "crash"}"#, 500)]
    {
        let answer = server.ask_as_chef("FETCH /old-rooms", sent).await;
        assert_eq!((answer.start.code, answer.field("AGTP-Endpoint-Warning")), (status, notice), "{sent}");
    }
    assert_eq!(server.ask("FETCH /old-rooms", "").await.field("AGTP-Endpoint-Warning"), notice);
    for (head, sent, status) in [
        ("FETCH /old-rooms", "{", 400),
        ("FETCH /old-rooms\r\nAuthority-Scope: !", "", 400),
        ("FETCH /old-rooms\r\nDelegation-Chain: a", "", 501),
    ] {
        let answer = server.ask(head, sent).await;
        assert_eq!((answer.start.code, answer.field("AGTP-Endpoint-Warning")), (status, notice), "{head} {sent}");
    }
    assert_eq!(server.ask_as_chef("FETCH /rooms/7", "").await.field("AGTP-Endpoint-Warning"), None);
}

#[tokio::test]
async fn s9_2_an_alias_goes_on_under_the_method_that_is_meant() {
    let server = server("").await;
    let answer = server.ask_as_chef("GET /rooms/7", "").await;
    assert_eq!(answer.field("Content-Type"), Some("application/vnd.agtp.fetch+json"));
    assert_eq!(body(&answer)["input"]["room"], "7");
}

#[tokio::test]
async fn base_2_2_yaml_is_for_who_asks_for_it() {
    let server = server("").await;
    for (accept, media_type) in [
        ("application/vnd.agtp+yaml", "application/vnd.agtp+yaml"),
        ("application/json;q=0.5, application/yaml", "application/yaml"),
        ("*/*", "application/vnd.agtp.fetch+json"),
        ("text/html", "application/vnd.agtp.fetch+json"),
        ("application/vnd.agtp+json", "application/vnd.agtp.fetch+json"),
    ] {
        let answer = server.ask_as_chef(&format!("FETCH /rooms/7\r\nAccept: {accept}"), "").await;
        assert_eq!(answer.field("Content-Type"), Some(media_type), "{accept}");
        if media_type.ends_with("yaml") {
            assert_eq!(&answer.body[..], b"input:\n  room: \"7\"\n", "{accept}");
        }
    }
    let refused = server.ask_as_chef("FETCH /nowhere\r\nAccept: application/yaml", "").await;
    assert_eq!(refused.field("Content-Type"), Some("application/json"));
}

#[tokio::test]
async fn s4_4_a_deprecated_method_is_told_on_every_response_and_answered_all_the_same() {
    let verbs = r#"{"version": "1.2.0", "verbs": {"FETCH": {"deprecated_in": "1.2.0", "removed_in": "2.0.0",
        "successor": "QUERY"}, "QUERY": {}}}"#;
    let catalog = Arc::new(Catalog::read(verbs.as_bytes()).unwrap().with_floor());
    let contract = Arc::new(Dispatcher { catalog, ..contract("") });
    let server = server_of(Blueprint { contract, ..blueprint("") }).await;
    let notice = Some("deprecated; successor=QUERY; removed_in=2.0.0");
    for (head, status) in [("FETCH /rooms/7", 200), ("GET /rooms/7", 200), ("FETCH /nowhere", 404), ("FETCH /x/", 460)]
    {
        let answer = server.ask_as_chef(head, "").await;
        assert_eq!((answer.start.code, answer.field("AGTP-Catalog-Warning")), (status, notice), "{head}");
    }
    let unread = server.ask_as_chef("FETCH /nowhere", "{").await;
    assert_eq!((unread.start.code, unread.field("AGTP-Catalog-Warning")), (400, notice));
    assert_eq!(server.ask_as_chef("DISCOVER /", "").await.field("AGTP-Catalog-Warning"), None);
    let gone = server.ask_as_chef("BOOK /rooms/7", "").await;
    assert_eq!((gone.start.code, &body(&gone)["error"]["catalog_version"]), (459, &"1.2.0".into()));
}

#[tokio::test]
async fn base_2_2_floor_methods_have_an_envelope_for_who_asks() {
    let server = server("").await;
    let head = "QUERY /\r\nTask-ID: t-1\r\nAccept: application/vnd.agtp+json";
    let answer = server.ask_as_chef(head, r#"{"intent": "hello"}"#).await;
    let said = body(&answer);
    assert_eq!(answer.field("Content-Type"), Some("application/vnd.agtp+json"));
    assert_eq!((&said["status"], &said["task_id"]), (&200.into(), &"t-1".into()));
    assert_eq!(said["result"]["intent"], "hello");
    let wrapped = r#"{"method": "QUERY", "task_id": "t-2", "parameters": {"intent": "hello"}}"#;
    let said = body(&server.ask_as_chef("QUERY /\r\nAccept: application/vnd.agtp+json", wrapped).await);
    assert_eq!((&said["task_id"], &said["result"]["intent"]), (&"t-2".into(), &"hello".into()));
    let directory = server.ask_as_chef("DISCOVER /\r\nAccept: application/vnd.agtp+json", "").await;
    assert!(body(&directory).get("directory").is_some(), "what is discovered keeps its shape");
}
