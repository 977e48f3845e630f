//! Telegram: agents are written to directly, and mentioned in groups. How refusals look there and how a person goes on
//! after one is in `docs/design/telegram-policy.md`. PolicyPart 4.6, 5.3, 5.4.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | a file of `connectors/` |
//! | `update.rs`, `text.rs` | an event, and the text of a message |
//! | `api.rs` | the methods of the Bot API that are called |
//! | `telegram.rs` | the platform, put together |
//! | `marks.rs` | Markdown as the HTML that Telegram takes |
//! | `steps.rs` | what an operator does |

mod api;
pub mod limits;
mod marks;
mod settings;
mod steps;
mod telegram;
mod text;
mod update;

use std::sync::Arc;

use forecourt_connectors::{ConnectorSettings, ConnectorWire};
use forecourt_core::Handle;
use forecourt_egress::Egress;
use forecourt_settings::{Problems, Section, schema_of_both};
use forecourt_surface::connector::ConnectorKind;
use forecourt_surface::{Protocol, Wire};
use futures::future::BoxFuture;

pub use settings::TelegramSettings;
use telegram::Telegram;

/// `kind` of its files, its messages, its deliveries in metrics.
pub(crate) const KIND: &str = "telegram";

/// Telegram, as the registry knows it.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    protocol: Protocol {
        name: KIND,
        about: "Agents in Telegram: written to directly, mentioned in groups, answered there",
        schema: schema_of_both::<TelegramSettings, ConnectorSettings>,
        sockets: &[],
        moved: &[],
        ask: None,
        open,
        spelling: |_| None,
    },
    schema: schema_of_both::<TelegramSettings, ConnectorSettings>,
    try_credentials,
    steps,
};

// Functions of this crate and no closures: the wire of this platform is compiled here, and not with the registry.

fn open(section: Section) -> Result<Box<dyn Wire>, Problems> {
    ConnectorWire::<Telegram>::open(&section)
}

fn try_credentials(section: Section, egress: Arc<Egress>) -> BoxFuture<'static, Result<String, String>> {
    ConnectorWire::<Telegram>::try_credentials(section, egress)
}

fn steps(name: &Handle, base: &str) -> String {
    ConnectorWire::<Telegram>::steps(name, base)
}
