//! The Fediverse: agents as actors, asked by mentioning them in a note, answered in its thread. ActivityPub,
//! PolicyPart 4.3.
//!
//! | file | holds |
//! |---|---|
//! | `names.rs`, `iri.rs` | where things are, and names of elsewhere |
//! | `wire.rs`, `note.rs`, `html.rs`, `html/` | activities and notes of others, as values |
//! | `signature.rs`, `signature/` | who signed a request |
//! | `actors.rs`, `lookups.rs`, `sender.rs` | actors of other servers, and what was proven of them |
//! | `service.rs`, `service/` | activities to the host |
//! | `relations.rs` | followers and blocks |
//! | `letter.rs`, `compose.rs`, `files.rs`, `kept.rs` | an answer as a note, and links to its files |
//! | `courier.rs`, `federation.rs`, `away.rs`, `key.rs` | what is due, signed and delivered |
//! | `actor.rs`, `doubts.rs`, `presence.rs` | what describes an agent, and this server; what a public one would lack, and whether it is found |
//! | `surface.rs`, `surface/` | the paths |
//! | `section.rs` | the section `[activitypub]` |
//!
//! A message becomes a task, and its answer a delivery of that task: the host's own queue carries both through
//! crashes.

mod actor;
mod actors;
mod away;
mod compose;
mod courier;
mod doubts;
mod federation;
mod files;
mod html;
mod iri;
mod kept;
mod key;
mod letter;
pub mod limits;
mod lookups;
mod names;
mod note;
mod presence;
mod relations;
mod section;
mod sender;
mod service;
mod signature;
mod surface;
mod wire;

use std::sync::Arc;

use forecourt_core::{AgentCard, Ending, Endpoint, Error, Site, Timestamp};
use forecourt_correspondence::OpenDesk;
use forecourt_egress::Egress;
use forecourt_host::{Courier, KeyRotation};
use forecourt_settings::{Problems, Section};
use forecourt_surface::connector::NetworkKind;
use forecourt_surface::failure::HostFailure;
use forecourt_surface::{Mount, Protocol, Surface, Wire};
use futures::future::BoxFuture;
use http::StatusCode;

use courier::{FediverseCourier, OpenService};
use federation::Federation;
use letter::NoteAddress;
use section::ActivityPubSettings;
use service::Service;

/// The protocol's name: its section, its endpoints, its messages, its deliveries in metrics.
pub(crate) const NAME: &str = "activitypub";

/// ActivityPub, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents in the Fediverse: asked by a mention, answered in the thread",
    schema: || schemars::schema_for!(ActivityPubSettings),
    sockets: &[],
    moved: &[],
    ask: None,
    open: |section| Ok(Box::new(ActivityPubWire::open(section)?)),
    spelling,
};

/// The Fediverse, as the command line knows it.
pub const NETWORK: NetworkKind =
    NetworkKind { name: "fediverse", protocol: NAME, steps: presence::steps, try_addresses: presence::try_addresses };

/// ActivityPub with the settings of one deployment.
struct ActivityPubWire {
    settings: ActivityPubSettings,
    /// Where problems stand that are found later.
    section: Section,
    /// Shared with the courier, which is there before anything is mounted.
    service: OpenService,
    desk: OpenDesk<NoteAddress>,
}

impl ActivityPubWire {
    fn open(section: Section) -> Result<Self, Problems> {
        let settings = ActivityPubSettings::read(&section)?;
        Ok(Self { settings, section, service: Arc::default(), desk: Arc::default() })
    }

    /// Agents that are to be actors and are none here.
    fn check_agents(&self, mount: &Mount) -> Result<(), Problems> {
        let mut problems = Problems::new();
        for handle in &self.settings.agents {
            let found = forecourt_core::Handle::parse(handle).ok();
            if found.and_then(|handle| mount.host.directory().find(&handle)).is_none() {
                problems.push(self.section.problem(Some("agents"), format!("there is no agent `{handle}`")));
            }
        }
        problems.into_result(())
    }
}

impl Wire for ActivityPubWire {
    /// The actor of an agent. WebFinger 2.3, link 1.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let actor = || Endpoint::new(NAME, names::actor(site, card.handle()));
        self.settings.has(card.handle()).then(actor).into_iter().collect()
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        if !self.settings.enabled {
            return Ok(Vec::new());
        }
        self.check_agents(mount)?;
        let federation = Arc::new(Federation::new(mount.egress.clone()));
        let service = Service::new(mount, self.settings.clone(), federation);
        let _ = self.desk.set(service.desk.clone());
        let _ = self.service.set(service.clone());
        let host = mount.host.clone();
        let rotate = move || -> BoxFuture<'static, Result<Timestamp, Error>> {
            let host = host.clone();
            Box::pin(async move { key::rotate(&host).await })
        };
        mount.services.publish(Arc::new(KeyRotation { platform: NAME, rotate: Box::new(rotate) }));
        Ok(vec![Surface::Http(surface::routes(service, mount.pages.clone()))])
    }

    fn doubts(&self, site: &Site, cards: &[&AgentCard]) -> Vec<String> {
        let actors: Vec<_> = cards.iter().copied().filter(|card| self.settings.has(card.handle())).collect();
        if actors.is_empty() { Vec::new() } else { doubts::of(site, &actors) }
    }

    fn courier(&self, _egress: Arc<Egress>, _site: &Site) -> Option<Arc<dyn Courier>> {
        let courier = || FediverseCourier::new(self.service.clone(), self.desk.clone());
        self.settings.enabled.then(|| Arc::new(courier()) as Arc<dyn Courier>)
    }
}

/// What a server is told of a failure of the host, and its status.
fn status(error: &Error) -> (StatusCode, &'static str) {
    match error {
        Error::NotFound { .. } => (StatusCode::NOT_FOUND, "404"),
        Error::Gone { .. } => (StatusCode::GONE, "410"),
        Error::Invalid { .. } => (StatusCode::BAD_REQUEST, "400"),
        Error::Full { bound } if bound.is_callers() => (StatusCode::TOO_MANY_REQUESTS, "429"),
        Error::Full { .. } => (StatusCode::SERVICE_UNAVAILABLE, "503"),
        Error::Unavailable { .. } | Error::Conflict { .. } => (StatusCode::SERVICE_UNAVAILABLE, "503"),
        Error::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "500"),
    }
}

/// How a failure is told where a server is told of it; of other refusals whoever asked is, by a note.
fn spelling(failed: HostFailure) -> Option<String> {
    match failed {
        HostFailure::Error(error) => Some(status(&error).1.to_owned()),
        HostFailure::Refused(part) => Some(match part.kind.retry_after_seconds() {
            Some(_) => "503".to_owned(),
            None => "a note".to_owned(),
        }),
        HostFailure::Ended(Ending::Canceled) => None,
        HostFailure::Ended(_) => Some("a note".to_owned()),
        // Endpoints are not called here.
        HostFailure::Call(_) => None,
    }
}

#[cfg(test)]
mod tests;
