//! What a person is asked in the middle of a call.

use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::Question;
use forecourt_core::{Ending, PolicyPart};
use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{Answer, Place, Setup, ends, modern};

pub(crate) fn asks() -> Vec<Step> {
    let one = json!({"id": "diet", "text": "Which diet?", "type": "single_select", "options": ["vegan", "any"]});
    vec![ends(Ending::Question(Question { text: "Tell me more.".into(), questions: vec![one] }))]
}

async fn asking() -> (Place, Arc<ScriptedAgent>) {
    let (setup, agent) = Setup { issuer: true, ..Setup::default() }.playing("chef", asks());
    (setup.start().await, agent)
}

pub(crate) fn with_forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

pub(crate) async fn call(place: &Place, mut more: Value, capabilities: Value) -> Answer {
    more["name"] = "ask_chef".into();
    if more["arguments"].is_null() {
        more["arguments"] = json!({"message": "dinner"});
    }
    place.send(modern("/mcp", "tools/call", more, capabilities)).await
}

#[tokio::test]
async fn s3_a_client_without_forms_is_told_the_question() {
    let (place, _) = asking().await;
    let answer = call(&place, json!({}), json!({})).await;
    let result = &answer.last()["result"];
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(false)));
    assert_eq!(result["content"][0]["text"], "Tell me more.\n- Which diet? (vegan, any)");
    assert_eq!(result["structuredContent"]["state"], "input_required");
}

