//! Discord: agents are asked with `/ask`, mentioned in channels and written to directly. How refusals look there and how
//! a person goes on after one is in `docs/design/discord-policy.md`. PolicyPart 4.6, 5.3, 5.4.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | a file of `connectors/` |
//! | `signature.rs`, `interaction.rs` | what Discord posts here: whether it is Discord's, and `/ask` |
//! | `gateway.rs` and below | messages, told over a connection that is opened from here |
//! | `message.rs`, `text.rs` | a message as Discord tells of it, and its text |
//! | `places.rs` | what is asked about channels and roles, once |
//! | `api.rs`, `buckets.rs` | the methods that are called, as often as they may be |
//! | `discord.rs`, `sending.rs` | the platform, put together, and what it sends |
//! | `command.rs` | `/ask`, as it is registered |
//! | `marks.rs` | Markdown as Discord's |
//! | `steps.rs` | what an operator does |

mod api;
mod buckets;
mod command;
mod discord;
mod gateway;
mod ids;
mod interaction;
pub mod limits;
mod marks;
mod message;
mod places;
mod sending;
mod settings;
mod signature;
mod steps;
mod text;

use std::sync::Arc;

use forecourt_connectors::{ConnectorSettings, ConnectorWire};
use forecourt_core::Handle;
use forecourt_egress::Egress;
use forecourt_settings::{Problems, Section, schema_of_both};
use forecourt_surface::connector::ConnectorKind;
use forecourt_surface::{Protocol, Wire};
use futures::future::BoxFuture;

use discord::Discord;
pub use settings::DiscordSettings;

/// `kind` of its files, its messages, its deliveries in metrics.
pub(crate) const KIND: &str = "discord";

/// Discord, as the registry knows it.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    protocol: Protocol {
        name: KIND,
        about: "Agents in Discord: asked with a command, mentioned in channels, written to directly",
        schema: schema_of_both::<DiscordSettings, ConnectorSettings>,
        sockets: &[],
        moved: &[],
        ask: None,
        open,
        spelling: |_| None,
    },
    schema: schema_of_both::<DiscordSettings, ConnectorSettings>,
    try_credentials,
    steps,
};

// Functions of this crate and no closures: the wire of this platform is compiled here, and not with the registry.

fn open(section: Section) -> Result<Box<dyn Wire>, Problems> {
    ConnectorWire::<Discord>::open(&section)
}

fn try_credentials(section: Section, egress: Arc<Egress>) -> BoxFuture<'static, Result<String, String>> {
    ConnectorWire::<Discord>::try_credentials(section, egress)
}

fn steps(name: &Handle, base: &str) -> String {
    ConnectorWire::<Discord>::steps(name, base)
}
