//! This module asks servers of AGTP: draft-hood-agtp-api-01, and the base protocol where ids begin with `agtp-base`.

mod discover;
mod draft;
mod endpoints;
mod exchange;
mod framing;
mod input;
mod inventory;
mod line;
mod manifest;
mod message;
mod methods;
mod negotiation;
mod paths;
mod peer;
mod propose;
mod records;
mod target;

use crate::check::Check;
use crate::suite::Suite;

pub use line::Line;
pub use message::{ReadError, Response, read};
pub use peer::Peer;
pub use target::{AgtpTarget, Caller};

/// Every protocol of such a server.
pub const SUITES: &[Suite<AgtpTarget>] = &[Suite::of::<Peer>()];

/// Every check, in the order of the sections.
const CHECKS: &[&[Check<Peer>]] = &[
    framing::CHECKS,
    manifest::CHECKS,
    endpoints::CHECKS,
    methods::CHECKS,
    paths::CHECKS,
    discover::CHECKS,
    inventory::CHECKS,
    input::CHECKS,
    propose::CHECKS,
    negotiation::CHECKS,
    records::CHECKS,
];
