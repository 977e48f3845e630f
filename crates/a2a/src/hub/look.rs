//! One look at a hub: its card is read and believed, and each agent of it that is wanted is looked at.

use std::collections::HashSet;
use std::time::Duration;

use forecourt_agents::declined::UpstreamError;
use forecourt_agents::hub::{HubChoice, HubError, HubList, HubLook, LeftOutAgent, ListedAgent};
use forecourt_core::Handle;
use forecourt_egress::Purpose;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use serde_json::Value;
use url::Url;

use super::A2aHub;
use super::cards::{AgentCards, AgentRefusal};
use super::listed::line;
use crate::card::{self, AgentRef, RemoteCard};
use crate::client::DiscoveryError;
use crate::client::discovery::endpoints;
use crate::client::discovery::fetch::{CardResponse, look};
use crate::client::endpoint::choose;
use crate::limits::{CARDS_AT_ONCE, HUB_AGENTS_MAX, HUB_CARD_BYTES_MAX, LISTED_NAME_CHARS_MAX};
use crate::target::RESERVED;

/// An agent of a hub that is to be looked at.
struct WantedAgent<'a> {
    handle: Handle,
    as_listed: &'a AgentRef,
}

impl A2aHub {
    /// Reads the hub and its agents.
    pub(super) async fn read(&self, choice: &HubChoice, known: Option<&HubList>) -> Result<HubLook, HubError> {
        let value = self.fetch().await?;
        let card = card::read(&value).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            HubError::new(format!("gives a card that is none: {first}"))
        })?;
        let cards = AgentCards::new(self, choice);
        let is_signed = cards.is_signed(&self.url, &value, &card).await.map_err(|error| self.unread(&error))?;
        if let Some(why) = self.signatures.refusal(is_signed, known.is_some_and(|known| known.is_signed)) {
            return Err(HubError::new(format!("is not believed: {why}")));
        }
        check_lists(&value, &card)?;
        let endpoint = self.endpoint(&card)?;
        let mut left_out = Vec::new();
        let wanted = wanted(&card, choice, &mut left_out);
        if wanted.len() > HUB_AGENTS_MAX {
            let count = wanted.len();
            let words =
                format!("has {count} agents that are wanted, and at most {HUB_AGENTS_MAX} are taken of one hub");
            return Err(HubError::new(format!("{words}: choose some with `only` and `except`")));
        }
        let looks: Vec<_> = wanted.into_iter().map(|agent| look_at(&cards, agent, &endpoint, known)).collect();
        // In order, so that a list changes only where the hub has changed.
        let looks: Vec<AgentLook<'_>> = stream::iter(looks).buffered(CARDS_AT_ONCE).collect().await;
        let mut agents = Vec::with_capacity(looks.len());
        for look in looks {
            agents.extend(look.taken(&mut left_out));
        }
        let (hub, seen_at) = (self.text.clone(), self.clock.now());
        let mut list = HubList { hub, seen_at, is_signed, agents, signed_before: Vec::new() };
        known.into_iter().for_each(|known| list.remember(known));
        Ok(HubLook { name: line(&card.name, LISTED_NAME_CHARS_MAX), list, left_out })
    }

    async fn fetch(&self) -> Result<Value, HubError> {
        let found = look(&self.egress, Purpose::Upstream, &self.headers, &self.url, None, HUB_CARD_BYTES_MAX).await;
        match found.map_err(|error| self.unread(&error))? {
            CardResponse::Document(document) => Ok(document.value),
            CardResponse::Nothing | CardResponse::Same { .. } => Err(HubError::new("has no card there")),
        }
    }

    /// Where the hub is asked: the endpoints of its agents are below. Hub card 4.
    fn endpoint(&self, card: &RemoteCard) -> Result<Url, HubError> {
        let mut origins = self.origins.clone();
        origins.push(self.url.origin());
        let endpoint = choose(&endpoints(card), &origins).map_err(|stranger| {
            self.unread(&stranger.map_or(DiscoveryError::NoInterface, DiscoveryError::OtherOrigin))
        })?;
        Ok(endpoint.url)
    }

    /// Why the hub was not read, for the operator.
    fn unread(&self, error: &DiscoveryError) -> HubError {
        let wait = match error {
            DiscoveryError::Declined(UpstreamError::Later(wait)) => *wait,
            _ => None,
        };
        let wait = wait.map(|wait| Duration::from_secs(wait.seconds(&*self.clock)));
        HubError { words: format!("was not read: {error}"), wait }
    }
}

