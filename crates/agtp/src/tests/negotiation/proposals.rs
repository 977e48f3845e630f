//! PROPOSE: its forms, the order of its evaluation, and what becomes of it. AGTP-API 8.7, 10.3 to 10.8.

use std::time::Duration;

use super::*;

/// What chef is answered that proposes this.
async fn propose(hotel: &Hotel, parameters: Value) -> (u16, Value) {
    hotel.floor("PROPOSE", parameters).await
}

/// A proposal with one member of its endpoint changed.
fn changed(name: &str, to: Value) -> Value {
    let mut endpoint = weekend();
    endpoint[name] = to;
    json!({"endpoint": endpoint})
}

#[tokio::test]
async fn s8_7_proposals_are_refused_where_nothing_is_made() {
    let hotel = Hotel::with("").await;
    for proposal in [json!({"endpoint": weekend()}), json!({}), json!({"name": "x", "endpoint": {}})] {
        let (code, said) = propose(&hotel, proposal).await;
        assert_eq!((code, word(&said, "reason")), (463, "synthesis-disabled"));
    }
}

#[tokio::test]
async fn s10_4_1_and_10_4_2_both_forms_are_taken() {
    let hotel = Hotel::open().await;
    let mut legacy = weekend();
    legacy["name"] = json!("book-weekend");
    let envelope = json!({"method": "PROPOSE", "task_id": "t-1", "parameters": {"endpoint": weekend()}});
    for proposal in [json!({"endpoint": weekend(), "persistent": false}), legacy, envelope] {
        let (code, said) = propose(&hotel, proposal.clone()).await;
        assert_eq!(code, 263, "{proposal}: {said}");
    }
    let (code, said) = propose(&hotel, json!({"name": "x", "endpoint": weekend()})).await;
    assert_eq!((code, word(&said, "issue"), &said["reason"]), (400, "ambiguous-body", &json!("ambiguous-body")));
}

#[tokio::test]
async fn s10_4_3_what_was_made_is_told_whole() {
    let hotel = Hotel::open().await;
    let proposal = json!({"endpoint": weekend()});
    let answer = hotel.say(Sent { by: "chef", line: "PROPOSE /", fields: &[], body: proposal }).await;
    assert_eq!(answer.field("Content-Type"), Some("application/vnd.agtp.endpoint+json"));
    let said = body(&answer);
    assert_eq!((&said["status"], &said["method"], &said["path"]), (&json!(263), &json!("RESERVE"), &json!("/weekend")));
    assert_eq!(said["recipe_lineage"], json!({"recipe_name": "weekend", "recipe_version": "1"}));
    assert_eq!((&said["persistent"], &said["granted_duration"]), (&json!(false), &json!("1d")));
    assert!(said["endpoint"]["semantic"].is_object() && said["expires_at"].is_string(), "{said}");
    assert!(said["synthesis_log"].is_array(), "{said}");
    let id = said["synthesis_id"].as_str().unwrap();
    let (_, told) = hotel.floor("INSPECT", json!({"target": "contract", "synthesis_id": id})).await;
    assert_eq!((&told["recipe_lineage"], &told["negotiation_origin"]), (&said["recipe_lineage"], &json!("propose")));
}

#[tokio::test]
async fn s10_6_the_first_that_is_wrong_is_told() {
    let hotel = Hotel::open().await;
    let path = |path: &str| changed("path", json!(path));
    let mut wrong_everywhere = changed("method", json!("QEURY"));
    wrong_everywhere["endpoint"]["path"] = json!("/order");
    let no_scope = changed("required_scopes", json!(["payments:take"]));
    for (proposal, code, reason) in [
        (wrong_everywhere, 459, "method-violation"),
        (changed("method", json!("QEURY")), 459, "method-violation"),
        (path("/order"), 460, "endpoint-violation"),
        (changed("semantic", json!({"intent": "Book."})), 400, "bad-request"),
        (changed("input_schema", json!({"type": "no-type"})), 400, "bad-request"),
        (no_scope, 262, "authorization-required"),
        (path("/castle"), 463, "proposal-rejected"),
    ] {
        // A server each, since only so many may be refused.
        let fresh = Hotel::open().await;
        let (status, said) = propose(&fresh, proposal.clone()).await;
        assert_eq!((status, word(&said, "code")), (code, reason), "{proposal}: {said}");
    }
    let (_, said) = propose(&hotel, path("/castle")).await;
    assert_eq!(word(&said, "reason"), "composition-impossible");
    let (_, said) = propose(&hotel, changed("semantic", json!({"intent": "Book."}))).await;
    assert_eq!(word(&said, "issue"), "malformed-semantic-block");
}

#[tokio::test]
async fn s10_6_the_callers_authority_covers_every_step() {
    let hotel = Hotel::open().await;
    let (code, said) = hotel.floor_by("chef", "room:read", "PROPOSE", json!({"endpoint": weekend()})).await;
    assert_eq!((code, word(&said, "type")), (262, "scope-required"));
    assert_eq!(said["error"]["details"]["missing_scopes"], json!(["room:book"]));
}

