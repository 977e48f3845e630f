//! This module asks hosts over HTTP: Mentionable REST and its discovery, hubs of A2A, NLWeb and MCP.

mod peer;

use crate::check::Check;

pub use peer::{Asked, Peer};

/// Every check, protocol by protocol.
pub const CHECKS: &[&[Check<Peer>]] = &[];
