//! Appendix B, by a client that was written from that appendix and nothing else: it knows what it
//! sends, what it reads, and leaves everything else alone.

use std::time::Duration;

use forecourt_core::{Ending, Event};
use forecourt_testkit::Step;
use serde_json::{Value, json};

use crate::support::*;

/// What the client makes of a response.
#[derive(Debug, PartialEq)]
enum Read {
    Answer(Vec<Value>),
    Elicitation { ids: Vec<String> },
    Promise { token: String },
    Failure { code: String },
}

fn read(status: u16, body: &Value) -> Read {
    assert_eq!(body["_meta"]["version"], "0.55");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    match body["_meta"]["response_type"].as_str().expect("response_type") {
        "answer" => {
            assert_eq!(status, 200);
            Read::Answer(body["results"].as_array().expect("results").clone())
        }
        "elicitation" => {
            assert_eq!(status, 200);
            let questions = body["elicitation"]["questions"].as_array().expect("questions");
            for question in questions {
                let kind = text(&question["type"]);
                assert!(["single_select", "multi_select", "free_text", "number", "boolean"].contains(&kind.as_str()));
                assert_eq!(kind.ends_with("_select"), question["options"].is_array());
                assert!(question["text"].is_string());
            }
            Read::Elicitation { ids: questions.iter().map(|question| text(&question["id"])).collect() }
        }
        "promise" => {
            assert_eq!(status, 202);
            Read::Promise { token: text(&body["promise"]["token"]) }
        }
        "failure" => Read::Failure { code: text(&body["error"]["code"]) },
        other => panic!("no type of response: {other}"),
    }
}

async fn posts(place: &Place, path: &str, body: Value) -> Read {
    let answer = place.send(post(path).header("accept", "application/json"), body.to_string()).await;
    assert_eq!(answer.field("content-type"), "application/json");
    read(answer.status.as_u16(), &answer.json())
}

#[tokio::test(start_paused = true)]
async fn b_1_a_question_is_answered() {
    let place = bot(found(&["Veggie-Packed Scrambled Eggs"])).await;
    let body = json!({"query": {"text": "healthy breakfast recipes with eggs", "site": "demo.localhost"},
        "meta": {"version": "0.55"}});
    let Read::Answer(results) = posts(&place, "/ask", body).await else { panic!("no answer") };
    assert_eq!((&results[0]["@type"], &results[0]["name"]), (&json!("Recipe"), &json!("Veggie-Packed Scrambled Eggs")));
}

#[tokio::test(start_paused = true)]
async fn b_2_a_question_leads_to_questions() {
    let place = bot(vec![Event::Ending(Ending::Question(question()))]).await;
    let body = json!({"query": {"text": "pasta recipe"}, "meta": {"version": "0.55"}});
    let ids = ["sauce", "diet", "wish", "people", "spicy"].map(str::to_owned).to_vec();
    assert_eq!(posts(&place, "/ask", body).await, Read::Elicitation { ids });
}

#[tokio::test(start_paused = true)]
async fn b_3_a_promise_is_kept() {
    let steps = [Step::Wait(Duration::from_secs(60))].into_iter().chain(found(&["Plan"]).into_iter().map(Step::Do));
    let (place, _) = scripted(steps.collect()).await;
    let body = json!({"query": {"text": "create a weekly meal plan", "personalized": true},
        "meta": {"version": "0.55", "session_context": {"conversation_id": "conv_meal_plan_789"}}});
    let Read::Promise { token } = posts(&place, "/ask", body).await else { panic!("no promise") };
    let check = json!({"promise_token": token, "action": "checkin", "meta": {"version": "0.55"}});
    assert_eq!(posts(&place, "/await", check.clone()).await, Read::Promise { token });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(matches!(posts(&place, "/await", check).await, Read::Answer(results) if results.len() == 1));
}

#[tokio::test(start_paused = true)]
async fn b_4_a_stream_is_put_together_by_its_indexes() {
    let place = bot(found(&["Egg Dough", "Semolina"])).await;
    let body = json!({"query": {"text": "homemade pasta"}, "prefer": {"streaming": true, "mode": "list, summarize"}});
    let answer = place.stream(body).await;
    let (mut started, mut completed, mut results) = (false, false, Vec::new());
    for (name, data) in answer.events() {
        match name.as_str() {
            "start" => {
                assert!(!started && data["_meta"]["streaming"] == true);
                started = true;
            }
            "result" => results.push((data["index"].as_u64().expect("an index"), data["item"].clone())),
            "complete" => completed = data["_meta"]["response_type"] == "answer",
            other => panic!("no event of the appendix: {other}"),
        }
    }
    assert!(started && completed);
    results.sort_by_key(|(index, _)| *index);
    assert_eq!(results.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((&results[0].1["@type"], &results[2].1["name"]), (&json!("SearchSummary"), &json!("Semolina")));
}

#[tokio::test(start_paused = true)]
async fn b_5_nothing_found_is_a_failure() {
    let body = json!({"query": {"text": "recipes from planet Mars"}, "meta": {"version": "0.55"}});
    assert_eq!(posts(&bot(nothing()).await, "/ask", body).await, Read::Failure { code: "NO_RESULTS".to_owned() });
}
