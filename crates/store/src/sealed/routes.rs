//! This module seals which agent a conversation is with.

use forecourt_core::{Handle, StoreError};

use crate::seal::{Hash, Label, Seal};

fn label(thread: &Hash) -> Label<'_> {
    Label { kind: "route", of: thread, part: b"" }
}

pub(crate) fn seal(seal: &Seal, thread: &Hash, agent: &Handle) -> Result<Vec<u8>, StoreError> {
    seal.seal(label(thread), agent)
}

pub(crate) fn open(seal: &Seal, thread: &Hash, sealed: Vec<u8>) -> Result<Handle, StoreError> {
    seal.open(label(thread), sealed)
}
