//! Contracts from their making to their end. AGTP-API 5.8.6, 5.8.7, 10.1.4; base 3.3, 3.4.

use std::time::Duration;

use super::*;
use crate::tests::support::code;

/// A contract of chef's in force.
async fn accepted(hotel: &Hotel) -> String {
    let id = hotel.offered().await;
    assert_eq!(hotel.reserve(&[presents(&id)]).await.start.code, 200);
    id
}

async fn presented(hotel: &Hotel, id: &str) -> (u16, String) {
    let answer = hotel.reserve(&[presents(id)]).await;
    let said = body(&answer);
    let reason = word(&said, "reason");
    (answer.start.code, if reason.is_empty() { word(&said, "code") } else { reason }.to_owned())
}

#[tokio::test]
async fn s10_1_4_a_name_that_nobody_knows_is_404() {
    let hotel = Hotel::open().await;
    assert_eq!(presented(&hotel, "nobody-knows-it").await, (404, "contract-not-found".to_owned()));
    let long = "x".repeat(256);
    assert_eq!(hotel.reserve(&[presents(&long)]).await.start.code, 400);
}

#[tokio::test]
async fn s10_1_4_what_expired_is_told_as_such() {
    let hotel = Hotel::with(&format!("{OPEN}contract_ttl_seconds = 60")).await;
    let id = accepted(&hotel).await;
    hotel.server.mounted.clock.advance(Duration::from_secs(61));
    assert_eq!(presented(&hotel, &id).await, (464, "contract-revoked".to_owned()));
    assert_eq!(code(&hotel.reserve(&[]).await).0, 404, "it serves nobody any more");
}

#[tokio::test]
async fn s10_1_4_its_holder_gives_it_back() {
    let hotel = Hotel::open().await;
    let id = accepted(&hotel).await;
    let give_back = || json!({"synthesis_id": id, "reason": "done"});
    let (code, said) = hotel.floor_by("gate", SCOPES, "SUSPEND", give_back()).await;
    assert_eq!((code, word(&said, "code")), (403, "contract-not-yours"));
    let (code, said) = hotel.floor("SUSPEND", give_back()).await;
    assert_eq!((code, &said["status"], &said["synthesis_id"]), (200, &json!("released"), &json!(id)), "{said}");
    assert_eq!(presented(&hotel, &id).await, (404, "contract-not-found".to_owned()));
    assert_eq!(hotel.floor("SUSPEND", give_back()).await.0, 404);
    assert_eq!(hotel.floor("SUSPEND", json!({"synthesis_id": ""})).await.0, 422, "no session rests instead");
}

#[tokio::test]
async fn s10_1_4_an_operator_revokes_it_for_good() {
    let hotel = Hotel::open().await;
    let id = accepted(&hotel).await;
    let revoke = || json!({"target": "contract", "synthesis_id": id, "reason": "abuse", "actor": "ops"});
    let (code, said) = hotel.floor_by("gate", SCOPES, "REVOKE", revoke()).await;
    assert_eq!((code, word(&said, "code")), (403, "contract-not-yours"));
    let (code, said) = hotel.floor_by("gate", OPERATOR, "REVOKE", revoke()).await;
    assert_eq!((code, &said["status"], &said["actor"]), (200, &json!("revoked"), &json!("ops")), "{said}");
    assert_eq!(presented(&hotel, &id).await, (464, "contract-revoked".to_owned()));
    assert_eq!(hotel.floor_by("gate", OPERATOR, "REVOKE", revoke()).await.0, 409);
    let (code, _) = hotel.floor("REVOKE", json!({"target": "contract", "synthesis_id": "x"})).await;
    assert_eq!(code, 404);
    let own = accepted(&hotel).await;
    let (code, said) = hotel.floor("REVOKE", json!({"target": "contract", "synthesis_id": own})).await;
    assert_eq!(code, 200, "its holder may as well: {said}");
}

#[tokio::test]
async fn s10_1_4_1_only_operators_sweep_and_every_contract_is_listed() {
    let hotel = Hotel::open().await;
    let id = accepted(&hotel).await;
    let (code, said) = hotel.floor("REVOKE", json!({"target": "stale-contracts"})).await;
    assert_eq!((code, word(&said, "code")), (403, "operator-scope-required"));
    let sweep = |mode: &str| json!({"target": "stale-contracts", "mode": mode, "actor": "ops"});
    assert_eq!(hotel.floor_by("gate", OPERATOR, "REVOKE", sweep("burn")).await.0, 400);
    let (code, said) = hotel.floor_by("gate", OPERATOR, "REVOKE", sweep("invalidate")).await;
    assert_eq!((code, &said["mode"], &said["actor"]), (200, &json!("invalidate"), &json!("ops")));
    let record = &said["records"][0];
    assert_eq!((&record["synthesis_id"], &record["disposition"]), (&json!(id), &json!("unchanged")), "{said}");
    assert_eq!((&record["captured_version"], &record["current_version"]), (&json!("1"), &json!("1")));
    let (_, said) = hotel.floor_by("gate", OPERATOR, "REVOKE", json!({"target": "stale-contracts"})).await;
    assert_eq!(said["mode"], "grandfather", "the operator's setting");
    assert_eq!(presented(&hotel, &id).await.0, 200);
}

