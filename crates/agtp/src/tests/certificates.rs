//! Callers that show a certificate. Base 6.7.

use std::net::{IpAddr, Ipv4Addr};

use forecourt_agtp_wire::message::Response;
use forecourt_contract::ScopeSet;
use forecourt_core::Timestamp;
use forecourt_identity::certificate::{AgentCertificate, AgentCertificateError};
use serde_json::json;

use super::support::{Server, body, certificate_of, code, server};
use crate::service::ConnectionInfo;

const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

async fn ask(server: &Server, certificate: AgentCertificate, fields: &str) -> Response {
    let line = ConnectionInfo { certificate: Some(Ok(certificate)), ..ConnectionInfo::new(ELSEWHERE, None) };
    let mut client = server.connect_by(line);
    client.say(&format!("FETCH /rooms/7\r\nAgent-ID: {}\r\n{fields}", server.id("chef")), "").await;
    client.hear().await.expect("an answer")
}

const SCOPE: &str = "Authority-Scope: booking:room";

#[tokio::test]
async fn base_6_7_a_certificate_proves_the_name() {
    let server = server("").await;
    let own = certificate_of(&server.id("chef"));
    assert_eq!(ask(&server, own, SCOPE).await.start.code, 200);
}

#[tokio::test]
async fn base_7_4_a_certificate_is_no_token() {
    let server = server("[endpoints]\ntoken_required = [\"FETCH\"]").await;
    let own = certificate_of(&server.id("chef"));
    assert_eq!(code(&ask(&server, own.clone(), SCOPE).await), (401, "oauth-required".to_owned()));
    let token = format!("{SCOPE}\r\nAuthorization: {}", server.mounted.token("somebody"));
    assert_eq!(ask(&server, own, &token).await.start.code, 200);
}

#[tokio::test]
async fn base_6_7_a_certificate_is_held_against_its_bearer() {
    let server = server("").await;
    let own = || certificate_of(&server.id("chef"));
    let limited = ScopeSet::parse_list("documents:query").unwrap();
    for (certificate, fields, wanted) in [
        (certificate_of(&server.id("gate")), SCOPE.to_owned(), (401, "agent-id-mismatch")),
        (own(), format!("{SCOPE}\r\nPrincipal-ID: other.tld"), (401, "principal-id-mismatch")),
        (
            AgentCertificate { not_after: Timestamp::UNIX_EPOCH, ..own() },
            SCOPE.to_owned(),
            (401, "cert-verification-failed"),
        ),
        (AgentCertificate { scopes: Some(limited), ..own() }, SCOPE.to_owned(), (455, "scope-violation")),
        (own(), format!("{SCOPE}\r\nAGTP-Zone-ID: us"), (457, "zone-violation")),
    ] {
        let answer = ask(&server, certificate, &fields).await;
        assert_eq!(code(&answer), (wanted.0, wanted.1.to_owned()), "{fields}");
        let error = &body(&answer)["error"];
        match wanted.0 {
            455 => assert_eq!(error["missing_scopes"], json!(["booking:room"])),
            457 => assert_eq!((&error["target_zone"], &error["request_zone"]), (&json!("eu"), &json!("us"))),
            _ => assert_eq!(error["reason"], wanted.1),
        }
    }
}

#[tokio::test]
async fn base_6_7_what_a_certificate_covers_bounds_what_was_declared() {
    let server = server("[endpoints]\nscope_required = false").await;
    let limited = Some(ScopeSet::parse_list("documents:query").unwrap());
    let certificate = AgentCertificate { scopes: limited, ..certificate_of(&server.id("chef")) };
    let line = ConnectionInfo { certificate: Some(Ok(certificate)), ..ConnectionInfo::new(ELSEWHERE, None) };
    let mut client = server.connect_by(line);
    client.say(&format!("BOOK /rooms/7\r\nAgent-ID: {}", server.id("chef")), "").await;
    assert_eq!(client.hear().await.unwrap().start.code, 455);
}

#[tokio::test]
async fn base_6_7_a_certificate_that_cant_be_read_is_no_proof() {
    let server = server("").await;
    let line = ConnectionInfo {
        certificate: Some(Err(AgentCertificateError::Malformed)),
        ..ConnectionInfo::new(ELSEWHERE, None)
    };
    let mut client = server.connect_by(line);
    client.say(&format!("FETCH /rooms/7\r\nAgent-ID: {}\r\n{SCOPE}", server.id("chef")), "").await;
    assert_eq!(code(&client.hear().await.unwrap()), (401, "cert-verification-failed".to_owned()));
    assert!(matches!(ConnectionInfo::new(ELSEWHERE, Some(b"junk")).certificate, Some(Err(_))));
}

#[tokio::test]
async fn base_6_7_another_agents_certificate_may_be_let_pass_and_proves_nothing() {
    let server = server("[mtls]\nrequire_agent_id_match = false").await;
    let other = certificate_of(&server.id("gate"));
    assert_eq!(code(&ask(&server, other, SCOPE).await), (401, "agent-unauthenticated".to_owned()));
}
