//! A2A, 0.3 and 1.0: any client that finds the domain gets the right agent.
//!
//! | what | module |
//! |---|---|
//! | the words of both versions, once | [`model`] |
//! | each version's spelling of them, read and written | `codec` |
//! | the hub card and the cards of agents, signed | [`card`] |
//! | what a path means; JSON-RPC, HTTP+JSON, gRPC | `target`, `rpc`, `rest`, `grpc` |
//! | one operation carried to the host and back | `service` |
//! | a message on the way in; a task and its events on the way out | `from_wire`; `view`, `frames`, `parts` |
//! | refusals, payments and mandates, and the table of errors | `policy`, `payment`, `mandates`, `error` |
//! | talking to other A2A agents, fronting one, and `forecourt ask` | [`client`], `backend`, `ask` |
//! | reading which agents a hub elsewhere has | `hub` |
//! | `[a2a]` in `forecourt.toml` | [`section`] |
//!
//! A request is read into an [`model::Operation`] by the codec of its version, carried by `service`, and
//! what comes of it is written by `answer`; `surface` alone knows the web framework.

mod address;
mod annotations;
mod answer;
mod ask;
pub mod backend;
pub mod card;
pub mod client;
mod codec;
mod cors;
mod error;
mod frames;
mod from_wire;
mod grpc;
mod hub;
mod limits;
mod mandates;
pub mod model;
mod parts;
mod payment;
mod policy;
mod rest;
mod rpc;
pub mod section;
mod service;
mod surface;
mod target;
mod version;
mod view;

pub use backend::BACKEND;
pub use hub::HUBS;

use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_host::Envelope;
use forecourt_settings::{Problems, Section};
use forecourt_surface::body::BodyLimits;
use forecourt_surface::protected_resource::ResourceOfPath;
use forecourt_surface::tool::Tool;
use forecourt_surface::{HttpRoutes, Mount, Protocol, PublishedDocument, RegistryEntry, Surface, Wire};

use card::{CardSettings, Cards};
use section::A2aSettings;
use service::{OverGrpc, Service};

/// The protocol's name: its section, its endpoints, its deliveries, its requests in metrics.
pub(crate) const NAME: &str = "a2a";

/// A2A, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents for agents: JSON-RPC, HTTP+JSON and gRPC, in the versions 1.0 and 0.3",
    schema: || schemars::schema_for!(A2aSettings),
    sockets: &[],
    moved: &[],
    ask: Some(&ask::CLIENT),
    open: |section| Ok(Box::new(A2aWire { settings: section.read()?, section })),
    spelling: service::spelling,
};

/// A2A with the settings of one deployment.
struct A2aWire {
    settings: A2aSettings,
    /// Where problems stand that are found later.
    section: Section,
}

impl Wire for A2aWire {
    /// The endpoint of an agent, `/a2a/{handle}`, with its A2A card as the description. Hub card 4.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let base = site.url(&format!("{}/{}", card::names::HUB_PATH, card.handle()));
        let description = format!("{base}{}", card::names::CARD_PATH);
        let endpoint = Endpoint::new(NAME, base).described_by(description, card::names::MEDIA_TYPE);
        vec![endpoint.behind_hub(site.url(card::names::HUB_PATH))]
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        let cards = cards(mount, &self.settings);
        let problems = self.problems(mount, &cards);
        // If the default agent alone decided, a mention would lead pages of other origins around the others.
        let hub_is_open = mount.host.directory().iter().all(|resident| resident.card.cors);
        let skills = skills(mount).cloned().collect();
        let Mount { host, verifier, egress, .. } = mount.clone();
        let settings = self.settings.clone();
        // Two sends of one message find each other though the deployment was replaced in between.
        let arrivals = mount.services.keep(service::Arrivals::default);
        let service = Service { host, verifier, egress, cards, skills, settings, hub_is_open, arrivals };
        let service = Arc::new(service);
        let bounds = BodyLimits::with_bytes_max(limits::BODY_BYTES_MAX);
        let grpc = HttpRoutes {
            paths: grpc::PATHS.to_vec(),
            router: grpc::routes(Arc::new(OverGrpc(service.clone())), bounds),
        };
        let about = HttpRoutes { paths: grpc::ABOUT_PATHS.to_vec(), router: grpc::about(service.host.clone()) };
        problems.into_result(vec![Surface::Http(surface::routes(service)), Surface::Http(grpc), Surface::Http(about)])
    }

    fn protected_resource(&self) -> Option<ResourceOfPath> {
        Some(target::resource)
    }

    /// The cards of the hub and of each agent, for static hosting. Fails when one of them would be refused by others.
    fn documents(&self, mount: &Mount) -> Result<Vec<PublishedDocument>, Problems> {
        let cards = cards(mount, &self.settings);
        self.problems(mount, &cards).into_result(cards.documents())
    }

    /// The same cards as files that directories of agents take; most are told their addresses.
    fn registry_entries(&self, mount: &Mount) -> Result<Vec<RegistryEntry>, Problems> {
        let cards = cards(mount, &self.settings);
        self.problems(mount, &cards).into_result(cards.registry_entries())
    }

    fn envelope(&self) -> Option<Envelope> {
        Some(service::post)
    }
}

impl A2aWire {
    /// Everything that others would refuse: handles that stand for something else in paths, and cards
    /// that lie. Hub card 3.4, 7; design 19.
    fn problems(&self, mount: &Mount, cards: &Cards) -> Problems {
        let mut problems = Problems::new();
        for resident in mount.host.directory().iter() {
            let handle = resident.card.handle().as_str();
            if target::RESERVED.contains(&handle) {
                let words =
                    format!("an agent can't be called `{handle}`: the word has a meaning of its own below /a2a");
                problems.push(self.section.problem(None, words));
            }
        }
        for (agent, problem) in cards.problems() {
            let whose = agent.map_or_else(|| "the hub's card".to_owned(), |agent| format!("the A2A card of @{agent}"));
            problems.push(self.section.problem(None, format!("{whose} would be refused by others: {problem}")));
        }
        problems
    }
}

/// The operations of the whole host that are skills.
fn skills(mount: &Mount) -> impl Iterator<Item = &Tool> {
    mount.tools.iter().filter(|tool| tool.as_skill && tool.agent.is_none())
}

fn cards(mount: &Mount, settings: &A2aSettings) -> Cards {
    let settings = CardSettings {
        organization: settings.organization.clone(),
        hub_version: Some(settings.version.clone()),
        grpc: Some(mount.host.site().canonical_host().to_owned()),
        skills: skills(mount).map(service::card_skill).collect(),
        grpc_on_cards: settings.grpc_on_cards,
        payments: payment::extensions(&mount.host),
    };
    Cards::new(mount.host.clone(), mount.verifier.clone(), mount.keys.clone(), settings)
}