#[tokio::test]
async fn s10_1_1_a_contract_is_looked_at_by_its_holder_and_by_operators() {
    let hotel = Hotel::open().await;
    let id = accepted(&hotel).await;
    let inspect = || json!({"target": "contract", "synthesis_id": id});
    let (code, said) = hotel.floor("INSPECT", inspect()).await;
    assert_eq!(
        (code, &said["state"], &said["negotiation_origin"]),
        (200, &json!("active"), &json!("rcns-gate")),
        "{said}"
    );
    assert_eq!(said["recipe_lineage"], json!({"recipe_name": "weekend", "recipe_version": "1"}));
    assert_eq!(
        (&said["contract"]["method"], &said["originating_agent_id"]),
        (&json!("RESERVE"), &json!(hotel.server.id("chef")))
    );
    assert!(said["issued_at"].is_string() && said["expires_at"].is_string());
    assert_eq!(hotel.floor_by("gate", OPERATOR, "INSPECT", inspect()).await.0, 200);
    let (code, said) = hotel.floor_by("gate", SCOPES, "INSPECT", inspect()).await;
    assert_eq!((code, word(&said, "code")), (403, "contract-not-yours"));
    let anonymous = hotel.server.ask("INSPECT /", &inspect().to_string()).await;
    assert_eq!(anonymous.start.code, 401);
}

#[tokio::test]
async fn s5_8_7_contracts_are_listed_to_their_holders_and_to_operators() {
    let hotel = Hotel::open().await;
    let id = accepted(&hotel).await;
    let list = async |by: &str, scopes: &str, query: &str| {
        let line = format!("DISCOVER /contracts{query}");
        let answer =
            hotel.say(Sent { by, line: &line, fields: &[("Authority-Scope", scopes)], body: Value::Null }).await;
        (answer.start.code, body(&answer), answer.field("Continuation-Token").map(str::to_owned))
    };
    let (_, mine, next) = list("chef", SCOPES, "").await;
    assert_eq!((mine.as_array().map(Vec::len), next), (Some(1), None));
    for name in [
        "synthesis_id",
        "method",
        "path",
        "originating_agent_id",
        "recipe_lineage",
        "contract_hash",
        "negotiation_origin",
        "issued_at",
        "expires_at",
    ] {
        assert!(!mine[0][name].is_null(), "{name}: {mine}");
    }
    assert_eq!(list("gate", SCOPES, "").await.1, json!([]), "nothing of others");
    let theirs = Sent { by: "gate", line: "RESERVE /weekend", fields: &[ALLOW], body: stay() };
    let theirs = body(&hotel.say(theirs).await)["synthesis_id"].as_str().unwrap().to_owned();
    let sent = Sent { by: "gate", line: "RESERVE /weekend", fields: &[presents(&theirs)], body: stay() };
    assert_eq!(hotel.say(sent).await.start.code, 200);
    let (_, all, _) = list("gate", OPERATOR, "").await;
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let (_, first, next) = list("gate", OPERATOR, "?max_results=1").await;
    assert_eq!((&first[0]["synthesis_id"], next.as_deref()), (&json!(id), Some(id.as_str())));
    let (_, second, next) = list("gate", OPERATOR, &format!("?max_results=1&after={id}")).await;
    assert_eq!((&second[0]["synthesis_id"], next), (&json!(theirs), None));
    let (code, said, _) = list("gate", SCOPES, &format!("?after={id}")).await;
    assert_eq!((code, &said["error"]["field"]), (422, &json!("/after")), "no place in what is not one's own");
    assert_eq!(hotel.server.ask("DISCOVER /contracts", "").await.start.code, 401);
}

#[tokio::test]
async fn s5_8_6_patterns_say_whether_they_are_negotiated() {
    for (section, enabled) in [(OPEN, true), ("", false), ("[policies.rcns]\nenabled = true", false)] {
        let hotel = Hotel::with(section).await;
        let said = body(&hotel.server.ask("DISCOVER /patterns", "").await);
        assert_eq!(said["rcns_enabled"], enabled, "{section}");
        let pattern = &said["patterns"][0];
        assert_eq!((&pattern["recipe_name"], &pattern["recipe_version"]), (&json!("weekend"), &json!("1")));
        assert_eq!((&pattern["method"], &pattern["path_exact"]), (&json!("RESERVE"), &json!("/weekend")));
        assert!(pattern["path_regex"].is_null());
    }
}
