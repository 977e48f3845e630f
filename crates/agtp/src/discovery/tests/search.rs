//! Agents by criteria. AGTP-API 8.10; base 3.1.

use forecourt_agtp_wire::status::Status;
use forecourt_core::LifecycleState;
use forecourt_host::LifecycleChange;

use super::*;
use crate::limits::{CANDIDATES_DEFAULT, CANDIDATES_MAX, CRITERIA_CHARS_MAX, CRITERIA_WORDS_MAX};

fn looking(place: &Place, parameters: Value) -> Ask {
    asking(place.by("chef", "/"), parameters)
}

fn names(answer: &Value) -> Vec<&str> {
    answer["candidates"].as_array().unwrap().iter().map(|found| found["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn candidates_come_in_the_order_of_their_relevance() {
    let place = Place::with("").await;
    let found = place.json(&looking(&place, json!({"criteria": "an agent for booking rooms"}))).await;
    assert_eq!(names(&found), ["clerk", "chef"], "both are agents, one books");
    let best = &found["candidates"][0];
    assert_eq!(best["agent_id"], place.agent("clerk").agent_id.as_str());
    assert_eq!((&best["description"], &best["principal"]), (&json!("The agent clerk."), &json!("demo.localhost")));
    assert!(best["relevance"].as_f64().unwrap() > found["candidates"][1]["relevance"].as_f64().unwrap());
    assert_eq!(found["candidate_count"], 2);
}

#[tokio::test]
async fn a_word_counts_by_where_it_stands() {
    let place = Place::with("").await;
    for (criteria, relevance) in
        [("rooms", 1.0), ("room", 0.5), ("tables", 0.8), ("bills rooms", 1.0), ("rooms xyz", 0.5)]
    {
        let found = place.json(&looking(&place, json!({"criteria": criteria}))).await;
        assert_eq!(found["candidates"][0]["relevance"], relevance, "{criteria}");
    }
    assert_eq!(place.json(&looking(&place, json!({"criteria": "submarines"}))).await["candidates"], json!([]));
}

#[tokio::test]
async fn criteria_may_be_an_object_and_nothing_in_particular() {
    let place = Place::with("").await;
    let found = place.json(&looking(&place, json!({"criteria": {"skill": "bills", "urgent": true}}))).await;
    assert_eq!(names(&found), ["clerk"]);
    for anything in [json!({}), json!([])] {
        let found = place.json(&looking(&place, json!({"criteria": anything}))).await;
        assert_eq!(names(&found), ["chef", "clerk"]);
        assert_eq!(found["candidates"][0]["relevance"], 1.0);
    }
    for nothing in [json!(""), Value::Null] {
        assert!(place.json(&looking(&place, json!({"criteria": nothing}))).await.get("directory").is_some());
    }
}

#[tokio::test]
async fn filters_hold_of_every_candidate() {
    let place = Place::with("").await;
    for (filter, expected) in [
        (json!({"name": "chef"}), vec!["chef"]),
        (json!({"skill": "rooms"}), vec!["clerk"]),
        (json!({"trust_tier": 2}), vec!["chef", "clerk"]),
        (json!({"trust_tier": 1}), vec![]),
        (json!({"governance_zone": "elsewhere"}), vec![]),
        (json!({"owner_id": "demo.localhost", "verification_path": "org-asserted"}), vec!["chef", "clerk"]),
    ] {
        let found = place.json(&looking(&place, json!({"criteria": {}, "filter": filter}))).await;
        assert_eq!(names(&found), expected, "{filter}");
    }
    for wrong in [json!({"colour": "red"}), json!({"trust_tier": 4}), json!("chef")] {
        let problem = place.refused(&looking(&place, json!({"criteria": {}, "filter": wrong}))).await;
        assert_eq!(problem.status, Status::UNPROCESSABLE, "{wrong}");
    }
}

#[tokio::test]
async fn no_more_candidates_than_are_asked_for() {
    let many = (0..CANDIDATES_DEFAULT + 1).map(|n| card(&format!("agent{n:02}")));
    let residents = many.map(|card| resident(card, ScriptedAgent::saying(["hi"]), Vec::new())).collect();
    let place = Place::of(Blueprint { residents, ..Blueprint::default() }).await;
    let ask = |parameters| asking(place.by("agent00", "/"), parameters);
    for (count, expected) in [(json!(3), 3), (json!("3"), 3), (json!(CANDIDATES_MAX), CANDIDATES_DEFAULT + 1)] {
        let found = place.json(&ask(json!({"criteria": "agent", "max_results": count}))).await;
        assert_eq!(names(&found).len(), expected);
        assert_eq!(found["candidate_count"], CANDIDATES_DEFAULT + 1);
    }
    assert_eq!(names(&place.json(&ask(json!({"criteria": "agent"}))).await).len(), CANDIDATES_DEFAULT);
    for wrong in [json!(0), json!(CANDIDATES_MAX + 1), json!("many")] {
        let problem = place.refused(&ask(json!({"criteria": "agent", "max_results": wrong}))).await;
        assert_eq!(problem.error["field"], "/max_results");
    }
}

#[tokio::test]
async fn criteria_have_a_length() {
    let place = Place::with("").await;
    let longest = "é".repeat(CRITERIA_CHARS_MAX);
    assert!(place.discovery.discover(&looking(&place, json!({"criteria": longest}))).await.is_ok());
    let problem = place.refused(&looking(&place, json!({"criteria": format!("{longest}é")}))).await;
    assert_eq!(problem.status, Status::UNPROCESSABLE);
}

#[tokio::test]
async fn words_beyond_the_bound_are_not_looked_for() {
    let place = Place::with("").await;
    for (before, expected) in [(CRITERIA_WORDS_MAX - 1, vec!["clerk"]), (CRITERIA_WORDS_MAX, vec![])] {
        let criteria = format!("{}rooms", "xyz ".repeat(before));
        let found = place.json(&looking(&place, json!({"criteria": criteria}))).await;
        assert_eq!(names(&found), expected, "after {before} words");
    }
}

#[tokio::test]
async fn s8_5_agents_that_are_not_named_are_not_found() {
    let place = Place::with("agents.disclosure = \"authenticated\"").await;
    let all = json!({"criteria": {}});
    let addressed = Ask { addressed: Some(place.agent("clerk")), ..asking(stranger("/"), all.clone()) };
    assert_eq!(names(&place.json(&addressed).await), Vec::<&str>::new());
    assert_eq!(names(&place.json(&asking(place.by("chef", "/"), all)).await), ["chef", "clerk"]);
}

#[tokio::test]
async fn s8_10_without_a_name_criteria_are_those_of_nobody() {
    let place = Place::with("").await;
    assert!(place.json(&asking(targetless(), json!({"criteria": "rooms"}))).await.get("agtp_version").is_some());
}

#[tokio::test]
async fn agents_out_of_service_are_not_found() {
    let place = Place::with("").await;
    let clerk = place.agent("clerk").handle.clone().unwrap();
    let all = looking(&place, json!({"criteria": {}}));
    for (to, expected) in [
        (LifecycleState::Suspended, vec!["chef"]),
        (LifecycleState::Deprecated, vec!["chef", "clerk"]),
        (LifecycleState::Retired, vec!["chef"]),
    ] {
        let wish = LifecycleChange { to, ..LifecycleChange::default() };
        place.mounted.mount.host.operator().change_lifecycle(&clerk, &wish, &|_| None).await.unwrap();
        assert_eq!(names(&place.json(&all).await), expected, "{to:?}");
    }
}
