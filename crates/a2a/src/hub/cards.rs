//! The card of one agent of a hub: where it is, whether it is believed, and whether the agent is one to front.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_agents::hub::{HubChoice, HubList, ListedAgent, RemoteHub};
use forecourt_core::Handle;
use forecourt_egress::Purpose;
use forecourt_identity::KeySet;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::listed::{FoundCard, listed};
use super::{A2aHub, objection};
use crate::card::{self, AgentRef, RemoteCard};
use crate::client::DiscoveryError;
use crate::client::discovery::fetch::{CardDocument, CardResponse, look};
use crate::client::discovery::signature::{keys_at, own_keys, verify};
use crate::client::discovery::{WELL_KNOWN, below, endpoints};
use crate::client::endpoint::choose;
use crate::client::limits::CARD_BYTES_MAX;
use crate::limits::KEY_SETS_MAX;

/// Why an agent is not taken as it is, behind its handle.
pub(super) struct AgentRefusal {
    pub(super) why: String,
    /// Whether what was known of it before still holds.
    pub(super) keeps_known: bool,
}

impl AgentRefusal {
    /// Its card can't be had, or not be believed: what was known of it stays.
    fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), keeps_known: true }
    }

    /// It is none to be fronted.
    fn for_good(why: impl Into<String>) -> Self {
        Self { why: why.into(), keeps_known: false }
    }
}

/// What a list has of an agent.
#[derive(Clone, Copy)]
pub(super) struct KnownAgent<'a> {
    /// It as it was seen last, unless the operator does not admit it any more.
    pub(super) listed: Option<&'a ListedAgent>,
    was_signed: bool,
}

/// A key set, or why it can't be had, once that is known.
type KeyCell = Arc<OnceCell<Result<Arc<KeySet>, DiscoveryError>>>;

/// The cards of the agents of one hub, within one look.
pub(super) struct AgentCards<'a> {
    hub: &'a A2aHub,
    choice: &'a HubChoice,
    /// The key sets that are asked for, each once, whatever comes of it. Agents of a hub share one.
    keys: Mutex<HashMap<Url, KeyCell>>,
}

impl<'a> AgentCards<'a> {
    pub(super) fn new(hub: &'a A2aHub, choice: &'a HubChoice) -> Self {
        Self { hub, choice, keys: Mutex::default() }
    }

    /// What `list` has of an agent.
    pub(super) fn known<'l>(&self, handle: &Handle, list: Option<&'l HubList>) -> KnownAgent<'l> {
        let Some(list) = list else { return KnownAgent { listed: None, was_signed: false } };
        let listed = list.agents.iter().find(|agent| agent.handle == *handle);
        // Where the operator does not admit it any more it is not asked for, either.
        let listed = listed.filter(|agent| self.hub.admits(agent, self.choice));
        KnownAgent { listed, was_signed: list.was_signed(handle) }
    }

    /// Finds an agent: by the card below its endpoint, by the one that the hub names, or by what the hub says of it.
    pub(super) async fn find(
        &self,
        handle: &Handle,
        as_listed: &AgentRef,
        endpoint: &Url,
        known: KnownAgent<'_>,
    ) -> Result<ListedAgent, AgentRefusal> {
        let own = below(endpoint, handle.as_str());
        let mut stranger = None;
        let mut places = vec![below(&own, WELL_KNOWN[0])];
        if let Some(url) = as_listed.card_url.as_deref().and_then(|url| Url::parse(url).ok()) {
            match self.hub.is_near(&url) {
                true => places.push(url),
                false => stranger = Some(url.origin().ascii_serialization()),
            }
        }
        // Where it was before, it is asked for with what is known of it.
        places.sort_by_key(|place| known.listed.is_none_or(|known| known.url != place.as_str()));
        for place in &places {
            let before = known.listed.filter(|known| known.url == place.as_str());
            let etag = before.and_then(|known| known.etag.as_deref());
            let hub = self.hub;
            let found = look(&hub.egress, Purpose::Upstream, &hub.headers, place, etag, CARD_BYTES_MAX).await;
            match (found.map_err(|error| AgentRefusal::passing(error.to_string()))?, before) {
                (CardResponse::Document(document), _) => {
                    return self.believed(handle, as_listed, place, document, known).await;
                }
                (CardResponse::Same { .. }, Some(before)) => return Ok(before.clone()),
                _ => {}
            }
        }
        if let Some(origin) = stranger {
            return Err(AgentRefusal::passing(format!("has its card on another origin than its hub: {origin}")));
        }
        match hub_rule(self.hub, false, known) {
            Some(why) => Err(AgentRefusal::passing(why)),
            None => Ok(listed(handle, as_listed, &own, None)),
        }
    }

    /// The agent of a card, if that is to be believed.
    async fn believed(
        &self,
        handle: &Handle,
        as_listed: &AgentRef,
        place: &Url,
        document: CardDocument,
        known: KnownAgent<'_>,
    ) -> Result<ListedAgent, AgentRefusal> {
        let CardDocument { value, etag, .. } = document;
        let card = card::read(&value).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            AgentRefusal::passing(format!("has a card that is none: {first}"))
        })?;
        let is_signed = self.is_signed(place, &value, &card).await;
        let is_signed = is_signed.map_err(|error| AgentRefusal::passing(error.to_string()))?;
        if let Some(why) = hub_rule(self.hub, is_signed, known) {
            return Err(AgentRefusal::passing(why));
        }
        let mut origins = self.hub.origins.clone();
        origins.push(place.origin());
        choose(&endpoints(&card), &origins).map_err(|stranger| {
            let error = stranger.map_or(DiscoveryError::NoInterface, DiscoveryError::OtherOrigin);
            AgentRefusal::passing(error.to_string())
        })?;
        match objection(&card.via, self.choice) {
            Some(why) => Err(AgentRefusal::for_good(why)),
            None => Ok(listed(handle, as_listed, place, Some(FoundCard { card, is_signed, etag }))),
        }
    }

    /// Whether a card has a signature by a key of its own origin. Fails when it has one that does not hold.
    pub(super) async fn is_signed(&self, url: &Url, value: &Value, card: &RemoteCard) -> Result<bool, DiscoveryError> {
        let Some(jku) = own_keys(url, card) else { return Ok(false) };
        let keys = self.keys(jku).await?;
        verify(value, &keys, self.hub.clock.now()).map(|()| true)
    }

    async fn keys(&self, jku: Url) -> Result<Arc<KeySet>, DiscoveryError> {
        let cell = self.key_cell(&jku)?;
        // A thousand cards of one hub wait for one set, and not for those of others.
        let fetch = async || keys_at(&self.hub.egress, Purpose::Upstream, &jku).await.map(Arc::new);
        cell.get_or_init(fetch).await.clone()
    }

    /// Where the keys of `jku` are, or will be. Fails when the cards of the hub name too many sets.
    fn key_cell(&self, jku: &Url) -> Result<KeyCell, DiscoveryError> {
        let mut all = self.keys.lock();
        if !all.contains_key(jku) && all.len() == KEY_SETS_MAX {
            return Err(DiscoveryError::Signature(format!("its hub has more than {KEY_SETS_MAX} sets of keys")));
        }
        Ok(all.entry(jku.clone()).or_default().clone())
    }
}

fn hub_rule(hub: &A2aHub, is_signed: bool, known: KnownAgent<'_>) -> Option<&'static str> {
    hub.signatures.refusal(is_signed, known.was_signed)
}
