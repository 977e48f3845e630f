//! REST 6: conversations by an opaque token.

use std::sync::Arc;

use forecourt_core::AgentCard;
use forecourt_core::message::text_of;
use forecourt_testkit::{ScriptedAgent, card};

use crate::support::{Place, Setup, echo, get};

async fn remembering() -> (Place, Arc<ScriptedAgent>) {
    let agent = ScriptedAgent::saying(["answer"]);
    let card = AgentCard { remembers: true, cache_control: Some("public, max-age=60".into()), ..card("bot") };
    (Setup::default().with(card, agent.clone()).start().await, agent)
}

#[tokio::test]
async fn s6_a_token_in_every_form_carries_the_conversation_on() {
    let (place, agent) = remembering().await;
    for accept in ["text/html", "text/markdown", "application/json", "text/event-stream"] {
        let first = place.ask("/~bot?user=one", accept).await.is(200);
        let token = first.field("x-mentionable-session").unwrap().to_owned();
        let again = place.ask(&format!("/~bot?user=two&session={token}"), accept).await.is(200);
        assert_eq!(again.field("x-mentionable-session"), Some(token.as_str()));
        let heard = agent.heard();
        let history: Vec<_> = heard.last().unwrap().history.iter().map(|turn| text_of(&turn.parts)).collect();
        assert_eq!(history, ["one", "answer"], "{accept}");
    }
}

#[tokio::test]
async fn s6_the_token_also_comes_by_post_and_stands_in_json() {
    let (place, agent) = remembering().await;
    let first = place.post("/~bot", &[("user", "one")]).await.is(200);
    let token = first.json()["session"].as_str().unwrap().to_owned();
    place.post("/~bot", &[("session", &token), ("user", "two")]).await.is(200);
    assert_eq!(agent.heard()[1].history.len(), 2);
}

#[tokio::test]
async fn s6_a_strangers_token_begins_afresh_and_is_never_adopted() {
    let (place, agent) = remembering().await;
    for made_up in ["A".repeat(43), "x".to_owned(), "%27%20OR%201=1".to_owned()] {
        let answer = place.ask(&format!("/~bot?user=a&session={made_up}"), "text/markdown").await.is(200);
        assert_ne!(answer.field("x-mentionable-session"), Some(made_up.as_str()));
        assert!(agent.heard().last().unwrap().history.is_empty());
    }
}

#[tokio::test]
async fn s6_a_page_leads_on_without_a_token_in_its_query() {
    let (place, _) = remembering().await;
    let answer = place.ask("/~bot?user=a", "text/html").await.is(200);
    let token = answer.field("x-mentionable-session").unwrap();
    assert!(answer.text().contains(&format!("href=\"/~bot#session={token}\"")), "{}", answer.text());
}

#[tokio::test]
async fn s8_5_what_names_a_conversation_is_kept_by_nobody_else() {
    let (place, _) = remembering().await;
    let answer = place.ask("/~bot?user=a", "text/markdown").await.is(200);
    assert_eq!(answer.field("cache-control"), Some("private, max-age=0"));
}

#[tokio::test]
async fn s6_an_agent_without_memory_gives_no_token() {
    let answer = echo().await.ask("/~echo?user=a&session=x", "text/markdown").await.is(200);
    assert_eq!(answer.field("x-mentionable-session"), None);
}

/// Asks in a conversation, as somebody or as nobody; gives the token that came back and how much was remembered.
async fn said(place: &Place, agent: &ScriptedAgent, session: Option<&str>, name: Option<&str>) -> (String, usize) {
    let query = session.map(|session| format!("&session={session}")).unwrap_or_default();
    let mut request = get(&format!("/~bot?user=a{query}")).header("accept", "text/markdown");
    if let Some(name) = name {
        request = request.header("authorization", place.token(name));
    }
    let answer = place.send(request).await.is(200);
    let history = agent.heard().last().unwrap().history.len();
    (answer.field("x-mentionable-session").unwrap().to_owned(), history)
}

async fn trusting() -> (Place, Arc<ScriptedAgent>) {
    let agent = ScriptedAgent::saying(["answer"]);
    let card = AgentCard { remembers: true, ..card("bot") };
    let setup = Setup { identity: None, ..Setup::default() }.with(card, agent.clone());
    (setup.start().await, agent)
}

#[tokio::test]
async fn design_35_a_session_of_a_proven_identity_goes_on_for_that_identity_alone() {
    let (place, agent) = trusting().await;
    let (session, _) = said(&place, &agent, None, Some("ada")).await;
    assert_eq!(said(&place, &agent, Some(&session), Some("ada")).await, (session.clone(), 2));
    for stranger in [Some("bob"), None] {
        let (other, history) = said(&place, &agent, Some(&session), stranger).await;
        assert_eq!(history, 0, "{stranger:?} hears nothing of it");
        assert_ne!(other, session, "{stranger:?} begins a conversation");
        assert_eq!(said(&place, &agent, Some(&other), stranger).await, (other.clone(), 2));
    }
    assert_eq!(
        said(&place, &agent, Some(&session), Some("ada")).await,
        (session.clone(), 4),
        "strangers added nothing"
    );
}

#[tokio::test]
async fn design_35_an_anonymous_session_that_signs_in_goes_on_and_is_bound() {
    let (place, agent) = trusting().await;
    let (session, _) = said(&place, &agent, None, None).await;
    assert_eq!(said(&place, &agent, Some(&session), None).await, (session.clone(), 2));
    assert_eq!(said(&place, &agent, Some(&session), Some("ada")).await, (session.clone(), 4));
    for stranger in [None, Some("bob")] {
        let (other, history) = said(&place, &agent, Some(&session), stranger).await;
        assert_eq!((history, other == session), (0, false), "{stranger:?}");
    }
    assert_eq!(said(&place, &agent, Some(&session), Some("ada")).await, (session.clone(), 6));
}

#[tokio::test]
async fn design_35_a_session_is_bound_in_every_form_of_a_request() {
    let (place, agent) = trusting().await;
    let (session, _) = said(&place, &agent, None, Some("ada")).await;
    let posted = place.post("/~bot", &[("session", &session), ("user", "b")]).await.is(200);
    assert_ne!(posted.json()["session"], session.as_str());
    assert!(agent.heard().last().unwrap().history.is_empty());
    for accept in ["text/html", "application/json", "text/event-stream"] {
        let answer = place.ask(&format!("/~bot?user=b&session={session}"), accept).await.is(200);
        assert_ne!(answer.field("x-mentionable-session"), Some(session.as_str()), "{accept}");
        assert!(agent.heard().last().unwrap().history.is_empty(), "{accept}");
    }
}
