//! MCP: what the host offers, as tools for models. Streamable HTTP in the revisions from 2024-11-05 to
//! 2026-07-28, and the same over standard input and output.
//!
//! | what | module |
//! |---|---|
//! | what is on offer where | `offer`, `agents`, `named`, `own_resource`, `resources`, `mime`, `prompts`, `widget`, `schemas` |
//! | many tools: a short list, and what finds the others | `finding` |
//! | one call: progress, questions, result | `call`, `waiting`, `log`, `requirements`, `elicit`, `forms`, `answer`, `content` |
//! | what becomes of a call that takes long | `tasks`, `partial`, and `task` for clients without them |
//! | the handler of the SDK; what it says of itself; lists in pages | `server`, `about`, `page` |
//! | a call that needs no session, without the SDK's machinery | `direct` |
//! | the way in over HTTP: origins, callers, sessions, refusals | `surface`, `target`, `origin`, `caller`, `sessions`, `streams`, `cors`, `rpc_error`, `bare_refusal`, `verdict` |
//! | the way in over a pipe | [`stdio`] |
//! | other servers, as they are, behind this host | `servers`, and the way to them `forward` |
//! | a sign-in at one of them that is kept for a person | `servers::sign_in`, `sign_in_pages`, `person` |
//! | other servers: fronted as an agent, or bridged to a pipe | `backend`, [`bridge`], `client`, `upstream` |
//! | calling other servers for a person; `forecourt ask` | `visit`, `form`, `ask` |
//! | what registries of servers are told | `registry_entry` |
//! | `forecourt connect`: other programs told of a server | `connect` |
//! | what another server has, for who imports it | [`survey`] |
//! | `[mcp]` in `forecourt.toml` | [`section`] |
//!
//! The official SDK speaks the protocol; its types stay in this crate.

mod about;
mod agents;
mod answer;
mod ask;
mod backend;
mod bare_refusal;
pub mod bridge;
mod call;
mod call_trace;
mod caller;
mod client;
mod connect;
mod content;
mod cors;
mod direct;
mod elicit;
mod fields;
mod finding;
mod form;
mod forms;
mod forward;
mod limits;
mod log;
mod mime;
mod named;
mod offer;
mod origin;
mod own_resource;
mod page;
mod partial;
mod payment;
mod person;
mod portable_schema;
mod prompts;
mod registry_entry;
mod requirements;
mod resources;
mod rpc_error;
mod schemas;
pub mod section;
mod server;
mod server_card;
mod servers;
mod sessions;
mod sign_in_pages;
pub mod stdio;
mod streams;
mod surface;
pub mod survey;
mod target;
mod task;
mod tasks;
mod trace;
mod upstream;
mod verdict;
mod visit;
mod waiting;
mod widget;

pub use backend::BACKEND;
pub use connect::COMMANDS;
pub use forward::{SERVER_FUNCTION_ERRORS, ServerFunctionError, ServerFunctions};
pub use servers::SERVERS;
pub use target::PATH;

use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_settings::{MovedKey, Problems, Section};
use forecourt_surface::protected_resource::ResourceOfPath;
use forecourt_surface::{FileDefinitions, Mount, Protocol, RegistryEntry, Surface, Wire};
use futures::future::BoxFuture;

use offer::Offer;
use section::McpSettings;
use servers::CheckedServer;
use sign_in_pages::SignInPages;
use stdio::StdioServer;
use surface::McpEndpoint;

/// The protocol's name: its section, its endpoints, its messages, its requests in metrics.
pub const NAME: &str = "mcp";

/// MCP, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Tools for models: the Model Context Protocol over HTTP and standard input and output",
    schema: || schemars::schema_for!(McpSettings),
    sockets: &[],
    moved: &[MovedKey { old: "mcp.patience_seconds", new: "mcp.call_timeout_seconds" }],
    ask: Some(&ask::CLIENT),
    open: |section| Ok(Box::new(McpWire { settings: McpSettings::read(&section)?, section, servers: Vec::new() })),
    spelling: rpc_error::spelling,
};

/// MCP with the settings of one deployment.
struct McpWire {
    settings: McpSettings,
    /// Where problems stand that are found later.
    section: Section,
    /// The servers behind the host.
    servers: Vec<CheckedServer>,
}

impl McpWire {
    fn offer(&self, mount: &Mount) -> Result<Arc<Offer>, Problems> {
        Offer::new(mount, self.settings.clone(), &self.section, &self.servers).map(Arc::new)
    }
}

impl Wire for McpWire {
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let url = site.url(&target::path_of(Some(card.handle())));
        let description = format!("{url}{}", server_card::SUFFIX);
        let endpoint = Endpoint::new(NAME, url).described_by(description, server_card::MEDIA_TYPE);
        vec![endpoint.behind_hub(site.url(target::PATH))]
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        let offer = self.offer(mount)?;
        let mut surfaces = vec![Surface::Http(surface::routes(Arc::new(McpEndpoint::new(offer.clone(), mount))))];
        if self.servers.iter().any(CheckedServer::signs_people_in) {
            if mount.verifier.oidc().is_none() {
                let words =
                    "`sign_in` of a server needs `[identity.oidc]`: its sign-ins are kept for people who are known";
                return Err(self.section.problem(None, words).into());
            }
            surfaces.push(Surface::Http(sign_in_pages::routes(SignInPages::new(offer, mount))));
        }
        Ok(surfaces)
    }

    fn set_definitions(&mut self, definitions: FileDefinitions) -> Result<(), Problems> {
        if let FileDefinitions::Servers(servers) = definitions {
            self.servers = servers::read(&servers)?;
        }
        Ok(())
    }

    fn protected_resource(&self) -> Option<ResourceOfPath> {
        Some(target::resource)
    }

    fn registry_entries(&self, mount: &Mount) -> Result<Vec<RegistryEntry>, Problems> {
        let entries = registry_entry::entries(mount.host.site(), mount.host.directory());
        entries.map_err(|wrong| {
            let mut problems = Problems::new();
            wrong.into_iter().for_each(|words| problems.push(self.section.problem(None, words)));
            problems
        })
    }

    fn stdio(&self, mount: &Mount) -> Result<Option<BoxFuture<'static, ()>>, Problems> {
        let offer = self.offer(mount)?;
        // Endpoints that are tools of servers find them there.
        mount.services.publish(offer.clone());
        let server = StdioServer::of(offer);
        Ok(Some(server.serve(tokio::io::stdin(), tokio::io::stdout())))
    }
}
