//! This module seals the turns of conversations.

use forecourt_core::store::ConversationAppend;
use forecourt_core::{Handle, StoreError, Timestamp, Turn};

use super::Holder;
use crate::seal::{Hash, Label, Seal};
use crate::slim;

/// A conversation is one between a caller and one agent.
pub(crate) struct ThreadName {
    pub(crate) hash: Hash,
    pub(crate) agent: Handle,
}

impl ThreadName {
    fn label(&self) -> Label<'_> {
        Label { kind: "turn", of: &self.hash, part: self.agent.as_str().as_bytes() }
    }

    /// Opens a turn of it.
    pub(crate) fn open(&self, seal: &Seal, sealed: Vec<u8>) -> Result<Turn, StoreError> {
        seal.open(self.label(), sealed)
    }

    pub(crate) fn seal(&self, seal: &Seal, addition: ConversationAppend) -> Result<SealedAddition, StoreError> {
        let ConversationAppend { owner, account, turns, keep, expires_at } = addition;
        // Not compressed: the database keeps turns by their lengths (`THREAD_BYTES_MAX`), which must be those of the
        // JSON.
        let turn = |turn| seal.seal_plain(self.label(), &slim::with_parts(turn)?);
        let turns = turns.iter().map(turn).collect::<Result<_, _>>()?;
        Ok(SealedAddition { owner, holder: Holder::new(seal, &account), turns, keep, expires_at })
    }
}

/// An [`ConversationAppend`], ready to be written.
pub(crate) struct SealedAddition {
    pub(crate) owner: Option<String>,
    pub(crate) holder: Holder,
    pub(crate) turns: Vec<Vec<u8>>,
    pub(crate) keep: usize,
    pub(crate) expires_at: Timestamp,
}
