//! Every bound of contracts that are made while serving, with its unit. What an operator would change is a key of
//! [`crate::settings`].

use std::time::Duration;

/// How long an ended contract is remembered, so that whoever presents it learns that it has ended.
pub const TOMBSTONE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of a contract as it is stored: its endpoint, its plan and its terms.
pub const CONTRACT_BYTES_MAX: usize = 256 * 1024;