/// An agent that was looked at.
struct AgentLook<'a> {
    handle: Handle,
    /// What was known of it.
    known: Option<&'a ListedAgent>,
    found: Result<ListedAgent, AgentRefusal>,
}

fn look_at<'a>(
    cards: &'a AgentCards<'a>,
    agent: WantedAgent<'a>,
    endpoint: &'a Url,
    known: Option<&'a HubList>,
) -> BoxFuture<'a, AgentLook<'a>> {
    Box::pin(async move {
        let WantedAgent { handle, as_listed } = agent;
        let known = cards.known(&handle, known);
        let found = cards.find(&handle, as_listed, endpoint, known).await;
        AgentLook { handle, known: known.listed, found }
    })
}

impl AgentLook<'_> {
    /// What comes of it. An agent that was known stays as it was where its card can't be had.
    fn taken(self, left_out: &mut Vec<LeftOutAgent>) -> Option<ListedAgent> {
        let refusal = match self.found {
            Ok(found) => return Some(found),
            Err(refusal) => refusal,
        };
        let kept = self.known.filter(|_| refusal.keeps_known).cloned();
        let why = if kept.is_some() { format!("stays as it was: {}", refusal.why) } else { refusal.why };
        left_out.push(LeftOutAgent { handle: self.handle.to_string(), why: line(&why, LISTED_NAME_CHARS_MAX * 2) });
        kept
    }
}

/// The agents that are wanted and can be had under their names, the default one first. Hub card 2.3, 3.1.
fn wanted<'a>(card: &'a RemoteCard, choice: &HubChoice, left_out: &mut Vec<LeftOutAgent>) -> Vec<WantedAgent<'a>> {
    let mut seen = HashSet::new();
    let mut wanted = Vec::new();
    let mut leave_out = |handle: &str, why: String| {
        left_out.push(LeftOutAgent { handle: line(handle, LISTED_NAME_CHARS_MAX), why });
    };
    for agent in &card.agents {
        // `@chef` is no handle on the wire, and `chef@bank.example` would be somebody else's.
        let Some(handle) = Handle::parse(&agent.handle).ok().filter(|_| !agent.handle.starts_with('@')) else {
            leave_out(&agent.handle, "has no handle: 1 to 30 of a-z, 0-9, `_` and `-`".to_owned());
            continue;
        };
        if !choice.wants(&handle) {
            continue;
        }
        // Capitals are folded, so that two may be one. The first counts, as it does for messages.
        if !seen.insert(handle.clone()) {
            leave_out(&agent.handle, "is listed twice".to_owned());
            continue;
        }
        match choice.handle_here(&handle) {
            None => leave_out(&agent.handle, format!("has a handle that is too long behind `{}`", choice.prefix)),
            Some(here) if RESERVED.contains(&here.as_str()) => {
                leave_out(&agent.handle, format!("can't be called `{here}` here: the word has a meaning in paths"));
            }
            Some(_) => wanted.push(WantedAgent { handle, as_listed: agent }),
        }
    }
    let default = card.default_agent.as_deref().and_then(|text| Handle::parse(text).ok());
    if let Some(at) = wanted.iter().position(|agent| Some(&agent.handle) == default.as_ref()) {
        wanted[..=at].rotate_right(1);
    }
    wanted
}

/// Fails when a hub lists nobody, or says two things. Hub card 2.3, 7.
fn check_lists(value: &Value, card: &RemoteCard) -> Result<(), HubError> {
    if card.agents.is_empty() {
        return Err(HubError::new("lists no agents: a single agent is fronted by `kind = \"a2a\"` in agents/"));
    }
    match card::contradiction(value) {
        Some(key) => Err(HubError::new(format!("says one thing under `{key}` and another in its extension"))),
        None => Ok(()),
    }
}
