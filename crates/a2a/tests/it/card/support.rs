//! The cards of a host in memory.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_a2a::card::{CardSettings, Cards};
use forecourt_a2a::model::Version;
use forecourt_core::{AgentCard, Handle, Skill, Timestamp};
use forecourt_identity::{BearerConfig, HostKeys, IdentityConfig, KeySet};
use forecourt_surface::Mount;
use forecourt_testhost::{Blueprint, resident};
use forecourt_testkit::{CountedEntropy, ScriptedAgent, card};
use serde_json::Value;

pub(crate) const ORIGIN: &str = "https://demo.localhost:8443";

/// Cards in the making.
pub(crate) struct Setup {
    pub(crate) cards: Vec<AgentCard>,
    pub(crate) identity: IdentityConfig,
    pub(crate) settings: CardSettings,
}

/// Cards, and the keys that sign them.
pub(crate) struct Published {
    pub(crate) cards: Cards,
    pub(crate) keys: Arc<ArcSwap<HostKeys>>,
    pub(crate) entropy: Arc<CountedEntropy>,
}

impl Setup {
    pub(crate) fn of(cards: impl IntoIterator<Item = AgentCard>) -> Self {
        Self {
            cards: cards.into_iter().collect(),
            identity: IdentityConfig::default(),
            settings: CardSettings::default(),
        }
    }

    /// The same with one issuer of bearer tokens.
    pub(crate) fn with_identity(mut self) -> Self {
        self.identity.bearer.push(BearerConfig {
            issuer: "https://issuer.example".to_owned(),
            audience: vec!["demo".to_owned()],
            jwks_url: Some("https://issuer.example/jwks.json".to_owned()),
            keys: Vec::new(),
            subject_prefix: None,
            require_not_before: false,
        });
        self
    }

    pub(crate) fn with_grpc(mut self, on_cards: bool) -> Self {
        self.settings = CardSettings {
            grpc: Some("demo.localhost:9443".to_owned()),
            grpc_on_cards: on_cards,
            ..CardSettings::default()
        };
        self
    }

    pub(crate) async fn publish(self) -> Published {
        let agent = |card| resident(card, ScriptedAgent::saying(["hello"]), Vec::new());
        let blueprint = Blueprint {
            residents: self.cards.into_iter().map(agent).collect(),
            identity: Some(self.identity),
            origin: ORIGIN.to_owned(),
            ..Blueprint::default()
        };
        let mounted = blueprint.start(None).await;
        let Mount { host, verifier, keys, .. } = mounted.mount.clone();
        let cards = Cards::new(host, verifier, keys.clone(), self.settings);
        Published { cards, keys, entropy: mounted.entropy.clone() }
    }
}

impl Published {
    /// The hub's card for everybody.
    pub(crate) fn hub(&self) -> Value {
        json(self.cards.hub(Version::V0_3).body())
    }

    /// The hub's card for who asks for 1.0.
    pub(crate) fn hub_1_0(&self) -> Value {
        json(self.cards.hub(Version::V1_0).body())
    }

    pub(crate) fn agent(&self, handle: &str) -> Value {
        json(self.cards.agent(&handle_of(handle), Version::V0_3).unwrap().body())
    }

    pub(crate) fn key_set(&self) -> KeySet {
        KeySet::from_jwks(&self.keys.load().jwks(Timestamp::UNIX_EPOCH)).unwrap()
    }
}

pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

pub(crate) fn handle_of(text: &str) -> Handle {
    Handle::parse(text).unwrap()
}

pub(crate) fn skill(id: &str) -> Skill {
    Skill {
        id: id.to_owned(),
        name: format!("The skill {id}"),
        description: String::new(),
        tags: Vec::new(),
        examples: Vec::new(),
    }
}

/// An agent that can do one thing.
pub(crate) fn skilled(handle: &str, id: &str) -> AgentCard {
    AgentCard { skills: vec![skill(id)], ..card(handle) }
}

/// Chef, who cooks, and gate.
pub(crate) async fn two() -> Published {
    Setup::of([skilled("chef", "cook"), card("gate")]).publish().await
}
