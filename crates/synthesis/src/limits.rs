//! Every bound of contracts that are made while serving, with its unit. What an operator would change is a key of
//! [`crate::settings`].

use std::time::Duration;

/// How long an ended contract is remembered, so that whoever presents it learns that it has ended.
pub const TOMBSTONE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of a contract as it is stored: its endpoint, its plan and its terms.
pub const CONTRACT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a proposal, more or less as JSON: two schemas as large as schemas may be, and what is said of them.
pub const PROPOSAL_BYTES_MAX: usize = 192 * 1024;
/// Characters of a sentence of a proposal: its description, and each text of its semantic block.
pub const SENTENCE_CHARS_MAX: usize = 2_000;
/// Endpoints that are named in place of one that can't be made.
pub const COUNTER_PROPOSALS_MAX: usize = 3;
/// Endpoints that are looked at for those, in the order of their paths.
pub const COUNTER_LOOKED_AT_MAX: usize = 10_000;
/// References and combinations of a schema that are followed for one question about it. What lies deeper is not
/// known.
pub const FOLLOWED_MAX: usize = 24;
/// Pairs of schemas that are compared to learn whether one value fits another place.
pub const FIT_CHECKS_MAX: u32 = 2_000;
/// Schemas that one field of a described endpoint is copied from. What lies beyond is let through.
pub const COPIED_SCHEMAS_MAX: usize = 200;
/// Steps of a plan that is put together from schemas alone.
pub const SEARCH_STEPS_MAX: usize = 4;
/// Registered endpoints that a plan from schemas is searched among: those that lead to what is wanted.
pub const SEARCH_ENDPOINTS_MAX: usize = 128;
/// Beginnings of plans that are looked at in one search.
pub const SEARCH_NODES_MAX: usize = 5_000;
