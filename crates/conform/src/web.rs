//! This module asks hosts over HTTP: Mentionable REST and its discovery, hubs of A2A, NLWeb and MCP.

mod discovery;
mod hub;
mod items;
mod peer;
mod raw;
mod rest;
mod rest_answers;
mod sse;
mod tools;

use crate::check::Check;

pub use peer::{HostQuery, Peer};

/// Every check, protocol by protocol.
pub const CHECKS: &[&[Check<Peer>]] =
    &[discovery::CHECKS, rest::CHECKS, rest_answers::CHECKS, hub::CHECKS, items::CHECKS, tools::CHECKS];
