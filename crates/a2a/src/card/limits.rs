//! Bounds of cards, ours and others'.

use std::time::Duration;

/// How long others may keep a card: much less than a replaced key stays good.
pub const CARD_FRESH: Duration = Duration::from_secs(5 * 60);
/// Bytes of all rendered cards that are kept.
pub const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Agents that the hub's description names; the rest is a number.
pub const HANDLES_NAMED_MAX: usize = 20;
/// Fields of an input that the example of a skill shows.
pub(crate) const EXAMPLE_FIELDS_MAX: usize = 20;
/// Skills of all agents that the extended card of a hub lists.
pub const SKILLS_LISTED_MAX: usize = 1_000;
/// Token issuers that the description of a security scheme names.
pub(crate) const ISSUERS_NAMED_MAX: usize = 5;
/// Problems that are reported of one card.
pub const PROBLEMS_MAX: usize = 100;
/// Signatures of a card that are tried.
pub const SIGNATURES_MAX: usize = 8;
/// Interfaces that are read of a card.
pub const INTERFACES_READ_MAX: usize = 32;
/// Skills, extensions and security schemes that are read of a card, each.
pub(crate) const ENTRIES_READ_MAX: usize = 1_000;
/// Agents that are read of a hub's card.
pub const AGENTS_READ_MAX: usize = 10_000;
