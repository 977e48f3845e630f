//! `Mentionable-Identity-Evidence`: base64url of a JSON array. Malformed and surplus entries are
//! dropped one by one; none of it ever fails a request. REST 7.3.

use forecourt_core::json;
use forecourt_jose::encoding::from_base64url_lenient;
use http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::limits::{EVIDENCE_BYTES_MAX, EVIDENCE_ENTRIES_MAX, EVIDENCE_ENTRY_BYTES_MAX};

/// The field and its legacy names, in the order in which they are looked at.
pub const HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("mentionable-identity-evidence"),
    HeaderName::from_static("mentionable-identity"),
    HeaderName::from_static("x-mentionable-identity"),
];

/// Entries that were read and not yet verified.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnverifiedEvidence {
    /// Objects of at most [`EVIDENCE_ENTRY_BYTES_MAX`], at most [`EVIDENCE_ENTRIES_MAX`] of them.
    pub entries: Vec<Value>,
    /// How many were dropped, counting a field that can't be read at all as one.
    pub dropped: usize,
}

/// Reads the evidence of a request from the first of [`HEADERS`] that is there.
pub fn decode(headers: &HeaderMap) -> UnverifiedEvidence {
    let Some(name) = HEADERS.into_iter().find(|name| headers.contains_key(name)) else {
        return UnverifiedEvidence::default();
    };
    let mut carried = UnverifiedEvidence::default();
    for value in headers.get_all(&name) {
        match value.to_str().ok().and_then(entries_of) {
            Some(entries) => carried.take(entries),
            None => carried.dropped += 1,
        }
    }
    carried
}

impl UnverifiedEvidence {
    /// Takes entries from another carrier, such as the metadata of a message, within the bounds.
    pub fn take(&mut self, entries: Vec<Value>) {
        for entry in entries {
            let fits = |entry: &Value| entry.is_object() && entry.to_string().len() <= EVIDENCE_ENTRY_BYTES_MAX;
            match self.entries.len() < EVIDENCE_ENTRIES_MAX && fits(&entry) {
                true => self.entries.push(entry),
                false => self.dropped += 1,
            }
        }
    }
}

/// The array in one field. `None` when it is none, or has more than [`EVIDENCE_BYTES_MAX`].
fn entries_of(text: &str) -> Option<Vec<Value>> {
    // Before decoding, by the length of its base64.
    if text.len() > EVIDENCE_BYTES_MAX.div_ceil(3) * 4 {
        return None;
    }
    let bytes = from_base64url_lenient(text.trim())?;
    match json::parse(&bytes).ok()? {
        Value::Array(entries) if bytes.len() <= EVIDENCE_BYTES_MAX => Some(entries),
        _ => None,
    }
}
