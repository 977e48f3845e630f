//! From a URL to an agent that can be asked: its card is found, kept for a while, and believed as
//! far as its origin and its signature go.
//!
//! An interface must be on the card's own origin, or on one that the operator named: a card is easily
//! copied, and credentials must not follow it elsewhere. google-adk holds it the same way.

pub(crate) mod fetch;
pub(crate) mod signature;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use forecourt_agents::declined::UpstreamError;
use forecourt_core::{Clock, Timestamp};
use forecourt_egress::{Egress, Purpose};
use futures::future::BoxFuture;
use http::HeaderMap;
use moka::future::Cache;
use serde_json::Value;
use url::{Origin, Url};

use self::fetch::{CardDocument, CardResponse, look};
use super::endpoint::{Binding, Endpoint, choose};
use super::limits::{CARD_BYTES_MAX, CARD_KEPT_MAX, CARD_KEPT_MIN, CARDS_KEPT_MAX};
use super::receive::ANY_PORT;
use crate::card::{self, RemoteCard, names};
use crate::model::Version;

/// Where a card is below a base. The second is where it was before 0.3.
pub(crate) const WELL_KNOWN: [&str; 2] = [".well-known/agent-card.json", ".well-known/agent.json"];
/// The extension by which an agent says that its refusals keep the rules. PolicyPart 5.1, with the
/// name it had before.
const POLICY: [&str; 2] = [names::POLICY, names::POLICY_ALIAS];

/// Finds agents and keeps their cards.
pub struct Discovery {
    egress: Egress,
    clock: Arc<dyn Clock>,
    rules: Rules,
    known: Cache<Url, Arc<CardLookup>>,
    /// The agent that was found last: a backend asks for one and the same again and again.
    last: ArcSwapOption<LastFound>,
}

/// An agent that was found, and until when it need not be looked for.
struct LastFound {
    url: Url,
    found: Arc<DiscoveredAgent>,
    until: Timestamp,
}

/// What a [`Discovery`] believes of the cards that it finds, and how it fetches them.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Who wrote the URLs: [`Purpose::Upstream`] for an operator, [`Purpose::Document`] otherwise.
    pub purpose: Purpose,
    /// Fields for each request for a card.
    pub headers: HeaderMap,
    /// Origins beside the card's own that interfaces may be on.
    pub origins: Vec<Origin>,
    /// Whether a card without a valid signature is refused. One with a wrong signature always is.
    pub signed_only: bool,
    /// How long a card is kept at most, from [`CARD_KEPT_MIN`] to [`CARD_KEPT_MAX`].
    pub kept_max: Duration,
}

/// An agent that was found: where to ask it, and how far its card can be believed.
#[derive(Debug, Clone)]
pub struct DiscoveredAgent {
    /// Where to ask.
    pub endpoint: Endpoint,
    /// The host that links of its refusals must lead to: the one that its card names, also when it is
    /// asked at another. PolicyPart 3.2.
    pub canonical_host: String,
    /// Its card; `None` for an endpoint that somebody named and that has none.
    pub card: Option<Arc<RemoteCard>>,
    /// When the card was read.
    pub read_at: Timestamp,
    /// Whether the card is signed by a key of its own origin.
    pub is_signed: bool,
}

/// Why there is no agent to ask. `Display` is a sentence for whoever named the URL.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DiscoveryError {
    /// Nothing was there.
    #[error("there is no A2A agent card at {0}")]
    NoCard(String),
    /// No connection was made. The cause is for the operator.
    #[error("the agent card can't be fetched: {0}")]
    Unreachable(String),
    /// The server did not give the card. The cause is for the operator.
    #[error("the agent card can't be fetched: {0}")]
    Unavailable(String),
    /// The server said with its status that we are not served, or not now.
    #[error("the agent card can't be fetched: its server {0}")]
    Declined(UpstreamError),
    /// What is there is no card.
    #[error("what is at {0} is no A2A agent card: {1}")]
    Unreadable(String, String),
    /// It speaks only what we don't.
    #[error("the agent speaks A2A over no binding that is known here")]
    NoInterface,
    /// Its interfaces are elsewhere.
    #[error("the agent card leads to another origin than its own: {0}")]
    OtherOrigin(String),
    /// Its signature is wrong, or there is none where one is wanted.
    #[error("the agent card is not to be believed: {0}")]
    Signature(String),
}

/// What a look at a URL came to, and until when there is no need for another.
struct CardLookup {
    card: Result<Option<Arc<CachedCard>>, DiscoveryError>,
    until: Timestamp,
}

#[derive(Clone)]
struct CachedCard {
    card: Arc<RemoteCard>,
    /// Its interfaces that can be used here.
    offered: Vec<Endpoint>,
    etag: Option<String>,
    url: Url,
    read_at: Timestamp,
    is_signed: bool,
}

impl Discovery {
    /// Finds agents over `egress` and believes what `rules` say.
    pub fn new(egress: Egress, clock: Arc<dyn Clock>, rules: Rules) -> Self {
        Self { egress, clock, rules, known: Cache::new(CARDS_KEPT_MAX), last: ArcSwapOption::empty() }
    }

