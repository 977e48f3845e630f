//! This module seals webhooks and notices.

use forecourt_core::store::{Notification, Webhook};
use forecourt_core::{StoreError, Timestamp};

use super::{Holder, cost_of};
use crate::seal::{Hash, Label, Seal, hash};

fn label(task: &Hash) -> Label<'_> {
    Label { kind: "webhook", of: task, part: b"" }
}

/// A webhook as a row, ready to be written.
pub(crate) struct NewWebhook {
    pub(crate) hash: Hash,
    pub(crate) body: Vec<u8>,
}

impl NewWebhook {
    pub(crate) fn new(seal: &Seal, task: &Hash, webhook: &Webhook) -> Result<Self, StoreError> {
        Ok(Self { hash: hash(&webhook.id), body: seal.seal(label(task), webhook)? })
    }

    pub(crate) fn all(seal: &Seal, task: &Hash, webhooks: &[Webhook]) -> Result<Vec<Self>, StoreError> {
        webhooks.iter().map(|webhook| Self::new(seal, task, webhook)).collect()
    }
}

/// The bytes that are charged for webhooks together.
pub(crate) fn cost_of_all(webhooks: &[NewWebhook]) -> u64 {
    cost_of(webhooks.iter().map(|webhook| &webhook.body))
}

/// The label that a notice is sealed under: it belongs to no task.
fn notice_label(nothing: &Hash) -> Label<'_> {
    Label { kind: "notice", of: nothing, part: b"" }
}

/// A notice as a row, ready to be written.
pub(crate) struct NewNotice {
    pub(crate) body: Vec<u8>,
    pub(crate) holder: Holder,
    pub(crate) due_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

impl NewNotice {
    pub(crate) fn new(seal: &Seal, notice: &Notification) -> Result<Self, StoreError> {
        let body = seal.seal(notice_label(&hash("")), &notice.webhook)?;
        let holder = Holder::new(seal, &notice.account);
        Ok(Self { body, holder, due_at: notice.due_at, expires_at: notice.expires_at })
    }
}

/// Opens what is sealed of whom a notice tells.
pub(crate) fn open_notice(seal: &Seal, sealed: Vec<u8>) -> Result<Webhook, StoreError> {
    seal.open(notice_label(&hash("")), sealed)
}

/// Opens a webhook of a task.
pub(crate) fn open(seal: &Seal, task: &Hash, sealed: Vec<u8>) -> Result<Webhook, StoreError> {
    seal.open(label(task), sealed)
}
