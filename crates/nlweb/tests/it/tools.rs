//! NLWeb appendix A: what carriers of tools get.

use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Event, PolicyPart, Sender};
use forecourt_surface::tool::{ElicitedAnswer, ToolCall, ToolEvent, ToolOutput};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;
use serde_json::{Map, Value, json};

use crate::support::*;

async fn call(place: &Place, name: &str, arguments: Value, answered: Option<ElicitedAnswer>) -> ToolOutput {
    let tool = place.tools.iter().find(|tool| tool.name == name).unwrap();
    let call = ToolCall {
        arguments,
        sender: Sender::anonymous(),
        hop: 0,
        language: None,
        via: "mcp",
        gives_tasks: false,
        answered: answered.map(Box::new),
        visited: None,
        payment: None,
    };
    let events: Vec<ToolEvent> = (tool.call)(call).collect().await;
    match events.into_iter().last() {
        Some(ToolEvent::Done(called)) => *called,
        other => panic!("{other:?}"),
    }
}

fn soup() -> Value {
    json!({"query": {"text": "soup"}})
}

#[tokio::test(start_paused = true)]
async fn a_1_a_2_ask_and_await_are_defined() {
    let place = bot(vec![done()]).await;
    let required = |name: &str| {
        let tool = place.tools.iter().find(|tool| tool.name == name).unwrap();
        assert!(tool.output.is_some() && !tool.reads_only && !tool.description.is_empty());
        assert_eq!(tool.output.as_ref().unwrap()["type"], "object");
        tool.input["required"].clone()
    };
    assert_eq!(required("ask"), json!(["query"]));
    assert_eq!(required("await"), json!(["promise_token", "action"]));
    assert_eq!(place.tools[0].input["properties"]["query"]["required"], json!(["text"]));
    assert_eq!(place.tools[1].input["properties"]["action"]["enum"], json!(["checkin", "cancel"]));
}

#[tokio::test(start_paused = true)]
async fn a_3_an_answer_is_structured_and_the_same_as_text() {
    let called = call(&bot(found(&["Pea"])).await, "ask", soup(), None).await;
    assert!(!called.is_error);
    assert_eq!(serde_json::from_str::<Value>(&called.text[0]).unwrap(), called.structured);
    assert_eq!(called.structured["results"][0]["name"], "Pea");
    assert_eq!((&called.meta["response_type"], &called.meta["version"]), (&json!("answer"), &json!("0.55")));
}

#[tokio::test(start_paused = true)]
async fn a_3_chatgpt_app_is_told_in_words() {
    let arguments = json!({"query": {"text": "soup"}, "prefer": {"response_format": "chatgpt_app"}});
    let called = call(&bot(found(&["Pea"])).await, "ask", arguments, None).await;
    assert_eq!(called.text, ["1 soups match."]);
    assert_eq!(called.structured["structuredData"][0]["name"], "Pea");
}

#[tokio::test(start_paused = true)]
async fn c_2_a_promise_is_awaited_by_its_token() {
    let steps = [Step::Wait(Duration::from_secs(60))].into_iter().chain(found(&["Pea"]).into_iter().map(Step::Do));
    let (place, _) = scripted(steps.collect()).await;
    let promised = call(&place, "ask", soup(), None).await;
    let token = promised.structured["promise"]["token"].clone();
    assert_eq!(promised.task.as_ref().map(|task| task.expose()), token.as_str());
    tokio::time::sleep(Duration::from_secs(60)).await;
    let kept = call(&place, "await", json!({"promise_token": token, "action": "checkin"}), None).await;
    assert_eq!(kept.structured["results"][0]["name"], "Pea");
}

#[tokio::test(start_paused = true)]
async fn a_3_what_is_wrong_is_an_error_that_helps() {
    let place = bot(nothing()).await;
    for (name, arguments, code) in [
        ("ask", json!({}), "INVALID_QUERY"),
        ("ask", json!("soup"), "INVALID_QUERY"),
        ("ask", json!({"query": {"text": "a", "site": "x.example"}}), "INVALID_QUERY"),
        ("ask", soup(), "NO_RESULTS"),
        ("await", json!({"promise_token": "x", "action": "checkin"}), "NOT_FOUND"),
        ("await", json!({}), "INVALID_QUERY"),
    ] {
        let called = call(&place, name, arguments, None).await;
        assert!(called.is_error);
        assert_eq!(called.structured["error"]["code"], code);
    }
    let part = PolicyPart::new(RefusalKind::Forbidden, "No.");
    let refused = call(&bot(vec![refuse(part)]).await, "ask", soup(), None).await;
    assert_eq!(refused.refusal.map(|part| part.message), Some("No.".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn s4_1_3_a_question_can_be_put_to_a_person_and_answered() {
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Question(question())))]);
    let place = Setup::default().with(remembering("bot"), agent.clone()).start().await;
    let asked = call(&place, "ask", soup(), None).await;
    assert!(!asked.is_error);
    let question = asked.question.unwrap();
    let answers = Map::from_iter([
        ("sauce".to_owned(), json!("tomato")),
        ("diet".to_owned(), json!(["vegan", "none"])),
        ("spicy".to_owned(), json!(false)),
    ]);
    let answered = ElicitedAnswer { question, answers, earlier: asked.structured };
    call(&place, "ask", soup(), Some(answered)).await;
    let heard = agent.heard().remove(1);
    assert_eq!(heard.text(), "vegan, none, tomato, no");
    assert_eq!(heard.history.len(), 2);
}