    /// The agent of a URL: that of its card, of a base below which the card is, or of an endpoint. Of
    /// an endpoint whose own card is nowhere, the card of its origin says which versions are spoken
    /// there; without any card it is taken for JSON-RPC of 0.3, as a request without a version is. An
    /// endpoint that somebody named is asked itself, wherever its card would lead.
    pub fn find<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Arc<DiscoveredAgent>, DiscoveryError>> {
        Box::pin(async move {
            let now = self.clock.now();
            if let Some(last) = self.last.load().as_ref().filter(|last| now < last.until && last.url == *url) {
                return Ok(last.found.clone());
            }
            let (found, until) = Box::pin(self.search(url)).await?;
            let found = Arc::new(found);
            self.last.store(Some(Arc::new(LastFound { url: url.clone(), found: found.clone(), until })));
            Ok(found)
        })
    }

    /// [`Self::find`], with the moment until which nothing that was read for it changes.
    async fn search(&self, url: &Url) -> Result<(DiscoveredAgent, Timestamp), DiscoveryError> {
        if is_document(url) {
            let (kept, until) = self.kept(url).await?;
            let kept = kept.ok_or_else(|| DiscoveryError::NoCard(url.to_string()))?;
            return Ok((self.found(&kept)?, until));
        }
        let is_endpoint = url.path() != "/";
        let mut until = Timestamp::MAX;
        for path in WELL_KNOWN {
            let (kept, holds) = self.kept(&below(url, path)).await?;
            until = until.min(holds);
            let Some(kept) = kept else { continue };
            let found = match self.found(&kept) {
                Err(DiscoveryError::OtherOrigin(_)) if is_endpoint => named(url, &kept),
                found => found,
            };
            return Ok((found?, until));
        }
        if !is_endpoint {
            return Err(DiscoveryError::NoCard(below(url, WELL_KNOWN[0]).to_string()));
        }
        let mut root = url.clone();
        root.set_path("/");
        // A fault here is no fault of the endpoint's; it is looked at again next time.
        let (hub, holds) = self.kept(&below(&root, WELL_KNOWN[0])).await.unwrap_or((None, Timestamp::MIN));
        until = until.min(holds);
        if let Some(hub) = hub {
            return Ok((named(url, &hub)?, until));
        }
        let endpoint = Endpoint { url: url.clone(), binding: Binding::JsonRpc, version: Version::V0_3, tenant: None };
        let canonical_host = endpoint.canonical_host();
        let found =
            DiscoveredAgent { endpoint, canonical_host, card: None, read_at: self.clock.now(), is_signed: false };
        Ok((found, until))
    }

    fn found(&self, kept: &CachedCard) -> Result<DiscoveredAgent, DiscoveryError> {
        let mut origins = self.rules.origins.clone();
        origins.push(kept.url.origin());
        let endpoint = choose(&kept.offered, &origins).map_err(|stranger| match stranger {
            Some(origin) => DiscoveryError::OtherOrigin(origin),
            None => DiscoveryError::NoInterface,
        })?;
        Ok(kept.agent(endpoint))
    }

    /// The card at `url`, from here or from there, and until when that holds. `None`: there is none, which
    /// holds for [`CARD_KEPT_MIN`]. Those who ask at once share one request, and its fault.
    async fn kept(&self, url: &Url) -> Result<(Option<Arc<CachedCard>>, Timestamp), DiscoveryError> {
        let now = self.clock.now();
        let old = self.known.get(url).await;
        if let Some(known) = old.as_ref().filter(|known| now < known.until) {
            return known.card.clone().map(|card| (card, known.until));
        }
        let old = old.and_then(|known| known.card.clone().ok().flatten());
        let known =
            self.known.entry_by_ref(url).or_insert_with_if(self.know(url, old, now), |known| known.until <= now);
        let known = known.await.into_value();
        known.card.clone().map(|card| (card, known.until))
    }

    async fn know(&self, url: &Url, old: Option<Arc<CachedCard>>, now: Timestamp) -> Arc<CardLookup> {
        let (card, holds) = match self.look(url, old, now).await {
            Ok(Some((kept, fresh))) => (Ok(Some(Arc::new(kept))), self.bounded(fresh)),
            // Each message to an endpoint without a card would otherwise look for one at two or three places first.
            Ok(None) => (Ok(None), CARD_KEPT_MIN),
            // A fault is shared by those who wait for it and is not kept: the next one looks again.
            Err(error) => (Err(error), Duration::ZERO),
        };
        Arc::new(CardLookup { card, until: now.checked_add(holds).unwrap_or(Timestamp::MAX) })
    }

