//! Bounds of tokens and of sets of keys.

use std::time::Duration;

/// Bytes of a compact JWS or a bearer token.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Keys in one set.
pub const KEYS_MAX: usize = 64;
/// Keys that are tried when a proof does not name one.
pub const KEYS_TRIED_MAX: usize = 4;
/// How long keys that were fetched are current.
pub const KEYS_FRESH: Duration = Duration::from_secs(600);
/// How long they serve while they can't be fetched again.
pub const KEYS_USABLE: Duration = KEYS_FRESH.saturating_mul(6);
/// How long to wait before they are fetched again for a key that is not known, or after a failure.
pub const KEYS_RETRY: Duration = Duration::from_secs(60);
