//! Slack: agents are mentioned in channels and written to directly. How refusals look there and how a person goes on
//! after one is in `docs/design/slack-policy.md`. PolicyPart 4.6, 5.3, 5.4.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | a file of `connectors/` |
//! | `signature.rs` | whether an event is Slack's |
//! | `event.rs`, `text.rs` | an event, and the text of a message |
//! | `api.rs` | the methods of the Web API that are called |
//! | `slack.rs` | the platform, put together |
//! | `marks.rs` | Markdown as mrkdwn |
//! | `steps.rs` | the manifest of the app, and what an operator does |

mod api;
mod event;
pub mod limits;
mod marks;
mod settings;
mod signature;
mod slack;
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

pub use settings::SlackSettings;
use slack::Slack;

/// `kind` of its files, its messages, its deliveries in metrics.
pub(crate) const KIND: &str = "slack";

/// Slack, as the registry knows it.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    protocol: Protocol {
        name: KIND,
        about: "Agents in Slack: mentioned in channels, written to directly, answered in the thread",
        schema: schema_of_both::<SlackSettings, ConnectorSettings>,
        sockets: &[],
        moved: &[],
        ask: None,
        open,
        spelling: |_| None,
    },
    schema: schema_of_both::<SlackSettings, ConnectorSettings>,
    try_credentials,
    steps,
};

// Functions of this crate and no closures: the wire of this platform is compiled here, and not with the registry.

fn open(section: Section) -> Result<Box<dyn Wire>, Problems> {
    ConnectorWire::<Slack>::open(&section)
}

fn try_credentials(section: Section, egress: Arc<Egress>) -> BoxFuture<'static, Result<String, String>> {
    ConnectorWire::<Slack>::try_credentials(section, egress)
}

fn steps(name: &Handle, base: &str) -> String {
    ConnectorWire::<Slack>::steps(name, base)
}
