//! This module reads earlier turns and parts from callers, and strips everything from them that would need a proof.

use serde_json::Value;

use super::{OWN_FIELDS, Turn};
use crate::part::{File, FileSource, Part};

/// Fields of a sender that would need a proof, taken out before anything reads them.
const PROOFS: [&str; 4] = ["identities", "auth_method", "key_id", "verified"];

impl Turn {
    /// Reads an earlier turn that a caller sent, whatever protocol carried it. Identities, authority and fields of our
    /// own storage are removed. `None` when it is no turn. Mentionable REST 3.2.2.
    pub fn from_caller(mut value: Value) -> Option<Self> {
        if let Some(fields) = value.as_object_mut() {
            // A forged `question` would have the caller's text read as the answer to it; a forged annotation could be a
            // receipt.
            fields.retain(|key, _| !OWN_FIELDS.contains(&key.as_str()));
        }
        if let Some(sender) = value.get_mut("sender").and_then(Value::as_object_mut) {
            // Before it is read, so that forged proofs of a wrong shape do not cost the caller its turn.
            sender.retain(|key, _| !PROOFS.contains(&key.as_str()));
        }
        let mut turn: Self = serde_json::from_value(value).ok()?;
        turn.sender = turn.sender.stripped_of_proof();
        turn.parts.retain(Part::may_be_callers);
        Some(turn)
    }
}

impl Part {
    /// Whether a caller may send this part. Only the host makes refusals and refers to files that it keeps: a caller's
    /// could name the file of another task.
    pub fn may_be_callers(&self) -> bool {
        !matches!(self, Self::Policy(_) | Self::File(File { source: FileSource::Kept, .. }))
    }
}
