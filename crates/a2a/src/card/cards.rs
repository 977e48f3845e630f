//! Our cards, rendered when they are first asked for and again when the keys were rotated.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_core::{Handle, Timestamp};
use forecourt_host::Host;
use forecourt_identity::{HostKeys, Verifier};
use forecourt_surface::base_url::PlainOrigin;
use forecourt_surface::document::ServedDocument;
use forecourt_surface::{BaseUrl, PublishedDocument, RegistryEntry};
use moka::sync::Cache;
use serde_json::Value;

use super::facts::{self, CardContext, Facts};
use super::limits::{CARD_FRESH, KEPT_BYTES_MAX};
use super::names::{CARD_PATH, HUB_PATH, JWKS_PATH, OLD_CARD_PATH};
use super::settings::CardSettings;
use super::validate::{Problem, validate, validate_agent};
use super::write::{unsigned, write};
use crate::model::Version;

/// The cards of a host. They depend on the configuration and the keys, and of a request on its origin alone.
pub struct Cards {
    host: Arc<Host>,
    verifier: Arc<Verifier>,
    keys: Arc<ArcSwap<HostKeys>>,
    settings: CardSettings,
    rendered: Cache<Key, ServedDocument>,
    /// Since when they are what they are: the start of this host.
    since: Timestamp,
}

/// One card in one form, signed by one key: when the key is replaced, this is another card.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    which: Which,
    version: Version,
    kid: String,
    /// The origin that it names, unless that is the configured one.
    plain: Option<PlainOrigin>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Which {
    Hub,
    ExtendedHub,
    Agent(Handle),
    ExtendedAgent(Handle),
}

impl Cards {
    /// The cards of `host`, none rendered yet.
    pub fn new(host: Arc<Host>, verifier: Arc<Verifier>, keys: Arc<ArcSwap<HostKeys>>, settings: CardSettings) -> Self {
        let weight = |_: &Key, document: &ServedDocument| u32::try_from(document.body().len()).unwrap_or(u32::MAX);
        let rendered = Cache::builder().max_capacity(KEPT_BYTES_MAX).weigher(weight).build();
        let since = host.clock().now();
        Self { host, verifier, keys, settings, rendered, since }
    }

    /// The cards as answers to one request name this host.
    pub fn at<'a>(&'a self, base: BaseUrl<'a>) -> CardsAt<'a> {
        CardsAt { cards: self, base }
    }

    /// The cards as they are published: under the configured origin.
    fn published(&self) -> CardsAt<'_> {
        self.at(BaseUrl::configured(self.host.site()))
    }

    /// [`CardsAt::hub`], under the configured origin.
    pub fn hub(&self, version: Version) -> ServedDocument {
        self.published().hub(version)
    }

    /// [`CardsAt::agent`], under the configured origin.
    pub fn agent(&self, handle: &Handle, version: Version) -> Option<ServedDocument> {
        self.published().agent(handle, version)
    }

    /// [`CardsAt::extended_hub`], under the configured origin.
    pub fn extended_hub(&self, version: Version) -> Option<ServedDocument> {
        self.published().extended_hub(version)
    }

    /// [`CardsAt::extended_agent`], under the configured origin.
    pub fn extended_agent(&self, handle: &Handle, version: Version) -> Option<ServedDocument> {
        self.published().extended_agent(handle, version)
    }

    /// Whether cards declare that there is more to see for callers that are known.
    pub(crate) fn has_extended(&self) -> bool {
        self.verifier.token_issuers().next().is_some()
    }

    /// What is wrong with the cards that would be published: the hub's, then every agent's with its
    /// handle. Hub card 3.4, 7.
    pub fn problems(&self) -> Vec<(Option<Handle>, Problem)> {
        let (directory, published) = (self.host.directory(), self.published());
        // This form holds every field of the form of 1.0, so that one check covers both.
        let hub = unsigned(&facts::hub(published.place(false), directory), Version::V0_3);
        let hub = validate(&hub).into_iter().map(|problem| (None, problem));
        let agents = directory.iter().flat_map(|resident| {
            let card = facts::agent(published.place(self.settings.grpc_on_cards), &resident.card);
            let problems = validate_agent(&unsigned(&card, Version::V0_3));
            problems.into_iter().map(|problem| (Some(resident.card.handle().clone()), problem))
        });
        hub.chain(agents).collect()
    }

    /// The cards in the form for everybody, each with its path: for web hosts that can't tell who
    /// asks for what. Hub card 5.
    pub fn documents(&self) -> Vec<PublishedDocument> {
        let published = |path: String, card: ServedDocument| PublishedDocument { path, body: card.body().clone() };
        let hub = self.hub(Version::V0_3);
        let hubs = [CARD_PATH, OLD_CARD_PATH].map(|path| published(path.to_owned(), hub.clone()));
        let agents = self.host.directory().iter().filter_map(|resident| {
            let handle = resident.card.handle();
            Some(published(format!("{HUB_PATH}/{handle}{CARD_PATH}"), self.agent(handle, Version::V0_3)?))
        });
        hubs.into_iter().chain(agents).collect()
    }

    /// The cards as directories of agents take them: each in a folder of this protocol.
    pub fn registry_entries(&self) -> Vec<RegistryEntry> {
        let hint = "directories of agents take this file, or the address where the same card is served";
        let entry = |path: String, card: &ServedDocument| RegistryEntry {
            document: PublishedDocument { path, body: card.body().clone() },
            hint,
        };
        let agents = self.host.directory().iter().filter_map(|resident| {
            let handle = resident.card.handle();
            Some(entry(format!("{HUB_PATH}/{handle}/agent-card.json"), &self.agent(handle, Version::V0_3)?))
        });
        let hub = entry(format!("{HUB_PATH}/agent-card.json"), &self.hub(Version::V0_3));
        std::iter::once(hub).chain(agents).collect()
    }
}

