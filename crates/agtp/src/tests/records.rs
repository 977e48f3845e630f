//! Signed records of every response. Base 2.5, 8; AGTP-API 9.2, 10.1.6.

use std::collections::BTreeSet;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_agtp_wire::message::Response;
use forecourt_attribution::verify::verify;
use forecourt_attribution::{RecordKeys, folder, sha256, to_hex};
use forecourt_core::ClientAddr;
use futures::future::join_all;
use http::Request as HttpRequest;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::support::{LOCAL, Server, body, code, server};
use crate::gateway;

/// The payload of the record that a response carries, whose Audit-ID is held against it.
fn record(response: &Response) -> Value {
    let jws = response.field("Attribution-Record").expect("a record");
    assert_eq!(response.field("Audit-ID"), Some(to_hex(&sha256(jws.as_bytes())).as_str()));
    payload(jws)
}

fn payload(jws: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

/// Verifies the log with the keys of the manifest, as a stranger would.
async fn verified(server: &Server) -> forecourt_attribution::verify::Verification {
    let manifest = body(&server.ask("DISCOVER", "").await);
    let keys = RecordKeys::read(&manifest).expect("keys in the manifest");
    verify(&folder(&server.mounted.mount.data), &keys, &[], &|_| (), &|_| ()).expect("a log")
}

#[tokio::test]
async fn base_8_1_every_response_carries_its_record_whatever_it_says() {
    let server = server("[server]\nserver_id = \"srv.example\"").await;
    let chef = server.id("chef");
    let cases = [
        ("FETCH /rooms/7", "", 200),
        ("FETCH /rooms/7", r#"{"how": "taken"}"#, 422),
        ("FETCH /rooms/7", "{", 400),
        ("FETCH /nowhere", "", 404),
        ("QEURY /", "", 459),
        ("PURCHASE /rooms/7", "", 455),
        ("DISCOVER /", "", 200),
    ];
    let mut previous = "0".repeat(64);
    for (head, sent, status) in cases {
        let answer = server.ask_as_chef(head, sent).await;
        let told = record(&answer);
        assert_eq!((answer.start.code, &told["status"]), (status, &json!(status)), "{head} {sent}");
        assert_eq!((&told["server_id"], &told["audit_record_version"]), (&json!("srv.example"), &json!("1")));
        assert_eq!(told["response_id"], json!(answer.field("Response-ID")));
        // What can't be read was made by nobody that is known by then.
        if status == 400 {
            assert_eq!((&told["agent_id"], &told["previous_audit_id"]), (&json!(""), &json!("0".repeat(64))));
            continue;
        }
        assert_eq!((&told["agent_id"], &told["previous_audit_id"]), (&json!(chef), &json!(previous)), "{head}");
        assert_eq!(told["extra"]["identity_assurance"], "unverified");
        previous = answer.field("Audit-ID").unwrap().to_owned();
    }
    let mut client = server.connect();
    client.send(b"GET / HTTP/1.1\r\n\r\n").await;
    let told = record(&client.hear().await.unwrap());
    assert_eq!((&told["status"], told.get("request_hash")), (&json!(400), None), "these bytes are no request");
    let told = verified(&server).await;
    assert!(told.is_fine() && told.agents == 1 && told.unsigned == 0, "{told:?}");
}

#[tokio::test]
async fn base_8_1_the_hash_is_that_of_the_bytes_that_were_sent() {
    let server = server("").await;
    let mut client = server.connect();
    for sent in [
        "AGTP/1.0 FETCH /rooms/7?n=1\r\nAgent-ID:x\r\nCONTENT-length:   2\r\nX-Odd: \t a  b \r\n\r\n{}",
        "AGTP/1.0 QUERY\r\n\r\n",
    ] {
        client.send(sent.as_bytes()).await;
        let told = record(&client.hear().await.unwrap());
        assert_eq!(told["request_hash"], to_hex(&sha256(sent.as_bytes())), "{sent:?}");
    }
}

#[tokio::test]
async fn s9_2_the_method_that_was_sent_is_kept_only_where_another_one_was_meant() {
    let server = server("").await;
    let aliased = record(&server.ask_as_chef("GET /rooms/7", "").await);
    assert_eq!(aliased["requested_method"], "GET");
    let plain = record(&server.ask_as_chef("FETCH /rooms/7", "").await);
    assert_eq!(plain.get("requested_method"), None);
}

#[tokio::test]
async fn base_8_1_actions_that_may_change_something_have_an_id_and_others_none() {
    let server = server("").await;
    // Every endpoint here says that its impact is reversible.
    let booked = record(&server.ask_as_chef("BOOK /rooms/7", "").await);
    let id = booked["action_id"].as_str().expect("an id");
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id}");
    for (head, changes) in [("NOTIFY /", true), ("DISCOVER /", false), ("DESCRIBE /", false), ("FETCH /nowhere", false)]
    {
        let told = record(&server.ask_as_chef(head, "").await);
        assert_eq!(told.get("action_id").is_some(), changes, "{head}: {told}");
    }
}

#[tokio::test]
async fn base_8_1_what_the_caller_names_is_kept_as_far_as_it_has_a_form() {
    let server = server("").await;
    let action = json!({"agent_id": "1".repeat(64), "audit_id": "2".repeat(64), "agent_uri": "agtp://a.example"});
    let more = json!({"agent_id": "1".repeat(64), "audit_id": "2".repeat(64), "agent_uri": "javascript:1", "x": 1});
    let least = json!({"agent_id": "1".repeat(64), "audit_id": "2".repeat(64)});
    let sent = json!({"intent": "x", "context": {"prior_actions": [action, 7, {"agent_id": "x"}, more]}});
    let head = "QUERY /\r\nSession-ID: s-1\r\nTask-ID: t-1\r\nRequest-ID: r-1";
    let told = record(&server.ask_as_chef(head, &sent.to_string()).await);
    assert_eq!(told["prior_actions"], json!([action, least]));
    assert_eq!(told["extra"]["prior_actions"], told["prior_actions"]);
    assert_eq!(
        (&told["session_id"], &told["task_id"], &told["request_id"]),
        (&json!("s-1"), &json!("t-1"), &json!("r-1"))
    );
    assert!(told["owner_id"].as_str().is_some_and(|owner| !owner.is_empty()));
}

#[tokio::test]
async fn s10_1_6_nothing_is_said_of_contracts_where_there_is_none() {
    let server = server("").await;
    let told = record(&server.ask_as_chef("FETCH /rooms/7", "").await);
    for field in ["synthesis_id", "contract_hash", "negotiation_origin"] {
        assert_eq!(told.get(field), None);
    }
}

#[tokio::test]
async fn base_7_4_who_a_token_acts_for_is_kept_and_the_token_is_not() {
    let server = server("").await;
    let token = server.mounted.token("ann");
    let answer = server.ask_as_chef(&format!("FETCH /rooms/7\r\nAuthorization: {token}"), "").await;
    let told = record(&answer);
    assert!(told["acting_principal_id"].as_str().is_some_and(|who| who.ends_with("ann")), "{told}");
    assert!(!told.to_string().contains(token.trim_start_matches("Bearer ")));
}

#[tokio::test]
async fn base_12_the_gateway_answers_with_records_too() {
    let server = server("").await;
    let router = gateway::router(server.service.clone());
    for (method, path, status) in [("GET", "/rooms/7", 200), ("GET", "/nowhere", 404), ("BREW", "/rooms/7", 459)] {
        let request = HttpRequest::builder().method(method).uri(path).header("Agent-ID", server.id("chef"));
        let request = request.header("X-Authority-Scope", "booking:room").extension(ClientAddr(LOCAL));
        let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let jws = response.headers()["attribution-record"].to_str().unwrap();
        assert_eq!(response.headers()["audit-id"].to_str().unwrap(), to_hex(&sha256(jws.as_bytes())));
        assert_eq!(payload(jws)["status"], status);
    }
    let page = HttpRequest::builder().uri("/rooms/7").header("Origin", "https://evil.example");
    let refused = router.oneshot(page.body(Body::empty()).unwrap()).await.unwrap();
    assert!(refused.status() == 403 && refused.headers().contains_key("audit-id"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn base_8_1_no_chain_forks_under_200_requests_at_once_over_several_connections() {
    let server = server("").await;
    let chef = server.id("chef");
    let asked = (0..8).map(|_| async {
        let mut client = server.connect();
        let mut previous = Vec::new();
        for _ in 0..25 {
            client.say(&format!("FETCH /rooms/7\r\nAgent-ID: {chef}\r\nAuthority-Scope: booking:room"), "").await;
        }
        for _ in 0..25 {
            previous.push(record(&client.hear().await.unwrap())["previous_audit_id"].to_string());
        }
        previous
    });
    let previous: Vec<String> = join_all(asked).await.concat();
    assert_eq!(previous.iter().collect::<BTreeSet<_>>().len(), 200);
    let told = verified(&server).await;
    assert!(told.is_fine() && told.agents == 1, "{told:?}");
}

#[tokio::test]
async fn base_3_3_a_record_is_looked_up_by_its_name_and_a_chain_by_its_agent() {
    let server = server("[audit]\nread_acl = \"public\"").await;
    let answer = server.ask_as_chef("FETCH /rooms/7", "").await;
    let (jws, audit_id) = (answer.field("Attribution-Record").unwrap(), answer.field("Audit-ID").unwrap());
    let inspect = |sent: Value| async move { sent.to_string() };
    let sent = inspect(json!({"target": "chain_head", "agent_id": server.id("chef")})).await;
    let head = body(&server.ask("INSPECT /", &sent).await);
    assert_eq!((head["audit_id"].as_str(), &head["last_at"]), (Some(audit_id), &record(&answer)["issued_at"]));
    let sent = json!({"target": "audit", "audit_id": audit_id}).to_string();
    let found = body(&server.ask("INSPECT /", &sent).await);
    assert_eq!((found["jws"].as_str(), found["audit_id"].as_str()), (Some(jws), Some(audit_id)));
    assert_eq!((&found["header"]["alg"], &found["payload"]), (&json!("EdDSA"), &record(&answer)));
    for (sent, told) in [
        (json!({"target": "audit"}), (400, "")),
        (json!({"target": "audit", "audit_id": "x"}), (404, "audit-record-not-found")),
        (json!({"target": "audit", "audit_id": "0".repeat(64)}), (404, "audit-record-not-found")),
        (json!({"target": "chain_head", "agent_id": "0".repeat(64)}), (404, "chain-head-not-found")),
        (json!({"target": "chain_head", "agent_id": "chef"}), (404, "chain-head-not-found")),
    ] {
        let refused = code(&server.ask("INSPECT /", &sent.to_string()).await);
        assert_eq!(refused.0, told.0, "{sent}");
        assert!(told.1.is_empty() || refused.1 == told.1, "{sent}: {refused:?}");
    }
}

#[tokio::test]
async fn base_3_3_read_acl_says_whose_records_are_read() {
    for (acl, own, other, nobody) in [
        ("read_acl = \"public\"", 200, 200, 200),
        ("", 200, 404, 401),
        ("read_acl = \"owner\"", 200, 404, 401),
        ("read_acl = \"agent_only\"", 200, 404, 401),
        ("read_acl = \"operator\"", 403, 403, 401),
    ] {
        let server = server(&format!("[audit]\n{acl}")).await;
        let audit_id = server.ask_as_chef("FETCH /rooms/7", "").await.field("Audit-ID").unwrap().to_owned();
        let (chef, gate) = (server.id("chef"), server.id("gate"));
        for sent in [
            json!({"target": "audit", "audit_id": audit_id}),
            json!({"target": "chain_head", "agent_id": chef}),
            json!({"target": "lifecycle", "agent_id": chef}),
        ] {
            let ask = |who: &str| format!("INSPECT /\r\nAgent-ID: {who}");
            let sent = sent.to_string();
            assert_eq!(server.ask(&ask(&chef), &sent).await.start.code, own, "{acl} {sent}");
            assert_eq!(server.ask(&ask(&gate), &sent).await.start.code, other, "{acl} {sent}");
            assert_eq!(server.ask("INSPECT /", &sent).await.start.code, nobody, "{acl} {sent}");
        }
    }
}

#[tokio::test]
async fn base_3_3_a_record_of_another_agent_is_refused_like_one_that_is_not_there() {
    let server = server("").await;
    let own = server.ask_as_chef("FETCH /rooms/7", "").await.field("Audit-ID").unwrap().to_owned();
    let of_nobody = server.ask("DISCOVER /", "").await.field("Audit-ID").unwrap().to_owned();
    let (chef, gate, unknown) = (server.id("chef"), server.id("gate"), "0".repeat(64));
    for (target, name, others) in [
        ("audit", "audit_id", vec![&own, &of_nobody]),
        ("chain_head", "agent_id", vec![&chef]),
        ("lifecycle", "agent_id", vec![&chef]),
    ] {
        let told = |id: &str| {
            let sent = json!({"target": target, name: id}).to_string();
            let (server, head, id) = (&server, format!("INSPECT /\r\nAgent-ID: {gate}"), id.to_owned());
            async move {
                let answer = server.ask(&head, &sent).await;
                // Its own name alone tells the two apart.
                (answer.start.code, body(&answer)["error"].to_string().replace(&id, "ID"))
            }
        };
        for other in others {
            assert_eq!(told(other).await, told(&unknown).await, "{target}");
        }
        let sent = json!({"target": target, name: unknown}).to_string();
        assert_eq!(server.ask("INSPECT /", &sent).await.start.code, 401, "who says no name: {target}");
    }
}

#[tokio::test]
async fn base_8_2_changes_of_an_agents_life_join_its_chain() {
    let server = server("[audit]\nread_acl = \"public\"").await;
    let before = server.ask_as_chef("FETCH /rooms/7", "").await.field("Audit-ID").unwrap().to_owned();
    let changed = server.ask_as_chef("DEACTIVATE /", r#"{"reason": "a test"}"#).await;
    let event = record(&changed)["previous_audit_id"].clone();
    assert_ne!(event, json!(before), "the event stands between the two responses");
    let sent = json!({"target": "audit", "audit_id": event}).to_string();
    let found = body(&server.ask("INSPECT /", &sent).await)["payload"].clone();
    assert_eq!(
        (&found["event_type"], &found["previous_audit_id"]),
        (&json!("agent-lifecycle-suspended"), &json!(before))
    );
    assert_eq!((&found["previous_status"], &found["new_status"]), (&json!("active"), &json!("suspended")));
    assert_eq!(found["statement_audit_id"], body(&changed)["audit_id"]);
    assert!(verified(&server).await.is_fine());
}

#[tokio::test]
async fn base_6_6_a_key_of_the_operators_signs_and_stands_in_the_manifest() {
    let own = "[signing]\nkey_id = \"records-1\"";
    let server = server(own).await;
    server.ask_as_chef("FETCH /rooms/7", "").await;
    let told = verified(&server).await;
    assert!(told.is_fine() && told.unsigned == 0, "{told:?}");
    let manifest = body(&server.ask("DISCOVER", "").await);
    let keys = manifest["server"]["signing_keys"]["keys"].as_array().unwrap();
    assert!(keys.iter().any(|key| key["kid"] == "records-1"), "{keys:?}");
}

#[tokio::test]
async fn base_8_1_without_a_key_records_say_none_and_without_records_nothing_is_said() {
    let unsigned = server("[signing]\nenabled = false").await;
    let answer = unsigned.ask_as_chef("FETCH /rooms/7", "").await;
    let jws = answer.field("Attribution-Record").unwrap();
    assert!(jws.starts_with("eyJhbGciOiJub25lIi") && jws.ends_with('.'), "{jws}");
    record(&answer);
    let off = server("[audit]\nenabled = false\nread_acl = \"public\"").await;
    let answer = off.ask_as_chef("FETCH /rooms/7", "").await;
    assert_eq!((answer.field("Attribution-Record"), answer.field("Audit-ID")), (None, None));
    let sent = json!({"target": "audit", "audit_id": "0".repeat(64)}).to_string();
    assert_eq!(code(&off.ask("INSPECT /", &sent).await), (404, "audit-record-not-found".to_owned()));
}

#[tokio::test]
async fn what_cant_be_recorded_is_refused_or_served_as_the_operator_wishes() {
    for (setting, then) in [("refuse", 503), ("serve", 200)] {
        let server = server(&format!("[audit]\non_failure = \"{setting}\"")).await;
        server.ask_as_chef("FETCH /rooms/7", "").await;
        let segment = folder(&server.mounted.mount.data).join("segment-0000000001.log");
        std::fs::OpenOptions::new().write(true).open(&segment).unwrap().set_len(10).unwrap();
        let first = server.ask_as_chef("FETCH /rooms/7", "").await;
        assert_eq!(first.start.code, then);
        assert_eq!((first.field("Attribution-Record"), first.field("Audit-ID")), (None, None));
        let next = server.ask_as_chef("BOOK /rooms/7", "").await;
        assert_eq!(next.start.code, then);
        if setting == "refuse" {
            assert_eq!(
                (code(&first).1.as_str(), body(&first)["error"]["may_be_done"].clone()),
                ("record-not-kept", json!(true))
            );
            assert_eq!(body(&next)["error"]["may_be_done"], json!(false), "nothing is done once that is known");
            assert!(next.field("Retry-After").is_some());
        }
    }
}
