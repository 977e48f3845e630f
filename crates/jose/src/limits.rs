//! Bounds of tokens and of sets of keys.

/// Bytes of a compact JWS or a bearer token.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Keys in one set.
pub const KEYS_MAX: usize = 64;
/// Keys that are tried when a proof does not name one.
pub const KEYS_TRIED_MAX: usize = 4;
