//! Checks of Mentionable's hub: the card of A2A that names several agents. Mentionable's hub card.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use super::a2a::{CARD_PATH, card_of};
use super::exchange::Draft;
use super::target::WebTarget;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};

const CHECKS: &[Check<Hub>] = &[
    check!("hub-7-1", "hub card 7", Must, "the hub's card is at agent-card.json, as application/json", card_there),
    check!("hub-7-2", "hub card 7, A2A 5", Must, "the card has name, description, url and skills", card_fields),
    check!("hub-7-3", "hub card 7, 3.4", Must, "the default agent is one of the agents", default_agent),
    check!("hub-7-4", "hub card 7, 2.3", Must, "each agent has its handle and name", agents),
    check!("hub-3.1", "hub card 3.1, 6", Must, "handles keep the grammar of mentions", handles),
    check!("hub-2.2", "hub card 2.2", Must, "of several agents the description says how one is addressed", description),
];

const DEFAULT: &str = "https://mentionable.dev/ns/v1#defaultAgent";
const AGENTS: &str = "https://mentionable.dev/ns/v1#agents";

/// A host whose card names Mentionable's agents.
pub(crate) struct Hub {
    host: Arc<WebTarget>,
    card: Document,
}

impl OfferedProtocol for Hub {
    type Target = WebTarget;
    const NAME: &'static str = "Mentionable hub";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let card = card_of(&host).await.clone()?;
            match card.get(AGENTS).is_some() || card.get(DEFAULT).is_some() {
                true => Ok(Self { host, card }),
                false => {
                    Err(Absence::NotOffered("the card is of A2A alone, and names nothing of Mentionable".to_owned()))
                }
            }
        })
    }
}

impl Deref for Hub {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

impl Hub {
    fn agents(&self) -> Result<&Vec<Value>, Shortfall> {
        self.card[AGENTS].as_array().ok_or_else(|| self.card.wrong(format!("there is no list {AGENTS}")))
    }
}

async fn card_there(hub: &Hub) -> Verdict {
    let exchange = hub.anonymous(Draft::get(CARD_PATH)).await?;
    exchange.expect(&[200])?;
    match exchange.media_type() {
        "application/json" => Ok(()),
        _ => Err(exchange.wrong("it is not application/json")),
    }
}

async fn card_fields(hub: &Hub) -> Verdict {
    let card = &hub.card;
    let wrong = ["name", "description", "url"].iter().filter(|name| !card[**name].is_string());
    let mut wrong: Vec<String> = wrong.map(|name| format!("{name} is no text")).collect();
    if !card["skills"].is_array() {
        wrong.push("skills is no list".to_owned());
    }
    card.none_wrong(wrong)
}

async fn default_agent(hub: &Hub) -> Verdict {
    let default = hub.card[DEFAULT].as_str().ok_or_else(|| hub.card.wrong(format!("there is no {DEFAULT}")))?;
    match hub.agents()?.iter().any(|agent| agent["handle"] == default) {
        true => Ok(()),
        false => Err(hub.card.wrong(format!("`{default}` is not among the agents"))),
    }
}

async fn agents(hub: &Hub) -> Verdict {
    let wrong = hub.agents()?.iter().filter(|agent| !agent["handle"].is_string() || !agent["name"].is_string());
    hub.card.none_wrong(wrong.map(|agent| format!("not whole: {agent}")).collect())
}

async fn handles(hub: &Hub) -> Verdict {
    let is_handle = |handle: &str| {
        let is_char = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        (1..=30).contains(&handle.len()) && handle.bytes().all(is_char)
    };
    let all = hub.agents()?.iter().filter_map(|agent| agent["handle"].as_str());
    hub.card.none_wrong(all.filter(|handle| !is_handle(handle)).map(|handle| format!("`{handle}` is none")).collect())
}

async fn description(hub: &Hub) -> Verdict {
    if hub.agents()?.len() < 2 {
        return Err(Shortfall::skip("the hub has one agent"));
    }
    match hub.card["description"].as_str().is_some_and(|text| text.contains('@')) {
        true => Ok(()),
        false => Err(hub.card.wrong("the description says nothing of mentions")),
    }
}
