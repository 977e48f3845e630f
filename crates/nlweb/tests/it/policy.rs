//! Refusals whose condition can be met, and questions that go on after them. PolicyPart 5.5; NLWeb 4, 6.1.

use forecourt_core::StateToken;
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::support::*;

fn session(response: &Value) -> Value {
    response["_meta"]["session_context"].clone()
}

fn ask_in(session: &Value) -> Value {
    json!({"query": {"text": "soup"}, "meta": {"session_context": session}})
}

#[tokio::test]
async fn policy5_5_the_session_of_a_refusal_goes_on_after_it_once() {
    let agent = ScriptedAgent::saying(["soup"]);
    let rules = vec![forecourt_testhost::consent_first()];
    let place = Setup::default().guarded(card("bot"), agent.clone(), rules).start().await;
    let refused = place.say("soup").await;
    assert_eq!((refused.verdict().1.as_str(), refused.verdict().2.as_str()), ("failure", "CONSENT_REQUIRED"));
    let response = refused.json();
    let part = &response["_meta"]["mentionable"]["policy"]["part"];
    let kept = session(&response);
    assert_eq!(kept["mentionable.state"], part["state"]);
    assert!(kept["conversation_id"].is_string(), "{response}");
    assert!(refused.message().contains(part["url"].as_str().unwrap()));
    assert_eq!(place.ask(ask_in(&kept)).await.verdict().1, "failure", "it was not agreed to");
    place
        .host
        .accept_consent(&StateToken::parse(part["state"].as_str().unwrap()).unwrap(), &Default::default())
        .await
        .unwrap();
    let stranger = place.ask(ask_in(&json!({"mentionable.state": part["state"]}))).await;
    assert_eq!(stranger.verdict().1, "failure", "a state is its conversation's");
    let answer = place.ask(ask_in(&kept)).await;
    assert_eq!(answer.verdict().1, "answer", "{}", answer.text);
    assert!(session(&answer.json()).get("mentionable.state").is_none(), "it was used");
    assert_eq!(place.ask(ask_in(&kept)).await.verdict().1, "failure", "once");
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s6_1_a_stream_that_is_refused_before_it_begins_has_the_session_of_its_refusal() {
    let rules = vec![forecourt_testhost::consent_first()];
    let place = Setup::default().guarded(card("bot"), ScriptedAgent::saying(["soup"]), rules).start().await;
    let answer = place.stream(json!({"query": {"text": "soup"}})).await;
    assert!(answer.text.contains("mentionable.state") && answer.text.contains("conversation_id"), "{}", answer.text);
}
