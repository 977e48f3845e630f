//! The only file that names every protocol and every backend. A new one is a crate or a
//! module, and one line here.

use forecourt_agents::Backend;
use forecourt_agents::hub::HubKind;
use forecourt_client::ClientCommand;
use forecourt_surface::connector::{ConnectorKind, NetworkKind};
use forecourt_surface::{HttpRoutes, Mount, Protocol};

/// The protocols, in the order in which they are shown.
pub const PROTOCOLS: &[Protocol] = &[
    forecourt_mentionable::PROTOCOL,
    forecourt_a2a::PROTOCOL,
    forecourt_nlweb::PROTOCOL,
    forecourt_mcp::PROTOCOL,
    forecourt_agtp::PROTOCOL,
    forecourt_email::PROTOCOL,
    forecourt_activitypub::PROTOCOL,
];

/// The commands of the command line that clients of protocols bring, in the order in which they are shown.
pub const CLIENT_COMMANDS: &[&[ClientCommand]] = &[forecourt_agtp_client::COMMANDS, forecourt_mcp::COMMANDS];

/// The platforms that agents are mentioned on, in the order in which they are shown.
pub const CONNECTORS: &[ConnectorKind] = &[
    forecourt_slack::CONNECTOR,
    forecourt_telegram::CONNECTOR,
    forecourt_discord::CONNECTOR,
    forecourt_matrix::CONNECTOR,
];

/// The networks in which agents are found without an account there.
pub const NETWORKS: &[NetworkKind] = &[forecourt_activitypub::NETWORK];

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

/// Hubs of agents elsewhere.
pub const HUBS: HubKind = forecourt_a2a::HUBS;

/// The protocol of the servers behind a deployment.
pub(crate) const SERVED_BY: &str = forecourt_mcp::PROTOCOL.name;

/// What their files may say.
pub use forecourt_mcp::SERVERS;

/// Their tools, as functions of endpoints.
pub(crate) use forecourt_mcp::{ServerFunctionError, ServerFunctions};

/// How agents are found, here and elsewhere: what `ask` and `discover` go by.
pub use forecourt_mentionable::discovery;

/// How a server elsewhere is asked for all it has, and what handlers of endpoints that call its tools are called.
pub use forecourt_mcp::{SERVER_FUNCTION_ERRORS, survey as server_survey};

/// How a client on standard input and output reaches a server elsewhere, and the path of the server on a host.
pub use forecourt_mcp::{PATH as BRIDGED_PATH, bridge::bridge};
