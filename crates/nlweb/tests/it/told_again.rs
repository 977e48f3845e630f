//! NLWeb 4.1.1, 6.1: what a search tells of its answer while it is made, such as a summary that comes last.

use forecourt_core::findings::{ItemFindings, MatchReason};
use forecourt_core::{Event, Findings, FindingsDetail};
use forecourt_testkit::Step;
use serde_json::{Value, json};

use crate::support::*;

/// Two items, one after the other, each with why it is here, then the summary.
fn sharpened() -> Vec<Event> {
    let reason = |why: &str| MatchReason { why: why.to_owned(), ..MatchReason::default() };
    let pea = ItemFindings::scored(90.0).because(reason("Has peas."));
    let first = Findings { count: 2, items: vec![pea.clone()], ..Findings::default() };
    let leek = ItemFindings::scored(40.0).because(reason("Has leek."));
    let second = Findings { items: vec![pea, leek], ..first.clone() };
    let last = Findings {
        summary: "Take [[1]](https://soups.example/Pea).".to_owned(),
        notes: vec!["Not all items were ranked.".to_owned()],
        ..second.clone()
    };
    let told = |findings: &Findings| Event::Findings(Box::new(findings.clone()));
    vec![
        told(&first),
        text("The best is Pea."),
        item("Pea"),
        told(&second),
        item("Leek"),
        text("\n\nTake [1]."),
        told(&last),
        done(),
    ]
}

fn soup(mode: &str) -> Value {
    json!({"query": {"text": "soup"}, "prefer": {"mode": mode}})
}

#[tokio::test(start_paused = true)]
async fn s6_1_a_summary_that_comes_last_has_its_place_before_the_items() {
    let place = bot(sharpened()).await;
    let answer = place.stream(soup("list, summarize")).await;
    let events = answer.events();
    let results: Vec<&Value> = events.iter().filter(|(name, _)| name == "result").map(|(_, data)| data).collect();
    assert_eq!(results.iter().map(|data| data["index"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 0]);
    let summary = json!({"@type": "SearchSummary", "text": "Take [[1]](https://soups.example/Pea)."});
    assert_eq!(results[2]["item"], summary);
    assert_eq!(results[1]["item"]["forecourt/why"], "Has leek.");
    let complete = &events.last().unwrap().1;
    assert_eq!(complete["_meta"]["forecourt/notes"], json!(["Not all items were ranked."]));
    let whole = place.ask(soup("list, summarize")).await.json();
    assert_eq!((&whole["results"][0], &whole["results"][1]["name"]), (&summary, &json!("Pea")));
    assert_eq!(whole["_meta"]["forecourt/notes"], json!(["Not all items were ranked."]));
}

#[tokio::test(start_paused = true)]
async fn without_summarize_there_is_none_and_its_words_are_no_item() {
    let place = bot(sharpened()).await;
    let streamed = place.stream(soup("list")).await.events();
    let results: Vec<&Value> = streamed.iter().filter(|(name, _)| name == "result").map(|(_, data)| data).collect();
    assert_eq!(results.iter().map(|data| data["index"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    let whole = place.ask(soup("list")).await.json()["results"].clone();
    assert_eq!(whole.as_array().map(Vec::len), Some(2), "{whole}");
}

#[tokio::test(start_paused = true)]
async fn clients_of_0_54_are_told_scores_and_why() {
    let place = bot(sharpened()).await;
    let old = json!({"query": {"text": "soup"}, "prefer": {"streaming": false}, "meta": {"api_version": "0.54"}});
    let results = place.ask(old).await.json()["results"].clone();
    assert_eq!((&results[0]["score"], &results[0]["description"]), (&json!(90.0), &json!("Has peas.")));
    assert_eq!((&results[1]["score"], &results[1]["description"]), (&json!(40.0), &json!("Has leek.")));
}

#[tokio::test(start_paused = true)]
async fn s3_3_2_an_agent_is_told_whether_a_summary_is_wanted() {
    let steps = sharpened().into_iter().map(Step::Do).collect();
    let (place, agent) = scripted(steps).await;
    place.ask(soup("list")).await;
    place.ask(soup("list, summarize")).await;
    let wishes: Vec<_> =
        agent.heard().into_iter().map(|heard| (heard.search.findings, heard.search.list_only)).collect();
    assert_eq!(wishes, [(FindingsDetail::Summary, true), (FindingsDetail::Summary, false)]);
}

#[tokio::test(start_paused = true)]
async fn s4_1_3_values_by_name_are_answers_by_id() {
    let (place, agent) = scripted(vec![Step::Do(done())]).await;
    place.ask(json!({"query": {"text": "vegan, for four", "diet": "vegan", "people": 4}})).await;
    let heard = agent.heard().remove(0);
    let answers: Vec<(&str, &Value)> = heard.answers.iter().map(|answer| (answer.id.as_str(), &answer.value)).collect();
    assert_eq!(answers, [("diet", &json!("vegan")), ("people", &json!(4))]);
    assert!(heard.extensions.is_empty(), "what our own parts want of each other is no extension");
}
