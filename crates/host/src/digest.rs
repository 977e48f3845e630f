//! SHA-256 in the form in which things are named by it.

use aws_lc_rs::digest::{SHA256, digest};

/// SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
