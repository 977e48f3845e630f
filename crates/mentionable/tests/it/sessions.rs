//! REST 6: conversations by an opaque token.

use std::sync::Arc;

use forecourt_core::AgentCard;
use forecourt_core::message::text_of;
use forecourt_testkit::{Scripted, card};

use crate::support::{Place, Setup, echo};

async fn remembering() -> (Place, Arc<Scripted>) {
    let agent = Scripted::saying(["answer"]);
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
