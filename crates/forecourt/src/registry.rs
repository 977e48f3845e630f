//! The only file that names every protocol and every backend. A new one is a crate or a
//! module, and one line here.

use forecourt_agents::Backend;
use forecourt_surface::{HttpRoutes, Mount, Protocol};

/// The protocols, in the order in which they are shown.
pub const PROTOCOLS: &[Protocol] = &[
    forecourt_mentionable::PROTOCOL,
    forecourt_a2a::PROTOCOL,
    forecourt_nlweb::PROTOCOL,
    forecourt_mcp::PROTOCOL,
    forecourt_agtp::PROTOCOL,
    forecourt_email::PROTOCOL,
];

/// What mounts pages of the host.
type MountPages = fn(&Mount) -> HttpRoutes;

/// Pages of the host itself, which belong to no protocol: what they are called in metrics, and what mounts them.
pub const PAGES: &[(&str, MountPages)] = &[
    (forecourt_signin::NAME, forecourt_signin::routes),
    (crate::wellknown::NAME, crate::wellknown::routes),
    (crate::manual::NAME, crate::manual_routes::routes),
];

/// Where people sign in, and the settings of pages.
pub use forecourt_pages::{PagesSettings, sign_in_path};

/// The backends, in the order in which they are documented. Where a new one goes, the crate `backends` says.
pub const BACKENDS: &[Backend] = &[
    forecourt_backends::search::BACKEND,
    forecourt_backends::model::BACKEND,
    forecourt_backends::http::BACKEND,
    forecourt_backends::command::BACKEND,
    forecourt_backends::script::BACKEND,
    forecourt_backends::echo::BACKEND,
    forecourt_a2a::BACKEND,
    forecourt_mcp::BACKEND,
];

/// How agents are found, here and elsewhere: what `ask` and `discover` go by.
pub use forecourt_mentionable::discovery;

/// How `ask --via nlweb` reads what it is told.
pub use forecourt_nlweb::client as nlweb;

/// How `ask --via a2a` talks to agents.
pub use forecourt_a2a::{client as a2a, model as a2a_model};

/// How `mcp` reaches a server elsewhere.
pub use forecourt_mcp::bridge::bridge;

/// How `ask --via mcp` calls tools, and who answers their questions.
pub mod mcp {
    pub use forecourt_mcp::form::{AnswerKind, Choice, Field, Form};
    pub use forecourt_mcp::visit::{CallReply, Person, ServerLocation, Trouble, Visit};
}
