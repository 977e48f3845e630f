//! Mentionable v0.1: agents with an address, `@agent@domain`, that anybody can find and talk to.
//!
//! | part of the specification | module |
//! |---|---|
//! | REST transport v0.1, PolicyPart v0.1 section 4.5 | `rest` |
//! | WebFinger, agent card, agent directory | [`discovery`] |
//! | asking agents of other domains for those of this host | `asking` |
//! | `forecourt ask` over REST | `ask` |
//! | `[mentionable]` in `forecourt.toml` | [`section`] |

mod ask;
mod asking;
pub mod discovery;
mod rest;
pub mod section;

use std::sync::Arc;

use forecourt_agents::elsewhere::ElsewhereService;
use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_egress::Egress;
use forecourt_host::Envelope;
use forecourt_identity::KeyDirectory;
use forecourt_payments::PaymentNetworks;
use forecourt_settings::{Problems, Section};
use forecourt_surface::protected_resource::ResourceOfPath;
use forecourt_surface::{Mount, Protocol, PublishedDocument, Surface, Wire};

use section::MentionableSettings;

/// The protocol's name: its section, its endpoints, its deliveries.
pub(crate) const NAME: &str = "mentionable";

/// Mentionable, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Agents as web addresses: plain HTTP in, pages, markdown, JSON or events out",
    schema: || schemars::schema_for!(MentionableSettings),
    sockets: &[],
    moved: &[],
    ask: Some(&ask::CLIENT),
    open: |section| Ok(Box::new(MentionableWire { settings: section.read()?, section })),
    spelling: rest::spelling,
};

/// Mentionable with the settings of one deployment.
struct MentionableWire {
    settings: MentionableSettings,
    /// Where problems stand that are found later.
    section: Section,
}

impl Wire for MentionableWire {
    /// Mentionable REST 2: the address without a last slash, which is never redirected.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        let endpoint = Endpoint::new(NAME, site.url(&rest::path(card)));
        vec![endpoint.described_by(discovery::card_url(site, card.handle()), "application/json")]
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        let discovery = discovery::routes(mount, &self.section)?;
        mount.services.publish(Arc::new(ElsewhereService(Arc::new(asking::Asking::new(mount)))));
        let Mount { host, verifier, egress, pages, services, .. } = mount.clone();
        let networks = services.get::<PaymentNetworks>().unwrap_or_default();
        let rest = rest::Rest::new(host, verifier, egress, pages, self.settings.clone()).paid_on(networks);
        Ok(vec![Surface::Http(rest::routes(rest)), Surface::Http(discovery)])
    }

    fn documents(&self, mount: &Mount) -> Result<Vec<PublishedDocument>, Problems> {
        discovery::documents(mount, &self.section)
    }

    fn protected_resource(&self) -> Option<ResourceOfPath> {
        Some(rest::resource)
    }

    fn envelope(&self) -> Option<Envelope> {
        Some(rest::post)
    }

    fn key_directory(&self, egress: Arc<Egress>) -> Option<Arc<dyn KeyDirectory>> {
        Some(discovery::key_directory(egress))
    }
}
