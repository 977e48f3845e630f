//! What the server publishes of itself, on the wire, against what it does. AGTP-API 8; base 2.5.

use serde_json::{Value, json};

use super::support::{Server, body, server};

/// What the manifest that strangers get says.
async fn manifest(server: &Server) -> Value {
    body(&server.ask("DISCOVER", "").await)
}

#[tokio::test]
async fn s8_4_the_parameters_that_are_said_to_be_required_are() {
    let server = server("").await;
    for method in manifest(&server).await["embedded_methods"].as_array().unwrap() {
        let (name, required) = (method["name"].as_str().unwrap(), &method["required_params"]);
        if *required != json!([]) {
            // Its own names count from here on: those of the reference implementation want less.
            let sent = json!({"context": null}).to_string();
            let refused = server.ask_as_chef(&format!("{name} /"), &sent).await;
            assert_eq!(refused.start.code, 422, "{name}");
            let missing = body(&refused)["error"]["missing"].clone();
            assert!(missing[0].is_string(), "{name} misses nothing");
            let is_required = |parameter: &Value| required.as_array().unwrap().contains(parameter);
            assert!(missing.as_array().unwrap().iter().all(is_required), "{name}: {missing} of {required}");
        }
    }
}

#[tokio::test]
async fn s8_10_the_manifest_is_told_as_it_should_be() {
    let server = server("server.contact = \"ops@demo.localhost\"").await;
    let response = server.ask("DISCOVER", "").await;
    let now = server.mounted.mount.host.clock().now();
    assert_eq!(forecourt_agtp_client::manifest::check_response(&response, now).findings, []);
    assert_eq!(response.field("X-AGTP-Document-Type"), Some("agtp.server.manifest"));
    let tag = response.field("ETag").unwrap();
    let known = server.ask(&format!("DISCOVER\r\nIf-None-Match: {tag}"), "").await;
    assert_eq!((known.start.code, known.body.len(), known.field("ETag")), (304, 0, Some(tag)));
}

#[tokio::test]
async fn s17_4_every_answer_says_which_contract_it_is_of() {
    let server = server("").await;
    let heads = ["DISCOVER", "DISCOVER /methods", "QEURY /rooms", "FETCH /nowhere", "FETCH / rooms", "BOOK /rooms/5"];
    let mut versions = Vec::new();
    for head in heads {
        let version = server.ask(head, "").await.field("AGTP-API-Version").map(str::to_owned);
        versions.push(version.unwrap_or_else(|| panic!("{head}")));
    }
    versions.dedup();
    assert_eq!(versions.len(), 1);
}

#[tokio::test]
async fn s5_8_reserved_paths_are_those_of_discover_alone() {
    let server = server("").await;
    assert_eq!(server.ask_as_chef("DISCOVER /methods", "").await.start.code, 200);
    let refused = server.ask_as_chef("QUERY /methods", "").await;
    assert_eq!(refused.start.code, 405);
    assert_eq!(body(&refused)["error"]["allowed_methods_for_path"], json!(["DISCOVER"]));
}

#[tokio::test]
async fn s8_7_a_stranger_may_not_look_around_where_that_is_off() {
    let server = server("policies.anonymous_discovery = false").await;
    for (head, sent) in [
        ("DISCOVER", ""),
        ("DESCRIBE /", ""),
        ("DESCRIBE /agents/chef", ""),
        ("INSPECT /", "{\"target\": \"lifecycle\"}"),
        ("PLAN /", "{\"goal\": \"book a room\"}"),
    ] {
        let refused = server.ask(head, sent).await;
        let kind = &body(&refused)["error"]["type"];
        assert_eq!((refused.start.code, kind), (262, &json!("anonymous-discovery-disabled")), "{head}");
    }
    assert_eq!(server.ask_as_chef("DESCRIBE /", "").await.start.code, 200);
}
