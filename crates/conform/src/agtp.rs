//! This module asks servers of AGTP: draft-hood-agtp-api-01, and the base protocol where ids begin with `agtp-base`.

mod discover;
mod draft;
mod endpoints;
mod framing;
mod input;
mod inventory;
mod manifest;
mod message;
mod methods;
mod negotiation;
mod paths;
mod peer;
mod propose;
mod records;

use crate::check::Check;

pub use message::{ReadError, Response, read};
pub use peer::{Caller, Line, Peer};

/// Every check, in the order of the sections.
pub const CHECKS: &[&[Check<Peer>]] = &[
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
