//! The second place for the heads of chains in a store: told of each within a minute, as far as it takes them.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::background::repeat;
use crate::checkpoint::SharedHead;
use crate::copies::{COPY_EVERY, HeadCopy, told};
use crate::digest::to_hex;
use crate::limits::{CHAIN_READ_MAX, HEADS_MAX};
use crate::shared_log::{SharedLog, StoredHead};

impl SharedLog {
    /// Has heads of chains copied to a second place as well, or to none any more.
    pub fn copy_heads(&self, copy: Option<Arc<dyn HeadCopy>>) {
        *self.copied.copy.write() = copy;
    }

    /// Has the second place told of the heads that it did not take yet. `false`: there are some that it did not now.
    pub(crate) fn copy_now(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let _turn = self.copied.turn.lock().await;
            let untold: Vec<_> = self.copied.untold.lock().clone().into_iter().collect();
            let Some(copy) = self.copied.copy.read().clone() else {
                self.copied.untold.lock().clear();
                return true;
            };
            for some in untold.chunks(CHAIN_READ_MAX) {
                let Some(heads) = self.statements(some).await else { return false };
                if !told(&*copy, heads).await {
                    return false;
                }
                let mut untold = self.copied.untold.lock();
                for (stream, head) in some {
                    // Unless the chain went on meanwhile.
                    if untold.get(stream).is_some_and(|last| last.number == head.number) {
                        untold.remove(stream);
                    }
                }
            }
            self.copied.untold.lock().is_empty()
        })
    }

    /// Heads as they are signed; `None`: nobody could verify them.
    async fn statements(&self, heads: &[(String, StoredHead)]) -> Option<Vec<String>> {
        let signer = self.statement_signer();
        if let Err(error) = self.publish(&signer).await {
            tracing::warn!(%error, "where chains of records are was not copied to the second place");
            return None;
        }
        let signed = |(stream, head): &(String, StoredHead)| {
            let head = SharedHead {
                stream: stream.clone(),
                number: head.number,
                audit_id: to_hex(&head.audit_id),
                issued_at: self.now(),
                expires_at: head.until,
            };
            // A struct of numbers and texts is always written.
            signer.compact(&serde_json::to_vec(&head).unwrap_or_default())
        };
        Some(heads.iter().map(signed).collect())
    }

    /// Remembers a head for the second place, which is told of all at once after a while.
    pub(crate) fn tell_soon(self: &Arc<Self>, stream: &str, head: StoredHead) {
        if self.copied.copy.read().is_none() {
            return;
        }
        let is_first = {
            let mut untold = self.copied.untold.lock();
            let is_first = untold.is_empty();
            let is_behind = match untold.get(stream) {
                // Records of callers that are not known may come to be told in another order.
                Some(last) => last.number > head.number,
                // Over the bound its next record is told: a later head of a chain says all that an earlier one did.
                None => untold.len() >= HEADS_MAX,
            };
            if !is_behind {
                untold.insert(stream.to_owned(), head);
            }
            is_first
        };
        if is_first {
            repeat(self, COPY_EVERY, COPY_EVERY, |log| Box::pin(async move { log.copy_now().await }));
        }
    }
}
