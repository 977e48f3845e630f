//! Tasks that their clients name: a message that is sent again is the task which it was before, since the id follows from
//! the name. That two of one name are never made is the store's key, so the claim and the task are one commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Entropy, Error, Store, StoreError, TaskId, Timestamp, ids};
use tokio::sync::OnceCell;

/// The stream whose one entry is the key of all nodes.
const STREAM: &str = "host:task-names";

/// By what a client calls a message that it may send again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskName {
    /// The caller with its own name for the message: no two callers share one.
    pub key: Arc<str>,
    /// What it says, which tells it from another message under the same name.
    pub said: Vec<u8>,
}

/// The ids of tasks that have names: keyed hashes, so that whoever knows a name can't foresee the id.
pub(crate) struct TaskNames {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// Read when the first name comes: most hosts need none.
    key: OnceCell<hmac::Key>,
    /// The last moment that was given, in nanoseconds.
    last: AtomicI64,
}

impl TaskNames {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy, key: OnceCell::new(), last: AtomicI64::new(i64::MIN) }
    }

    /// The id of the task of this name, on every node. Fails when the store does.
    pub(crate) async fn id(&self, name: &TaskName) -> Result<TaskId, Error> {
        let key = self.key.get_or_try_init(|| self.agree()).await?;
        let mut hash = hmac::Context::with_key(key);
        // With its length, since both parts may hold anything.
        hash.update(&(name.key.len() as u64).to_be_bytes());
        hash.update(name.key.as_bytes());
        hash.update(&name.said);
        let mut bytes = [0; forecourt_core::limits::TOKEN_BYTES];
        bytes.copy_from_slice(hash.sign().as_ref());
        Ok(TaskId::of(&bytes))
    }

    /// When a task with a name begins: now, and after every moment that was given before. The store takes a task of one
    /// run and moment for one call that is repeated, and two that come at once are two calls.
    pub(crate) fn moment(&self) -> Timestamp {
        let now = i64::try_from(self.clock.now().as_nanosecond()).unwrap_or(i64::MAX);
        let after = |last: i64| now.max(last.saturating_add(1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        Timestamp::from_nanosecond(last.map_or_else(after, after).into()).unwrap_or(Timestamp::MAX)
    }

    /// The key of all nodes: the first one writes it, all others read.
    async fn agree(&self) -> Result<hmac::Key, StoreError> {
        loop {
            let now = self.clock.now();
            if let Some((_, entry)) = self.store.entries(STREAM, Span::After(0), 1, now).await?.into_iter().next() {
                let token = entry.body.as_str().filter(|text| ids::is_token(text));
                let token = token.ok_or_else(|| StoreError::Corrupt(format!("the entry of {STREAM} is no key")))?;
                return Ok(hmac::Key::new(HMAC_SHA256, token.as_bytes()));
            }
            // Of two that write at once, one does, and both read it.
            let entry = LedgerEntry::new(ids::mint(&*self.entropy).into(), now);
            self.store.append_entry(STREAM, entry, Some(0)).await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::SystemClock;
    use forecourt_store::Memory;

    use super::*;
    use crate::SystemEntropy;

    fn names(store: &Arc<Memory>) -> TaskNames {
        TaskNames::new(store.clone(), Arc::new(SystemClock), Arc::new(SystemEntropy))
    }

    fn name(key: &str, said: &str) -> TaskName {
        TaskName { key: key.into(), said: said.into() }
    }

    #[tokio::test]
    async fn a_name_is_the_same_task_on_every_node_and_no_other_name_is() {
        let store = Arc::new(Memory::new());
        let (one, other) = (names(&store), names(&store));
        let first = one.id(&name("ann", "soup")).await.unwrap();
        assert_eq!(first, other.id(&name("ann", "soup")).await.unwrap());
        assert!(ids::is_token(first.expose()));
        for (key, said) in [("ann", "soups"), ("anns", "oup"), ("bob", "soup"), ("", "annsoup")] {
            assert_ne!(first, one.id(&name(key, said)).await.unwrap(), "{key} {said}");
        }
    }

    #[tokio::test]
    async fn a_name_is_another_task_in_another_deployment() {
        let [one, other] = [Arc::new(Memory::new()), Arc::new(Memory::new())].map(|store| names(&store));
        assert_ne!(one.id(&name("ann", "soup")).await.unwrap(), other.id(&name("ann", "soup")).await.unwrap());
    }
}
