//! This module asks hosts over HTTP: Mentionable REST and its discovery, hubs of A2A, NLWeb and MCP.

mod a2a;
mod discovery;
mod exchange;
mod hub;
mod mcp;
mod nlweb;
mod raw;
mod rest;
mod sse;
mod target;

use crate::suite::Suite;

pub use target::{HostQuery, WebTarget};

/// Every protocol that is looked for, in this order.
pub const SUITES: &[Suite<WebTarget>] = &[
    Suite::of::<discovery::Discovery>(),
    Suite::of::<rest::Rest>(),
    Suite::of::<hub::Hub>(),
    Suite::of::<a2a::A2aCard>(),
    Suite::of::<a2a::Rpc<a2a::V1_0>>(),
    Suite::of::<a2a::RestBinding>(),
    Suite::of::<a2a::Rpc<a2a::V0_3>>(),
    Suite::of::<nlweb::NlWeb>(),
    Suite::of::<mcp::SessionServer>(),
    Suite::of::<mcp::StatelessServer>(),
];