#[tokio::test]
async fn s10_3_after_three_refusals_its_agent_escalates() {
    let hotel = Hotel::open().await;
    let castle = || changed("path", json!("/castle"));
    let by = async |session: &str| {
        let sent = Sent { by: "chef", line: "PROPOSE /", fields: &[("Session-ID", session)], body: castle() };
        body(&hotel.say(sent).await)
    };
    for _ in 0..3 {
        assert_eq!(word(&by("s-1").await, "reason"), "composition-impossible");
    }
    let said = by("s-1").await;
    assert!(word(&said, "explanation").contains("ESCALATE"), "{said}");
    assert_eq!((&said["error"]["turns"], &said["error"]["escalate"]["method"]), (&json!(3), &json!("ESCALATE")));
    assert_eq!(word(&by("s-2").await, "reason"), "composition-impossible", "another session");
    let question = json!({"task_id": "t-1", "reason": "scope_limit", "context": {"wanted": "a castle"}});
    let sent = Sent { by: "chef", line: "ESCALATE /", fields: &[("Session-ID", "s-1")], body: question };
    assert_eq!(hotel.say(sent).await.start.code, 202);
    assert_eq!(word(&by("s-1").await, "reason"), "composition-impossible", "a person knows of it now");
}

#[tokio::test]
async fn s10_8_a_contract_ends_with_its_connection() {
    let hotel = Hotel::open().await;
    let mut client = hotel.server.connect();
    let proposal = Sent { by: "chef", line: "PROPOSE /", fields: &[], body: json!({"endpoint": weekend()}) };
    let id = body(&hotel.say_by(&mut client, proposal).await)["synthesis_id"].as_str().unwrap().to_owned();
    let call = || Sent { by: "chef", line: "RESERVE /weekend", fields: &[], body: stay() };
    assert_eq!(hotel.say_by(&mut client, call()).await.start.code, 200);
    assert_eq!(hotel.say(call()).await.start.code, 404, "another connection is another session");
    let elsewhere = hotel.reserve(&[presents(&id)]).await;
    assert_eq!((elsewhere.start.code, word(&body(&elsewhere), "reason")), (464, "contract-not-yours"));
    drop(client);
    for _ in 0..1_000 {
        let (_, said) = hotel.floor("INSPECT", json!({"target": "contract", "synthesis_id": id})).await;
        if said["state"] != "active" {
            break;
        }
        tokio::task::yield_now().await;
    }
    let (_, said) = hotel.floor("INSPECT", json!({"target": "contract", "synthesis_id": id})).await;
    assert_ne!(said["state"], "active", "{said}");
}

#[tokio::test]
async fn s10_8_a_session_that_has_a_name_outlives_its_connections() {
    let hotel = Hotel::open().await;
    let session = |name: &'static str| [("Session-ID", name)];
    let fields = session("s-1");
    let sent = Sent { by: "chef", line: "PROPOSE /", fields: &fields, body: json!({"endpoint": weekend()}) };
    let id = body(&hotel.say(sent).await)["synthesis_id"].as_str().unwrap().to_owned();
    assert_eq!(hotel.reserve(&session("s-1")).await.start.code, 200);
    assert_eq!(hotel.reserve(&session("s-2")).await.start.code, 404);
    let theirs = Sent { by: "gate", line: "RESERVE /weekend", fields: &session("s-1"), body: stay() };
    assert_eq!(hotel.say(theirs).await.start.code, 404, "the same name of another agent is another session");
    let foreign = hotel.reserve(&[presents(&id), ("Session-ID", "s-2")]).await;
    assert_eq!(word(&body(&foreign), "reason"), "contract-not-yours");
    hotel.server.mounted.clock.advance(Duration::from_secs(86_401));
    let late = hotel.reserve(&[presents(&id), ("Session-ID", "s-1")]).await;
    assert_eq!(word(&body(&late), "reason"), "contract-revoked", "its time bounds it all the same");
}

#[tokio::test]
async fn s11_261_a_proposal_is_looked_at_later_and_asked_for() {
    let hotel = Hotel::with(&format!("{OPEN}[synthesis]\nasync_evaluation_enabled = true")).await;
    for (proposal, status, state) in
        [(json!({"endpoint": weekend()}), 263, "accepted"), (changed("path", json!("/castle")), 463, "rejected")]
    {
        let (code, said) = propose(&hotel, proposal).await;
        assert_eq!(code, 261, "{said}");
        let id = said["proposal_id"].as_str().unwrap();
        assert_eq!(said["polling_path"], format!("/proposals/{id}"));
        assert_eq!(said["max_evaluation_duration"], "10m");
        assert!(said["evaluation_started_at"].is_string() && said["explanation"].is_string());
        let line = format!("QUERY /proposals/{id}");
        let mut answer = (0, Value::Null);
        for _ in 0..10_000 {
            let polled = hotel.say(Sent { by: "chef", line: &line, fields: &[], body: Value::Null }).await;
            answer = (polled.start.code, body(&polled));
            if answer.0 != 261 {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!((answer.0, &answer.1["state"], &answer.1["proposal_id"]), (status, &json!(state), &json!(id)));
        let in_body = Sent { by: "chef", line: "QUERY /proposals", fields: &[], body: json!({"proposal_id": id}) };
        assert_eq!(hotel.say(in_body).await.start.code, status, "the other form");
        let theirs = hotel.say(Sent { by: "gate", line: &line, fields: &[], body: Value::Null }).await;
        assert_eq!((theirs.start.code, word(&body(&theirs), "code")), (404, "proposal-not-found"));
    }
    let unknown = hotel.say(Sent { by: "chef", line: "QUERY /proposals/x", fields: &[], body: Value::Null }).await;
    assert_eq!(unknown.start.code, 404);
    assert_eq!(hotel.server.ask("QUERY /proposals/x", "").await.start.code, 401);
}

#[tokio::test]
async fn only_agents_with_a_name_propose() {
    let hotel = Hotel::open().await;
    assert_eq!(hotel.server.ask("PROPOSE /", &json!({"endpoint": weekend()}).to_string()).await.start.code, 401);
}
