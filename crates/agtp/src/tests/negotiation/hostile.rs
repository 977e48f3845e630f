//! Callers that mean no good, and plans that lead to themselves. AGTP-API 10.1.2, 16; base 9.5.

use super::*;
use crate::tests::support::{LOCAL, code};

/// A recipe whose step proposes an endpoint.
const ODD: &str = r#"
[[recipe]]
name = "proposer"
version = "1"
pattern = { name_exact = "RESERVE", path_exact = "/party" }
steps = [{ method = "PROPOSE" }]
"#;

#[tokio::test]
async fn s10_1_2_a_step_never_makes_a_contract() {
    let hotel = Hotel::and_recipes(ODD).await;
    let sent = Sent { by: "chef", line: "RESERVE /party", fields: &[ALLOW], body: json!({}) };
    let answer = hotel.say(sent).await;
    let said = body(&answer);
    let Some(id) = said["synthesis_id"].as_str() else {
        // Refused before there is anything to call, which is as well.
        assert_eq!((answer.start.code, word(&said, "reason")), (464, "composition-impossible"), "{said}");
        return;
    };
    let sent = Sent { by: "chef", line: "RESERVE /party", fields: &[presents(id), ALLOW], body: json!({}) };
    let answer = hotel.say(sent).await;
    assert_eq!(code(&answer), (422, "composition_failed".to_owned()), "{}", body(&answer));
    assert_eq!(body(&answer)["error"]["details"]["underlying_status"], 463);
}

#[tokio::test]
async fn s10_1_2_a_call_that_presents_a_contract_never_starts_a_synthesis() {
    let hotel = Hotel::open().await;
    for id in ["nobody-knows-it", "' OR 1=1 --", "../../etc/passwd"] {
        let answer = hotel.reserve(&[presents(id), ALLOW]).await;
        assert_eq!(code(&answer), (404, "contract-not-found".to_owned()), "{id}");
    }
    let (_, mine) = {
        let answer = hotel.say(Sent { by: "chef", line: "DISCOVER /contracts", fields: &[], body: Value::Null }).await;
        (answer.start.code, body(&answer))
    };
    assert_eq!(mine, json!([]));
}

#[tokio::test]
async fn base_9_5_a_plan_whose_steps_would_carry_the_contract_does_not_call_itself() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    for _ in 0..3 {
        let answer = hotel.reserve(&[presents(&id), ALLOW]).await;
        assert_eq!(answer.start.code, 200, "steps carry neither field: {}", body(&answer));
    }
    assert_eq!(hotel.booked(), 3);
}

#[tokio::test]
async fn base_2_1_two_contracts_at_once_are_none() {
    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let twice = [presents(&id), ("Synthesis-Id", "another")];
    assert_eq!(hotel.reserve(&twice).await.start.code, 400);
    let repeated = [presents(&id), presents(&id)];
    assert_eq!(hotel.reserve(&repeated).await.start.code, 400);
}

#[tokio::test]
async fn a_proposal_of_ten_megabytes_is_refused_before_it_is_read() {
    let hotel = Hotel::open().await;
    let mut client = hotel.server.connect();
    let head =
        format!("AGTP/1.0 PROPOSE /\r\nAgent-ID: {}\r\nContent-Length: 9999999\r\n\r\n", hotel.server.id("chef"));
    client.send(head.as_bytes()).await;
    let answer = client.hear().await.expect("an answer");
    assert_eq!(code(&answer), (400, "body-too-large".to_owned()));
    let deep = "[".repeat(100_000);
    let proposal = format!("{{\"endpoint\": {deep}");
    let answer = hotel.server.ask_as_chef("PROPOSE /", &proposal).await;
    assert_eq!(code(&answer), (400, "invalid-body".to_owned()));
    let mut wide = weekend();
    wide["input_schema"]["properties"] =
        (0..20_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>().into();
    let (status, said) = hotel.floor("PROPOSE", json!({"endpoint": wide})).await;
    assert_eq!((status, word(&said, "issue")), (400, "proposal-too-large"), "{said}");
}

#[tokio::test]
async fn a_flood_of_negotiations_meets_its_bounds() {
    let hotel = Hotel::with(&format!(
        "{OPEN}rate_limit_per_minute = 5\n[synthesis]\ncontracts_per_agent_max = 3\ncontracts_max = 4"
    ))
    .await;
    let mut codes = Vec::new();
    for n in 0..12 {
        let sent = Sent {
            by: "chef",
            line: "RESERVE /weekend",
            fields: &[ALLOW],
            body: json!({"room_id": n.to_string(), "guest": "Ada"}),
        };
        codes.push(hotel.say(sent).await.start.code);
    }
    assert!(codes.iter().filter(|code| **code == 429).count() >= 7, "{codes:?}");
    let mut refused = Value::Null;
    for n in 0..8 {
        let session = format!("s-{n}");
        let fields = [("Session-ID", session.as_str())];
        let answer = hotel
            .say(Sent { by: "gate", line: "PROPOSE /", fields: &fields, body: json!({"endpoint": weekend()}) })
            .await;
        if answer.start.code != 263 {
            refused = body(&answer);
            assert_eq!(answer.start.code, 429, "{refused}");
            assert!(answer.field("Retry-After").is_some());
        }
    }
    assert!(word(&refused, "bound").contains("contracts"), "the bound is named: {refused}");
}

#[tokio::test]
async fn base_12_the_gateway_opens_no_lock() {
    use axum::body::Body;
    use http::Request;
    use tower::ServiceExt;

    let hotel = Hotel::open().await;
    let id = hotel.offered().await;
    let router = crate::gateway::router(Arc::clone(&hotel.server.service));
    let ask = |name: &'static str, value: String| {
        let router = router.clone();
        let request = Request::builder()
            .method("RESERVE")
            .uri("/weekend")
            .header("x-agent-id", hotel.server.id("chef"))
            .header("x-authority-scope", SCOPES)
            .header(name, value)
            .extension(forecourt_core::ClientAddr(LOCAL))
            .body(Body::from(stay().to_string()))
            .unwrap();
        async move { router.oneshot(request).await.unwrap() }
    };
    assert_eq!(ask("allow-rcns", "true".to_owned()).await.status(), 404);
    let answer = ask("x-contract-synthesized", id.clone()).await;
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["contract-synthesized"].to_str().unwrap()),
        (200, id.as_str())
    );
}
