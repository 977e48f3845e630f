//! The bytes that are hashed and signed.

use forecourt_core::AgentId;
use serde_json::{Map, Value};

use super::{GenesisFault, NOT_HASHED};

/// The canonical form (RFC 8785) of a document without what can't be part of it.
pub(super) fn plain(document: &Map<String, Value>) -> Result<String, GenesisFault> {
    let hashed = document.iter().filter(|(name, _)| !NOT_HASHED.contains(&name.as_str()));
    let hashed: Map<String, Value> = hashed.map(|(name, value)| (name.clone(), value.clone())).collect();
    forecourt_core::json::canonical_text(&hashed).map_err(GenesisFault::Malformed)
}

/// The same with everything that is not ASCII as `\uXXXX`.
pub(super) fn escaped(plain: &str) -> String {
    let mut escaped = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => {
                let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
                escaped.push_str(&units);
            }
        }
    }
    escaped
}

/// The name of what has these bytes.
pub(super) fn hash(bytes: &[u8]) -> AgentId {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    let mut hash = [0; 32];
    hash.copy_from_slice(digest.as_ref());
    AgentId::of_hash(&hash)
}
