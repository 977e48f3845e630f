//! Refusals whose condition can be met, and calls that go on after them. PolicyPart 5.5.

use forecourt_core::StateToken;
use forecourt_testhost::{consent_first, resident};
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::json;

use super::{call_with, word};
use crate::tests::support::{blueprint, server_of};

#[tokio::test]
async fn policy5_5_a_call_comes_back_with_the_state_of_its_refusal_and_is_answered_once() {
    let agent = ScriptedAgent::saying(["Hello."]);
    let mut blueprint = blueprint("");
    blueprint.residents[0] = resident(card("chef"), agent.clone(), vec![consent_first()]);
    let server = server_of(blueprint).await;
    let query = || json!({"intent": "soup"});
    let response = server.ask_as_chef("QUERY /\r\nSession-ID: s-1", &query().to_string()).await;
    let body = crate::tests::support::body(&response);
    assert_eq!((response.start.code, word(&body)), (262, "authorization-required"));
    let state = response.fields.get("Mentionable-State").unwrap().to_owned();
    assert_eq!(body["error"]["details"]["state"], state.as_str());
    assert!(body["error"]["details"]["url"].as_str().unwrap().ends_with(&state));
    let again = format!("\r\nSession-ID: s-1\r\nMentionable-State: {state}");
    assert_eq!(call_with(&server, "QUERY", &again, query()).await.0, 262, "it was not agreed to");
    let host = &server.mounted.mount.host;
    host.accept_consent(&StateToken::parse(&state).unwrap(), &Default::default()).await.unwrap();
    let other = format!("\r\nSession-ID: s-2\r\nMentionable-State: {state}");
    assert_eq!(call_with(&server, "QUERY", &other, query()).await.0, 262, "a state is its conversation's");
    assert_eq!(call_with(&server, "QUERY", &again, query()).await.0, 200);
    assert_eq!(call_with(&server, "QUERY", &again, query()).await.0, 262, "once");
    assert_eq!(agent.heard().len(), 1);
}
