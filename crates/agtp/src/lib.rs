//! A server of the Agent Transfer Protocol, AGTP/1.0: agents and endpoints of a host, over the messages of
//! [`forecourt_agtp_wire`].
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `from_wire.rs`, `from_wire/` | a request as values of the contract, without host or clock | base 2.1, 2.2, 2.4 |
//! | `answer.rs`, `answer/` | the trip of a request: who calls, where to, the order of checks | base 5, 6.7; AGTP-API 6.1, 13.2 |
//! | `service.rs`, `service/` | what every answer can need: host, agents, keys, settings | |
//! | `sessions.rs`, `sessions/` | sessions that rest | base 3.1, 3.4 |
//! | `discovery.rs`, `discovery/` | what DISCOVER answers | base 2.6; AGTP-API 5.8 to 5.10 |
//! | `manifest.rs`, `manifest/` | the manifest: written, counted, signed, kept ready | base 11; AGTP-API 8 |
//! | `inventory.rs`, `inventory/` | what there is, as the two above show it | AGTP-API 5.8, 8 |
//! | `embedded.rs`, `embedded/` | the other methods that every host answers | base 3 |
//! | `once.rs` | calls that are made once, however often they are sent | base 2.4 |
//! | `records.rs`, `records/` | signed records of what is answered | base 8 |
//! | `problem.rs`, `problem/` | every refusal, with its code and what helps to recover | base 4; AGTP-API 11 |
//! | `to_wire.rs` | an answer as a response, without host or clock | base 2.2, 2.5 |
//! | `gateway.rs` | HTTP clients as callers | base 12 |
//! | `settings.rs`, `settings/` | the section `[agtp]` | base 10 |
//! | `connection.rs` | requests and answers on one connection, with its deadlines | base 1 |
//! | `words.rs` | texts compared by their words | |
//! | `limits.rs` | every bound, with its unit | |

mod answer;
mod ask;
mod connection;
mod discovery;
mod embedded;
mod from_wire;
mod gateway;
mod inventory;
mod limits;
mod manifest;
mod once;
mod problem;
mod records;
mod reply;
mod service;
mod sessions;
mod settings;
#[cfg(test)]
mod tests;
mod to_wire;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_host::Envelope;
use forecourt_settings::{Problems, Section};
use forecourt_surface::{Listen, Mount, Protocol, Surface, Wire};

use answer::on_connections;
use service::Service;
use settings::AgtpSettings;

pub(crate) use forecourt_agtp_wire::NAME;

/// AGTP, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents and endpoints with contracts over the Agent Transfer Protocol, AGTP/1.0",
    schema: || schemars::schema_for!(AgtpSettings),
    sockets: settings::SOCKETS,
    moved: settings::MOVED,
    ask: None,
    open: |section| Ok(Box::new(AgtpWire::open(section)?)),
    spelling: problem::spelling,
};

/// AGTP with the settings of one deployment.
struct AgtpWire {
    settings: AgtpSettings,
    /// As the section asks for them.
    listens: Vec<Listen>,
    /// Where problems stand that are found later.
    section: Section,
}

impl AgtpWire {
    fn open(section: Section) -> Result<Self, Problems> {
        let settings = AgtpSettings::read(&section)?;
        let listens = settings.listens(&section);
        Ok(Self { settings, listens, section })
    }
}

impl Wire for AgtpWire {
    fn listens(&self) -> Vec<Listen> {
        self.listens.clone()
    }

    fn bound(&mut self, name: &str, address: SocketAddr) {
        self.settings.bound(name, address);
    }

    /// Base 1, form 3: agents by their names.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let url = self.settings.place(site).map(|place| format!("agtp://{place}/agents/{}", card.handle()));
        url.map(|url| Endpoint::new(NAME, url)).into_iter().collect()
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        self.settings.fits(&mount.host.contract().rules, &self.section)?;
        let service = Service::new(mount, self.settings.clone());
        // Found at the start, and not with the first request that would have to be refused.
        if let Some(error) = service.records.unusable() {
            let problem = self.section.problem(Some("audit"), format!("records of responses can't be kept: {error}"));
            let hint = "`on_failure = \"serve\"` in [agtp.audit] answers without them, `enabled = false` keeps none";
            return Err(problem.hint(hint).into());
        }
        self.notices().iter().for_each(|notice| tracing::warn!("{notice}"));
        if let Some(address) = self.settings.plaintext {
            tracing::warn!("AGTP without TLS on {address}: for development, and never for anything else");
        }
        let router = gateway::router(Arc::clone(&service));
        let speak = on_connections(service);
        Ok(vec![
            Surface::Stream { listen: settings::TLS, speak: speak.clone() },
            Surface::Stream { listen: settings::PLAINTEXT, speak },
            Surface::OwnHttp { listen: settings::GATEWAY, router },
        ])
    }

    fn envelope(&self) -> Option<Envelope> {
        Some(embedded::post)
    }

    fn notices(&self) -> Vec<String> {
        self.settings.notices()
    }
}
