//! What a caller may say: parts and earlier turns from outside, without any proof in them.

use serde_json::Value;

use super::Turn;
use crate::part::{File, FileSource, Part};

/// Fields of a sender that would need a proof, taken out before anything reads them.
const PROOFS: [&str; 4] = ["identities", "auth_method", "key_id", "verified"];

impl Turn {
    /// Reads an earlier turn that a caller brought, in whatever carrier: nothing in it proves who
    /// spoke. `None` when it is no turn. Mentionable REST 3.2.2.
    pub fn from_caller(mut value: Value) -> Option<Self> {
        if let Some(sender) = value.get_mut("sender").and_then(Value::as_object_mut) {
            sender.retain(|key, _| !PROOFS.contains(&key.as_str()));
        }
        let mut turn: Self = serde_json::from_value(value).ok()?;
        turn.sender = turn.sender.stripped_of_proof();
        turn.parts.retain(Part::may_be_callers);
        turn.annotations.clear();
        Some(turn)
    }
}

impl Part {
    /// Whether a caller may say this. Refusals and kept files are the host's own.
    pub fn may_be_callers(&self) -> bool {
        !matches!(self, Self::Policy(_) | Self::File(File { source: FileSource::Kept, .. }))
    }
}
