//! The Agent Transfer Protocol, AGTP/1.0.
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `wire.rs`, `wire/` | requests and responses as they are on the wire | base 2.1, 2.4, 2.5 |
//! | `codec.rs`, `codec/` | bytes to messages and back, without a socket | base 2.1 |
//! | `client.rs`, `client/` | requests to servers elsewhere, over connections that are kept; URIs | base 1, 2 |
//! | `from_wire.rs`, `from_wire/` | a request as values of the contract, without host or clock | base 2.1, 2.2, 2.4 |
//! | `answer.rs`, `answer/` | the trip of a request: who calls, where to, the order of checks | base 5, 6.7; AGTP-API 6.1, 13.2 |
//! | `service.rs`, `service/` | what every answer can need: host, agents, keys, settings | |
//! | `sessions.rs`, `sessions/` | sessions that rest | base 3.1, 3.4 |
//! | `builtin.rs`, `builtin/` | what DISCOVER answers | base 2.6; AGTP-API 5.8 to 5.10 |
//! | `manifest.rs`, `manifest/` | the manifest: written, counted, signed, kept ready | base 11; AGTP-API 8 |
//! | `inventory.rs`, `inventory/` | what there is, as the two above show it | AGTP-API 5.8, 8 |
//! | `floor.rs`, `floor/` | the other methods that every host answers | base 3 |
//! | `once.rs` | calls that are made once, however often they are sent | base 2.4 |
//! | `problem.rs`, `problem/` | every refusal, with its code and what helps to recover | base 4; AGTP-API 11 |
//! | `to_wire.rs` | an answer as a response, without host or clock | base 2.2, 2.5 |
//! | `gateway.rs` | HTTP clients as callers | base 12 |
//! | `settings.rs`, `settings/` | the section `[agtp]` | base 10 |
//! | `connection.rs` | requests and answers on one connection, with its deadlines | base 1 |
//! | `words.rs` | texts compared by their words | |
//! | `limits.rs` | every bound, with its unit | |

mod answer;
mod ask;
mod builtin;
pub mod client;
pub mod codec;
pub mod connection;
mod floor;
mod from_wire;
mod gateway;
mod inventory;
pub mod limits;
pub mod manifest;
mod once;
mod problem;
mod reply;
mod service;
mod sessions;
pub mod settings;
mod status;
#[cfg(test)]
mod tests;
mod to_wire;
pub mod wire;
mod words;

use std::sync::Arc;

use forecourt_core::{AgentCard, Endpoint};
use forecourt_host::Site;
use forecourt_settings::{Problems, Section};
use forecourt_surface::{AgentEndpoints, EndpointSection, Mount, Protocol, Surface};

use answer::on_connections;
use service::Service;

/// The protocol's name: its section, its listener, its messages.
pub(crate) const NAME: &str = "agtp";

/// AGTP, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents and endpoints with contracts over the Agent Transfer Protocol, AGTP/1.0",
    schema: || schemars::schema_for!(settings::AgtpSettings),
    sockets: settings::SOCKETS,
    listens: settings::listens,
    surfaces,
    endpoints,
    documents: |_| Ok(Vec::new()),
    tools: |_| Vec::new(),
    envelope: Some(floor::post),
    key_directory: None,
};

/// The section that holds the settings of all endpoints.
pub const ENDPOINTS: EndpointSection = EndpointSection { name: NAME, read: settings::endpoint_settings };

/// Base 1, form 3: agents by their names.
fn endpoints(site: &Site, section: &Section) -> AgentEndpoints {
    let place = settings::AgtpSettings::read(section).ok().and_then(|settings| settings.place(site));
    let url = move |card: &AgentCard| Some(format!("agtp://{}/agents/{}", place.as_ref()?, card.handle()));
    Box::new(move |card| url(card).map(|url| Endpoint { protocol: NAME, url }).into_iter().collect())
}

fn surfaces(mount: Mount) -> Result<Vec<Surface>, Problems> {
    let service = Service::new(&mount)?;
    service.settings.notices().iter().for_each(|notice| tracing::warn!("{notice}"));
    if let Some(address) = service.settings.plaintext {
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
