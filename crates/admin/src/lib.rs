//! The operator's house: what goes on in a deployment, and what may be done about it, on the operator's own listener.
//!
//! One set of values and actions has three faces: JSON at `/api/v1`, pages at `/console`, and `forecourt admin`, which
//! speaks the first. A noun of the house is one file of [`nouns`]: what it looks like, how it is read, what is done to
//! it. What a face needs beside that is derived.
//!
//! | file | holds |
//! |---|---|
//! | `house.rs` | what is asked of the program around: the house as it stands |
//! | `desk.rs` | what every request is answered with |
//! | `editor.rs` | the files of a deployment, changed: what is asked of the program around |
//! | `access.rs`, `role.rs` | who asks, what they may do, and what is refused before anything is read |
//! | `entrance.rs`, `provider/` | what opens all this: a token, a provider whose people have roles |
//! | `login/` | to that provider and back |
//! | `sessions.rs`, `cookie.rs`, `secret.rs`, `attempts.rs` | who is logged in, and how a browser says so |
//! | `address.rs` | where browsers find the console |
//! | `nouns/` | the values, their reading and the actions, a noun each |
//! | `report.rs` | how each node does, and what is firing there |
//! | `account.rs` | what operators did, written down |
//! | `routes.rs` | every call of the API, in one table |
//! | `api.rs`, `openapi.rs` | the table as JSON over HTTP, and as a document |
//! | `live.rs` | changes as they happen |
//! | `crawlers.rs` | which crawlers came, counted |
//! | `playground.rs`, `form.rs` | agents and endpoints, tried out |
//! | `console/` | the pages |
//! | `limits.rs` | every bound, with its unit |

mod access;
pub mod account;
mod address;
mod api;
mod api_error;
mod attempts;
mod console;
mod cookie;
pub mod crawlers;
mod desk;
pub mod editor;
mod entrance;
mod form;
mod house;
pub mod limits;
mod live;
mod login;
mod masked;
pub mod nouns;
mod openapi;
pub mod playground;
mod provider;
pub mod report;
mod role;
mod routes;
mod secret;
mod sessions;
pub mod verified;

use std::sync::Arc;

use axum::Router;

pub use address::ConsoleUrl;
pub use desk::Desk;
pub use entrance::{Entrance, EntranceSettings};
pub use house::{
    CertificateInUse, DaemonControl, OperatedHouse, PlaygroundTools, ReadSettings, ReloadAnswer, SettingsFile,
    TelemetryState,
};
pub use nouns::checks::{LAST_BACKUP_FILE, LastBackup};
pub use openapi::document;
pub use provider::{LoginSettings, OidcLoginSettings};
pub use role::Role;

/// The paths that these routes are at, for metrics and the log.
pub const PATHS: [&str; 3] = ["/console", "/console/{*path}", "/api/v1/{*path}"];

/// The API and the console. Both know who asks by themselves, and nothing of either opens for anybody whom the desk's
/// entrance does not let in.
pub fn router(desk: &Arc<Desk>) -> Router {
    api::router(desk.clone()).merge(console::router(desk.clone()))
}
