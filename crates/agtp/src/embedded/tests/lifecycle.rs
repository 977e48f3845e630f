//! Where agents stand: ACTIVATE, DEACTIVATE, REINSTATE, REVOKE, DEPRECATE. Base 3.2, 3.3.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::Timestamp;
use forecourt_identity::certificate::AgentCertificate;
use forecourt_identity::jws::Jws;
use serde_json::{Value, json};

use super::{call, server, word};
use crate::service::ConnectionInfo;
use crate::tests::support::{LOCAL, Server, blueprint, body, server as server_by, server_of};

async fn events(server: &Server) -> Vec<Value> {
    let (_, body) = call(server, "INSPECT", json!({"target": "lifecycle", "agent_id": server.id("chef")})).await;
    body["events"].as_array().cloned().unwrap()
}

#[tokio::test]
async fn s3_2_each_method_leads_to_its_state_and_writes_its_event() {
    let server = server().await;
    let rows = [
        ("DEACTIVATE", "active", "suspended", "agent-lifecycle-suspended"),
        ("REINSTATE", "suspended", "active", "agent-lifecycle-reinstated"),
        ("DEPRECATE", "active", "deprecated", "agent-lifecycle-deprecated"),
        ("ACTIVATE", "deprecated", "active", "agent-lifecycle-reinstated"),
        ("REVOKE", "active", "retired", "agent-genesis-revoked"),
    ];
    for (method, from, to, event) in rows {
        let (code, body) = call(&server, method, json!({"reason": "a test"})).await;
        assert_eq!(code, 200, "{method} {body}");
        let told = (&body["previous_status"], &body["status"], &body["event_type"]);
        assert_eq!(told, (&json!(from), &json!(to), &json!(event)), "{method}");
        assert_eq!(body["audit_id"].as_str().map(str::len), Some(64));
    }
    assert_eq!(events(&server).await.len(), rows.len());
}

#[tokio::test]
async fn s3_2_an_agent_that_stands_there_already_is_a_noop_without_an_event() {
    let server = server().await;
    for (method, noop) in [("ACTIVATE", json!(true)), ("DEACTIVATE", Value::Null), ("DEACTIVATE", json!(true))] {
        let (code, body) = call(&server, method, json!({})).await;
        assert_eq!((code, &body["noop"]), (200, &noop), "{method}");
    }
    assert_eq!(events(&server).await.len(), 1);
}

#[tokio::test]
async fn s3_2_nothing_leads_back_from_retirement() {
    let server = server().await;
    call(&server, "REVOKE", json!({"reason": "over"})).await;
    for method in ["ACTIVATE", "REINSTATE", "DEACTIVATE", "DEPRECATE"] {
        let (code, body) = call(&server, method, json!({})).await;
        assert_eq!((code, word(&body)), (422, "invalid-lifecycle-transition"), "{method}");
    }
}

#[tokio::test]
async fn s3_2_a_suspended_agent_is_503_a_retired_one_410_and_a_deprecated_one_served() {
    let server = server().await;
    let query = json!({"intent": "x"});
    for (method, status, code) in
        [("DEACTIVATE", 503, "agent-suspended"), ("DEPRECATE", 200, ""), ("REVOKE", 410, "agent-revoked")]
    {
        call(&server, method, json!({"reason": "a test"})).await;
        let (found, body) = call(&server, "QUERY", query.clone()).await;
        assert_eq!((found, word(&body)), (status, code), "{method}");
        for open in ["DESCRIBE", "DISCOVER"] {
            assert_eq!(call(&server, open, json!({})).await.0, 200, "{open} after {method}");
        }
    }
}

#[tokio::test]
async fn s3_2_the_agent_in_the_parameters_is_the_one() {
    let server = server().await;
    let (_, body) = call(&server, "DEACTIVATE", json!({"agent_id": server.id("gate"), "actor": "ann"})).await;
    assert_eq!(body["agent_id"], server.id("gate"));
    assert_eq!(call(&server, "QUERY", json!({"intent": "x"})).await.0, 200);
    let (code, body) = call(&server, "DEACTIVATE", json!({"agent_id": "x"})).await;
    assert_eq!((code, word(&body)), (400, "invalid-agent-id"));
    let (code, body) = call(&server, "DEACTIVATE", json!({"agent_id": "0".repeat(64)})).await;
    assert_eq!((code, word(&body)), (404, "agent-not-found"));
}

/// From this machine, with a certificate whose key has this fingerprint.
async fn by_key(server: &Server, fingerprint: &str) -> (u16, Value) {
    let certificate = AgentCertificate {
        agent_id: None,
        principal_id: None,
        scopes: None,
        governance_zone: None,
        trust_tier: None,
        archetype: None,
        activation_id: None,
        ctl_sct: None,
        fingerprint: Some(fingerprint.to_owned()),
        not_before: Timestamp::MIN,
        not_after: Timestamp::MAX,
    };
    let mut client =
        server.connect_by(ConnectionInfo { certificate: Some(Ok(certificate)), ..ConnectionInfo::new(LOCAL, None) });
    client.say("DEACTIVATE /", &json!({"agent_id": server.id("chef")}).to_string()).await;
    let response = client.hear().await.expect("an answer");
    (response.start.code, body(&response))
}