#[tokio::test]
async fn s5_a_client_with_forms_answers_and_calls_again() {
    let (place, agent) = asking().await;
    let first = call(&place, json!({}), with_forms()).await;
    let result = &first.last()["result"];
    assert_eq!(result["resultType"], "input_required");
    let form = &result["inputRequests"]["diet"];
    assert_eq!((&form["method"], &form["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    assert_eq!(form["params"]["requestedSchema"]["properties"]["diet"]["enum"], json!(["vegan", "any"]));
    let answered = json!({"action": "accept", "content": {"diet": "vegan"}});
    let again = json!({"requestState": result["requestState"], "inputResponses": {"diet": answered}});
    call(&place, again, with_forms()).await;
    let heard = agent.heard();
    assert_eq!(heard[1].text(), "Which diet? vegan");
    let before: Vec<_> = heard[1].history.iter().map(|turn| forecourt_core::message::text_of(&turn.parts)).collect();
    assert_eq!(before, ["dinner", "Tell me more."], "an agent without memory is told what was said");
}

#[tokio::test]
async fn s5_questions_end_after_three() {
    let (place, agent) = asking().await;
    let mut more = json!({});
    for round in 0..4 {
        let answer = call(&place, more, with_forms()).await;
        let result = &answer.last()["result"];
        assert_eq!(result["resultType"], if round < 3 { "input_required" } else { "complete" });
        let answered = json!({"action": "accept", "content": {"diet": "any"}});
        more = json!({"requestState": result["requestState"], "inputResponses": {"diet": answered}});
    }
    assert_eq!(agent.heard().len(), 4);
}

#[tokio::test]
async fn s5_who_declines_gives_the_call_up() {
    let (place, agent) = asking().await;
    let first = call(&place, json!({}), with_forms()).await;
    let state = first.last()["result"]["requestState"].clone();
    let declined = json!({"requestState": state, "inputResponses": {"diet": {"action": "decline"}}});
    let answer = call(&place, declined, with_forms()).await;
    assert_eq!(answer.last()["result"]["isError"], true);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s5_a_state_holds_for_its_call_and_its_caller_alone() {
    let (place, agent) = asking().await;
    let first = call(&place, json!({}), with_forms()).await;
    let state = first.last()["result"]["requestState"].as_str().unwrap().to_owned();
    let response = json!({"diet": {"action": "accept", "content": {"diet": "any"}}});
    let mut tampered = state.clone();
    tampered.pop();
    for (state, arguments) in [
        (tampered.as_str(), json!({"message": "dinner"})),
        (state.as_str(), json!({"message": "breakfast"})),
        ("", json!({"message": "dinner"})),
        ("rs1.AAAA.AAAA", json!({"message": "dinner"})),
        (&"x".repeat(100_000), json!({"message": "dinner"})),
    ] {
        let again = json!({"requestState": state, "inputResponses": response, "arguments": arguments});
        let answer = call(&place, again, with_forms()).await;
        assert_eq!(answer.last()["error"]["code"], -32602, "{arguments}");
    }
    let params = json!({"name": "ask_chef", "arguments": {"message": "dinner"}, "requestState": state,
        "inputResponses": response});
    let mut of_ann = modern("/mcp", "tools/call", params, with_forms());
    of_ann.headers_mut().insert("authorization", place.token("ann").parse().unwrap());
    assert_eq!(place.send(of_ann).await.last()["error"]["code"], -32602);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn s3_a_condition_with_a_page_is_put_to_the_person_where_the_client_can() {
    let kind = RefusalKind::ConsentRequired { state: "s".repeat(30), return_to: "https://demo.localhost/back".into() };
    let part = PolicyPart { url: Some("https://demo.localhost/consent".into()), ..PolicyPart::new(kind, "May I?") };
    let (setup, agent) = Setup::default().playing("chef", vec![ends(Ending::Refused(Box::new(part)))]);
    let place = setup.start().await;
    let plain = call(&place, json!({}), with_forms()).await;
    assert_eq!(plain.last()["result"]["isError"], true, "a form is no place for it");
    let answer = call(&place, json!({}), json!({"elicitation": {"url": {}}})).await;
    let result = &answer.last()["result"];
    let asked = &result["inputRequests"]["input"]["params"];
    assert_eq!((&asked["mode"], &asked["url"]), (&json!("url"), &json!("https://demo.localhost/consent")));
    let again = json!({"requestState": result["requestState"], "inputResponses": {"input": {"action": "accept"}}});
    call(&place, again, json!({"elicitation": {"url": {}}})).await;
    assert_eq!(agent.heard().last().map(forecourt_core::Message::text).as_deref(), Some("dinner"), "the same call");
}

/// Asks for two things at once.
fn asks_twice() -> Vec<Step> {
    let field = |id: &str, form: &str| json!({"id": id, "form": form, "text": format!("{id}?"), "type": "free_text"});
    let questions = vec![field("name", "user"), field("sure", "consent")];
    vec![ends(Ending::Question(Question { text: "Tell me more.".into(), questions }))]
}

#[tokio::test]
async fn s5_several_forms_are_put_at_once_and_those_that_are_missing_again() {
    let (setup, agent) = Setup::default().playing("chef", asks_twice());
    let place = setup.start().await;
    let first = call(&place, json!({}), with_forms()).await;
    let result = &first.last()["result"];
    let keys: Vec<_> = result["inputRequests"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["consent", "user"]);
    let said = |content: Value| json!({"action": "accept", "content": content});
    let one = json!({"requestState": result["requestState"], "inputResponses": {"user": said(json!({"name": "Ann"}))}});
    let second = call(&place, one, with_forms()).await;
    let result = &second.last()["result"];
    let keys: Vec<_> = result["inputRequests"].as_object().unwrap().keys().cloned().collect();
    assert_eq!((keys, agent.heard().len()), (vec!["consent".to_owned()], 1));
    let other = json!({"requestState": result["requestState"],
        "inputResponses": {"consent": said(json!({"sure": "yes", "more": 1})), "unknown": 7}});
    call(&place, other, with_forms()).await;
    assert_eq!(agent.heard()[1].text(), "name? Ann\nsure? yes");
}

#[tokio::test]
async fn s5_who_knows_what_is_asked_answers_with_the_call() {
    let (place, agent) = asking().await;
    let said = json!({"inputResponses": {"diet": {"action": "accept", "content": {"diet": "any"}}}});
    call(&place, said, with_forms()).await;
    assert_eq!(agent.heard()[1].text(), "Which diet? any");
    let wrong = call(&place, json!({"inputResponses": {"diet": 7}}), with_forms()).await;
    assert_eq!(wrong.last()["error"]["code"], -32602);
}

/// `@chef`, who wants a consent for each message.
async fn chef_with_terms() -> (Place, Arc<ScriptedAgent>) {
    let agent = ScriptedAgent::saying(["soup"]);
    let rules = vec![forecourt_testhost::consent_first()];
    (Setup::default().guarded(forecourt_testkit::card("chef"), agent.clone(), rules).start().await, agent)
}

fn state_of(refusal: &Value) -> forecourt_core::StateToken {
    forecourt_core::StateToken::parse(refusal["state"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn policy5_5_a_refusal_that_was_met_is_gone_on_after_by_its_state() {
    let (place, agent) = chef_with_terms().await;
    let refused = call(&place, json!({}), json!({})).await;
    let result = &refused.last()["result"];
    assert_eq!(result["isError"], true);
    let told = &result["structuredContent"];
    let refusal = &told["refusal"];
    assert_eq!(refusal, &result["_meta"]["mentionable"]["policy"]["part"]);
    assert!(result["content"].to_string().contains(refusal["url"].as_str().unwrap()), "{result}");
    let again = json!({"message": "dinner", "context_id": told["context_id"], "state": refusal["state"]});
    let early = call(&place, json!({"arguments": again}), json!({})).await;
    assert_eq!((&early.last()["result"]["isError"], agent.heard().len()), (&json!(true), 0));
    place.host().accept_consent(&state_of(refusal), &Default::default()).await.unwrap();
    let strange = json!({"message": "dinner", "state": refusal["state"]});
    let stranger = call(&place, json!({"arguments": strange}), json!({})).await;
    assert_eq!(stranger.last()["result"]["isError"], true, "a state is its conversation's");
    let met = call(&place, json!({"arguments": again}), json!({})).await;
    assert_eq!(met.last()["result"]["structuredContent"]["text"], "soup", "{:?}", met.last());
    let more = call(&place, json!({"arguments": again}), json!({})).await;
    assert_eq!((&more.last()["result"]["isError"], agent.heard().len()), (&json!(true), 1), "once");
}

#[tokio::test]
async fn policy5_5_who_was_at_the_page_has_the_call_answered() {
    let (place, agent) = chef_with_terms().await;
    let capabilities = || json!({"elicitation": {"url": {}}});
    let first = call(&place, json!({}), capabilities()).await;
    let result = &first.last()["result"];
    let url = result["inputRequests"]["input"]["params"]["url"].as_str().unwrap();
    let state = forecourt_core::StateToken::parse(url.rsplit('/').next().unwrap()).unwrap();
    place.host().accept_consent(&state, &Default::default()).await.unwrap();
    let again = json!({"requestState": result["requestState"], "inputResponses": {"input": {"action": "accept"}}});
    let answer = call(&place, again, capabilities()).await;
    assert_eq!(answer.last()["result"]["structuredContent"]["text"], "soup", "{:?}", answer.last());
    assert_eq!(agent.heard().len(), 1);
}
