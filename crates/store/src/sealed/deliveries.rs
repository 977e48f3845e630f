//! This module opens waiting deliveries.

use forecourt_core::StoreError;
use forecourt_core::store::Delivery;

use super::tasks::SealedTask;
use super::webhooks;
use crate::seal::Seal;

/// A delivery as it was read, still sealed.
pub(crate) struct SealedDelivery {
    pub(crate) id: i64,
    pub(crate) attempts: u32,
    pub(crate) webhook: Vec<u8>,
    /// None for a notice.
    pub(crate) task: Option<SealedTask>,
}

impl SealedDelivery {
    pub(crate) fn open(self, seal: &Seal) -> Result<Delivery, StoreError> {
        let webhook = match &self.task {
            Some(task) => webhooks::open(seal, task.hash(), self.webhook)?,
            None => webhooks::open_notice(seal, self.webhook)?,
        };
        let task = self.task.map(|task| task.open(seal)).transpose()?;
        Ok(Delivery { id: self.id.unsigned_abs(), webhook, task, attempts: self.attempts })
    }
}
