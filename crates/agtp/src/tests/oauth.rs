//! For whom callers act, as their tokens say it. Base 7.4.

use std::net::{IpAddr, Ipv4Addr};

use forecourt_agtp_wire::message::Response;
use serde_json::{Value, json};

use super::support::{LOCAL, Server, body, code, server};
use crate::limits::PRINCIPAL_BYTES_MAX;
use crate::service::ConnectionInfo;

const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
const NOOP: &str = "[policies.oauth]\nvalidator = \"noop\"\nallow_noop_validator = true\n\
    [endpoints]\ntoken_required = [\"FETCH\"]\nscope_required = false";

async fn ask_from(server: &Server, peer: IpAddr, token: Option<&str>) -> Response {
    let token = token.map(|token| format!("\r\nAuthorization: {token}")).unwrap_or_default();
    let mut client = server.connect_by(ConnectionInfo::new(peer, None));
    client.say(&format!("FETCH /rooms/7?how=principal{token}"), "").await;
    client.hear().await.expect("an answer")
}

/// For whom a call with `token` acts.
async fn principal(server: &Server, token: Option<&str>) -> Value {
    let answer = ask_from(server, LOCAL, token).await;
    assert_eq!(answer.start.code, 200, "{}", body(&answer));
    body(&answer)["input"]["for"].clone()
}

#[tokio::test]
async fn base_7_4_the_principal_is_the_subject_as_its_issuer_wrote_it() {
    let server = server("[endpoints]\nscope_required = false").await;
    assert_eq!(principal(&server, Some(&server.mounted.token("ada"))).await, "ada");
    assert_eq!(principal(&server, None).await, Value::Null);
    // A name beside the token changes nothing.
    let token = server.mounted.token("ada");
    let head = format!("FETCH /rooms/7?how=principal\r\nAuthorization: {token}");
    assert_eq!(body(&server.ask_as_chef(&head, "").await)["input"]["for"], "ada");
}

#[tokio::test]
async fn base_7_4_the_principal_may_be_another_claim_and_must_be_there() {
    let server = server("[policies.oauth]\nprincipal_id_claim = \"email\"\n[endpoints]\nscope_required = false").await;
    let with = |value: Value| server.mounted.token_with("ada", "email", &value);
    assert_eq!(principal(&server, Some(&with(json!("ada@acme.tld")))).await, "ada@acme.tld");
    let most = "x".repeat(PRINCIPAL_BYTES_MAX);
    assert_eq!(principal(&server, Some(&with(json!(most)))).await, most);
    let long = json!("x".repeat(PRINCIPAL_BYTES_MAX + 1));
    for wrong in [long, json!(""), json!("a\nb"), json!(7), json!(["ada"]), Value::Null] {
        let answer = ask_from(&server, LOCAL, Some(&with(wrong.clone()))).await;
        assert_eq!(code(&answer), (401, "oauth-invalid".to_owned()), "{wrong}");
    }
    let answer = ask_from(&server, LOCAL, Some(&server.mounted.token("ada"))).await;
    let message = body(&answer)["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`email`") && message.contains(&PRINCIPAL_BYTES_MAX.to_string()), "{message}");
}

#[tokio::test]
async fn base_7_4_noop_takes_any_token_here_and_names_nobody_by_it() {
    let server = server(NOOP).await;
    assert_eq!(principal(&server, Some("Bearer anything")).await, Value::Null);
    assert_eq!(code(&ask_from(&server, LOCAL, None).await), (401, "oauth-required".to_owned()));
    for wrong in ["Bearer ", "Basic YTpi", "Bearer a b"] {
        assert_eq!(code(&ask_from(&server, LOCAL, Some(wrong)).await), (401, "oauth-invalid".to_owned()), "{wrong}");
    }
    // However a request from elsewhere came in.
    let elsewhere = ask_from(&server, ELSEWHERE, Some("Bearer anything")).await;
    assert_eq!(code(&elsewhere), (401, "oauth-invalid".to_owned()));
}

#[tokio::test]
async fn base_7_4_noop_proves_no_agents_name() {
    let text = NOOP.replace("[policies", "require_verified_identity = true\n[policies");
    let server = server(&text).await;
    let answer = server.ask_as_chef("FETCH /rooms/7\r\nAuthorization: Bearer anything", "").await;
    assert_eq!(code(&answer), (401, "agent-unauthenticated".to_owned()));
}
