//! Mentionable v0.1: agents with an address, `@agent@domain`, that anybody can find and talk to.
//!
//! | part of the specification | module |
//! |---|---|
//! | REST transport v0.1, PolicyPart v0.1 section 4.5 | `rest` |
//! | WebFinger, agent card, agent directory | [`discovery`] |
//! | `[mentionable]` in `forecourt.toml` | [`section`] |

pub mod discovery;
mod rest;
pub mod section;

use forecourt_core::Endpoint;
use forecourt_host::Site;
use forecourt_settings::{Problems, Section};
use forecourt_surface::{AgentEndpoints, Mount, Protocol, Surface};

use section::MentionableSettings;

/// The protocol's name: its section, its endpoints, its deliveries.
pub(crate) const NAME: &str = "mentionable";

/// Mentionable, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents as web addresses: plain HTTP in, pages, markdown, JSON or events out",
    schema: || schemars::schema_for!(MentionableSettings),
    sockets: &[],
    listens: |_| Ok(Vec::new()),
    surfaces,
    endpoints,
    documents: discovery::documents,
    tools: |_| Vec::new(),
    envelope: Some(rest::post),
    key_directory: Some(discovery::key_directory),
};

fn surfaces(mount: Mount) -> Result<Vec<Surface>, Problems> {
    let settings: MentionableSettings = mount.section.read()?;
    let discovery = discovery::routes(&mount)?;
    let rest = rest::Rest::new(mount.host, mount.verifier, mount.egress, settings);
    Ok(vec![Surface::Http(rest::routes(rest)), Surface::Http(discovery)])
}

/// Mentionable REST 2: the address without a last slash, which is never redirected.
fn endpoints(site: &Site, _: &Section) -> AgentEndpoints {
    let site = site.clone();
    Box::new(move |card| vec![Endpoint { protocol: NAME, url: site.url(&rest::path(card)) }])
}
