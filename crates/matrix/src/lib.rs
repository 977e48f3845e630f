//! Matrix: agents are written to directly and mentioned in rooms, by an application service of a homeserver. How
//! refusals look there and how a person goes on after one is in `docs/design/matrix-policy.md`. Matrix 1.13,
//! Application Service API and Client-Server API; PolicyPart 4.6, 5.3, 5.4.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs`, `ids.rs` | a file of `connectors/`, and the ids of Matrix |
//! | `transaction.rs` | what the homeserver asks, and whether it is that homeserver |
//! | `event.rs`, `text.rs` | an event of a room, and the text of a message |
//! | `resolve.rs` | what an event asks for, once the homeserver said what is not in it |
//! | `api.rs`, `error.rs` | the Client-Server API, as the user that the bot is |
//! | `rooms.rs` | which rooms are direct, and the one of a person |
//! | `platform.rs` | the platform, put together |
//! | `content.rs`, `html.rs`, `marks.rs` | what is sent: Markdown as the HTML that Matrix takes, and as plain text |
//! | `credentials.rs`, `steps.rs` | whether the tokens are good, and what an operator does |

mod api;
mod content;
mod credentials;
mod error;
mod event;
mod html;
mod ids;
pub mod limits;
mod marks;
mod platform;
mod resolve;
mod rooms;
mod settings;
mod steps;
mod text;
mod transaction;

use std::sync::Arc;

use forecourt_connectors::{ConnectorSettings, ConnectorWire};
use forecourt_core::Handle;
use forecourt_egress::Egress;
use forecourt_settings::{Problems, Section, schema_of_both};
use forecourt_surface::connector::ConnectorKind;
use forecourt_surface::{Protocol, Wire};
use futures::future::BoxFuture;

use platform::Matrix;
pub use settings::MatrixSettings;

/// `kind` of its files, its messages, its deliveries in metrics.
pub(crate) const KIND: &str = "matrix";

/// Matrix, as the registry knows it.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    protocol: Protocol {
        name: KIND,
        about: "Agents in Matrix: written to directly, mentioned in rooms, answered in the thread",
        schema: schema_of_both::<MatrixSettings, ConnectorSettings>,
        sockets: &[],
        moved: &[],
        ask: None,
        open,
        spelling: |_| None,
    },
    schema: schema_of_both::<MatrixSettings, ConnectorSettings>,
    try_credentials,
    steps,
};

// Functions of this crate and no closures: the wire of this platform is compiled here, and not with the registry.

fn open(section: Section) -> Result<Box<dyn Wire>, Problems> {
    ConnectorWire::<Matrix>::open(&section)
}

fn try_credentials(section: Section, egress: Arc<Egress>) -> BoxFuture<'static, Result<String, String>> {
    ConnectorWire::<Matrix>::try_credentials(section, egress)
}

fn steps(name: &Handle, base: &str) -> String {
    ConnectorWire::<Matrix>::steps(name, base)
}