/// The cards of a host under one of its origins.
#[derive(Clone, Copy)]
pub struct CardsAt<'a> {
    cards: &'a Cards,
    base: BaseUrl<'a>,
}

impl CardsAt<'_> {
    /// The card at the well-known path: that of `version` alone for 1.0, else the one of both.
    pub fn hub(self, version: Version) -> ServedDocument {
        // Never with gRPC: google-adk refuses a whole card for one interface whose URL is not https of the card's own
        // origin.
        self.render(Which::Hub, version, || facts::hub(self.place(false), self.cards.host.directory()))
    }

    /// The card of one agent, if it lives here.
    pub fn agent(self, handle: &Handle, version: Version) -> Option<ServedDocument> {
        let card = &self.cards.host.directory().find(handle)?.card;
        let facts = || facts::agent(self.place(self.cards.settings.grpc_on_cards), card);
        Some(self.render(Which::Agent(handle.clone()), version, facts))
    }

    /// The hub's card for callers that are known; `None` when nobody can be known here.
    pub fn extended_hub(self, version: Version) -> Option<ServedDocument> {
        let facts = || facts::extended_hub(self.place(true), self.cards.host.directory());
        self.cards.has_extended().then(|| self.render(Which::ExtendedHub, version, facts))
    }

    /// The card of one agent for callers that are known; `None` when nobody can be known here, or no
    /// such agent lives here.
    pub fn extended_agent(self, handle: &Handle, version: Version) -> Option<ServedDocument> {
        let card = &self.cards.host.directory().find(handle)?.card;
        let facts = || facts::agent(self.place(true), card);
        self.cards.has_extended().then(|| self.render(Which::ExtendedAgent(handle.clone()), version, facts))
    }

    /// What is signed is what is served: a card under another origin is another card.
    fn render(self, which: Which, version: Version, facts: impl FnOnce() -> Facts) -> ServedDocument {
        let keys = self.cards.keys.load();
        let key = Key { which, version, kid: keys.current().kid().to_owned(), plain: self.base.plain().cloned() };
        let written = || write(&facts(), version, &keys, &self.base.url(JWKS_PATH));
        // Those who ask at once, after a rotation for instance, wait for one signature instead of making one each.
        self.cards.rendered.get_with(key, || document(&written(), self.cards.since))
    }

    fn place(&self, shows_grpc: bool) -> CardContext<'_> {
        let Cards { host, verifier, settings, .. } = self.cards;
        CardContext { site: host.site(), base: self.base, verifier, settings, shows_grpc }
    }
}

fn document(card: &Value, since: Timestamp) -> ServedDocument {
    let document = ServedDocument::new("application/json", CARD_FRESH, card.to_string());
    document.varying_by("A2A-Version").modified(since)
}
