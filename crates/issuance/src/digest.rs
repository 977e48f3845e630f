//! SHA-256 in the form in which things are named by it.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::{Error, json};
use serde::Serialize;

/// SHA-256 of `bytes` in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 over the canonical form of RFC 8785, in lower-case hex. Fails on numbers that have none.
pub(crate) fn canonical_hash(value: &impl Serialize) -> Result<String, Error> {
    Ok(sha256_hex(&json::canonical(value).map_err(Error::internal)?))
}