    /// The card as its server has it now, and for how long that lets it be kept.
    async fn look(
        &self,
        url: &Url,
        old: Option<Arc<CachedCard>>,
        now: Timestamp,
    ) -> Result<Option<(CachedCard, Duration)>, DiscoveryError> {
        let etag = old.as_ref().and_then(|kept| kept.etag.as_deref());
        let Rules { purpose, headers, .. } = &self.rules;
        match (look(&self.egress, *purpose, headers, url, etag, CARD_BYTES_MAX).await?, old) {
            (CardResponse::Nothing, _) => Ok(None),
            // It counts as read anew. PolicyPart 3.6.
            (CardResponse::Same { fresh }, Some(old)) => {
                Ok(Some((CachedCard { read_at: now, ..(*old).clone() }, fresh)))
            }
            (CardResponse::Same { .. }, None) => Err(DiscoveryError::Unavailable("it answered 304 unasked".to_owned())),
            (CardResponse::Document(document), _) => {
                let fresh = document.fresh;
                self.read(url, document, now).await.map(|kept| Some((kept, fresh)))
            }
        }
    }

    async fn read(&self, url: &Url, document: CardDocument, now: Timestamp) -> Result<CachedCard, DiscoveryError> {
        let CardDocument { value, etag, .. } = document;
        let card = card::read(&value).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            DiscoveryError::Unreadable(url.to_string(), first)
        })?;
        let is_signed = self.is_signed(url, &value, &card, now).await?;
        let offered = endpoints(&card);
        Ok(CachedCard { card: Arc::new(card), offered, etag, url: url.clone(), read_at: now, is_signed })
    }

    async fn is_signed(
        &self,
        url: &Url,
        value: &Value,
        card: &RemoteCard,
        now: Timestamp,
    ) -> Result<bool, DiscoveryError> {
        let is_signed = signature::check(&self.egress, self.rules.purpose, url, value, card, now).await?;
        match is_signed || !self.rules.signed_only {
            true => Ok(is_signed),
            false => Err(DiscoveryError::Signature("it has no signature by a key of its own origin".to_owned())),
        }
    }

    /// How long a card is kept whose server lets it be kept for `fresh`.
    fn bounded(&self, fresh: Duration) -> Duration {
        fresh.clamp(CARD_KEPT_MIN, self.rules.kept_max.clamp(CARD_KEPT_MIN, CARD_KEPT_MAX))
    }
}

impl CachedCard {
    fn agent(&self, endpoint: Endpoint) -> DiscoveredAgent {
        let (card, canonical_host) = (Some(self.card.clone()), endpoint.canonical_host());
        DiscoveredAgent { endpoint, canonical_host, card, read_at: self.read_at, is_signed: self.is_signed }
    }
}

impl DiscoveredAgent {
    /// [`Self::canonical_host`]; of an agent whose card names plain HTTP, which is for development alone, at
    /// [`ANY_PORT`]: its pages are at another port of the same host there.
    pub(crate) fn refusal_host(&self) -> String {
        let is_plain = self.endpoint.url.scheme() == "http" && self.canonical_host == self.endpoint.canonical_host();
        match self.endpoint.url.host_str().filter(|_| is_plain) {
            Some(name) => format!("{name}{ANY_PORT}"),
            None => self.canonical_host.clone(),
        }
    }

    /// Whether the agent says that its refusals keep the rules. PolicyPart 5.1.
    pub(crate) fn declares_policy(&self) -> bool {
        let extensions = self.card.as_ref().map_or(&[][..], |card| &card.extensions);
        extensions.iter().any(|extension| POLICY.contains(&extension.uri.as_str()))
    }

    /// Whether the agent says that it streams; of one without a card that is to be found out.
    pub fn streams(&self) -> bool {
        self.card.as_ref().is_none_or(|card| card.streaming)
    }
}

/// An endpoint that somebody named, spoken to as `kept` says of it, or of its neighbours.
fn named(url: &Url, kept: &CachedCard) -> Result<DiscoveredAgent, DiscoveryError> {
    let listed = kept.offered.iter().find(|one| one.url == *url);
    let rpc = kept.offered.iter().filter(|one| one.binding == Binding::JsonRpc);
    let like_it = rpc.min_by_key(|one| one.rank());
    let declared = listed.or(like_it).cloned().ok_or(DiscoveryError::NoInterface)?;
    let canonical_host = declared.canonical_host();
    Ok(DiscoveredAgent { canonical_host, ..kept.agent(Endpoint { url: url.clone(), ..declared }) })
}

/// The interfaces of a card that can be used here. gRPC is not among them.
pub(crate) fn endpoints(card: &RemoteCard) -> Vec<Endpoint> {
    let each = card.interfaces.iter().filter_map(|one| {
        let binding = match one.binding {
            card::Binding::JsonRpc => Binding::JsonRpc,
            card::Binding::HttpJson => Binding::Rest,
            card::Binding::Grpc => return None,
        };
        Some(Endpoint { url: Url::parse(&one.url).ok()?, binding, version: one.version, tenant: one.tenant.clone() })
    });
    each.collect()
}

/// Whether a URL is that of a card, and not of a base below which one is.
pub(crate) fn is_document(url: &Url) -> bool {
    url.path().ends_with(".json")
}

/// A path below a base, whether that ends with a slash or not.
pub(crate) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

impl std::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discovery").finish_non_exhaustive()
    }
}
