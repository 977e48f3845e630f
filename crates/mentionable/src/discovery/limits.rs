//! Bounds of looking agents up, and how long our own documents may be kept.

use std::time::Duration;

/// How long one document may take, from the lookup of its name to its last byte.
pub const DOCUMENT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long what was found is kept at least, whatever its server says; also what could not be
/// found, so that nobody can make us ask again and again.
pub const KEPT_MIN: Duration = Duration::from_secs(60);
/// How long what was found is kept at most.
pub const KEPT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of all cards that are kept.
pub const KEPT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of a local part elsewhere. RFC 5321 4.5.3.1.1.
pub const LOCAL_BYTES_MAX: usize = 64;
/// Agents that are read of one directory.
pub const LISTED_MAX: usize = 1_000;
/// Problems that are reported of one card.
pub const CARD_PROBLEMS_MAX: usize = 100;
/// How long others may keep what WebFinger and the directory say: they change with the configuration.
pub const LOOKUP_FRESH: Duration = Duration::from_secs(60 * 60);
/// How long others may keep cards and key sets: much less than a replaced key stays good.
pub const KEYS_FRESH: Duration = Duration::from_secs(5 * 60);