#[tokio::test]
async fn s3_2_where_it_is_not_open_it_takes_the_key_that_issued_the_origin() {
    let server = server_by("lifecycle_auth = \"genesis_issuer\"").await;
    let (code, body) = call(&server, "DEACTIVATE", json!({})).await;
    assert_eq!((code, &body["error"]["reason"]), (401, &json!("genesis-issuer-cert-required")));
    let (code, body) = by_key(&server, &"0".repeat(64)).await;
    assert_eq!((code, &body["error"]["reason"]), (403, &json!("genesis-issuer-mismatch")));
    assert!(events(&server).await.is_empty());
    let chef = server.service.agents.of_name("chef").expect("an agent");
    let issuer = chef.genesis().and_then(|genesis| genesis.issuer_fingerprint()).expect("an issuer");
    let (code, body) = by_key(&server, &issuer).await;
    assert_eq!((code, &body["status"]), (200, &json!("suspended")), "{body}");
}

#[tokio::test]
async fn s3_2_open_is_for_this_machine_alone() {
    let server = server_by("lifecycle_auth = \"open\"\nrequire_verified_identity = false").await;
    let mut client = server
        .connect_by(ConnectionInfo { id: None, ..ConnectionInfo::new("192.0.2.1".parse().expect("an address"), None) });
    client.say("DEACTIVATE /", &json!({"agent_id": server.id("chef")}).to_string()).await;
    assert_eq!(client.hear().await.expect("an answer").start.code, 401);
}

#[tokio::test]
async fn s3_2_a_deprecation_says_what_comes_next() {
    let server = server().await;
    let next = server.id("gate");
    let parameters = json!({"successor_agent_id": next, "migration_deadline": "2027-01-15T09:00:00Z"});
    let (_, body) = call(&server, "DEPRECATE", parameters).await;
    assert_eq!(
        (&body["successor_agent_id"], &body["migration_deadline"]),
        (&json!(next), &json!("2027-01-15T09:00:00Z"))
    );
    assert_eq!(events(&server).await[0]["payload"]["successor_agent_id"], next);
}

#[tokio::test]
async fn s3_3_events_are_signed_and_the_newest_comes_first() {
    let server = server().await;
    call(&server, "DEACTIVATE", json!({"reason": "first"})).await;
    call(&server, "REINSTATE", json!({"reason": "second"})).await;
    let events = events(&server).await;
    let reasons: Vec<_> = events.iter().map(|event| &event["payload"]["reason"]).collect();
    assert_eq!(reasons, [&json!("second"), &json!("first")]);
    for event in &events {
        let jws = event["jws"].as_str().unwrap();
        let key = server.service.keys.load().current().verify_key().unwrap();
        assert!(Jws::parse(jws).unwrap().verify_with(&key).is_ok());
        let hash: String = digest(&SHA256, jws.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((&event["audit_id"], &event["format"]), (&json!(hash), &json!("jws")));
    }
    let one = json!({"target": "lifecycle", "agent_id": server.id("chef"), "limit": 1});
    assert_eq!(call(&server, "INSPECT", one).await.1["event_count"], 1);
}

#[tokio::test]
async fn s3_4_there_are_no_contracts_to_revoke() {
    let server = server().await;
    let revoke = |target: &str| json!({"target": target, "synthesis_id": "s", "reason": "x"});
    let (code, body) = call(&server, "REVOKE", revoke("contract")).await;
    assert_eq!((code, word(&body)), (404, "contract-not-found"));
    let (code, body) = call(&server, "REVOKE", revoke("stale-contracts")).await;
    assert_eq!((code, word(&body)), (403, "operator-scope-required"));
    assert!(events(&server).await.is_empty());
}

#[tokio::test]
async fn s10_1_4_1_a_sweep_of_stale_contracts_takes_its_two_modes_and_finds_none() {
    let mut blueprint = blueprint("");
    blueprint.identities.scopes = forecourt_contract::ScopeSet::parse_list("inspect:all, booking:room").ok();
    let server = server_of(blueprint).await;
    let sweep = async |parameters: Value| {
        let head = format!("REVOKE /\r\nAgent-ID: {}\r\nAuthority-Scope: inspect:all", server.id("chef"));
        let response = server.ask(&head, &parameters.to_string()).await;
        (response.start.code, body(&response))
    };
    let swept = |mode: Option<&str>| json!({"target": "stale-contracts", "mode": mode, "actor": "ops", "reason": "x"});
    for (mode, used) in
        [(None, "grandfather"), (Some("grandfather"), "grandfather"), (Some("invalidate"), "invalidate")]
    {
        let (code, body) = sweep(swept(mode)).await;
        assert_eq!((code, &body["mode"], &body["records"]), (200, &json!(used), &json!([])), "{body}");
        assert_eq!(body["actor"], "ops");
    }
    assert_eq!(sweep(swept(Some("evict"))).await.0, 400);
}
