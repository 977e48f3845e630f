//! This module seals the entries of streams.

use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_core::store::LedgerEntry;
use forecourt_core::{Account, StoreError, Timestamp};

use super::Holder;
use crate::seal::{Hash, Label, Seal};
use crate::time::moment;

/// An entry before it is written. It is sealed for its stream alone: which number it gets is known
/// only as it is written, and the number of a row can't be changed by a copy of the file.
pub(crate) struct NewEntry {
    pub(crate) stream: Hash,
    pub(crate) at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) body: Vec<u8>,
    pub(crate) holder: Holder,
}

fn label(stream: &Hash) -> Label<'_> {
    Label { kind: "entry", of: stream, part: b"" }
}

impl NewEntry {
    /// Seals it. Fails when it is too large.
    pub(crate) fn new(seal: &Seal, stream: Hash, entry: &LedgerEntry) -> Result<Self, StoreError> {
        let body = seal.seal(label(&stream), &entry.body)?;
        if entry.body.to_string().len() > ENTRY_BYTES_MAX {
            return Err(StoreError::Unavailable(format!("an entry has at most {ENTRY_BYTES_MAX} bytes")));
        }
        Ok(Self { stream, at: entry.at, expires_at: entry.expires_at, body, holder: Holder::new(seal, &entry.account) })
    }
}

/// Opens an entry of a stream. Whose bytes it has is not read back.
pub(crate) fn open(
    seal: &Seal,
    stream: &Hash,
    at: i64,
    expires_at: Option<i64>,
    sealed: Vec<u8>,
) -> Result<LedgerEntry, StoreError> {
    let body = seal.open(label(stream), sealed)?;
    Ok(LedgerEntry { body, at: moment(at), expires_at: expires_at.map(moment), account: Account::HOST })
}
