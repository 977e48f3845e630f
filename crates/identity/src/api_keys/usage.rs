//! This module counts the uses of API keys against their limits, and records when a key was used last.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Store, StoreError, Timestamp};
use parking_lot::Mutex;
use serde_json::json;

use super::ApiKey;
use super::limit::Bucket;
use crate::limits::{API_KEY_DAY_KEPT, API_KEY_MINUTE_KEPT, API_KEYS_MAX};

/// The keys that are in use, by their ids; at most [`API_KEYS_MAX`], the longest unused make room.
#[derive(Default)]
pub(super) struct Usage(Mutex<HashMap<String, InUse>>);

#[derive(Default, Clone, Copy)]
struct InUse {
    bucket: Bucket,
    used_at: Timestamp,
    /// The minute and the day that were written down, counted from the epoch.
    minute: i64,
    day: i64,
}

/// A use is to be recorded, in an entry that is kept for this time.
struct Due(Duration);

impl Usage {
    /// Counts one use. Fails with the seconds to wait when the limit is used up. Otherwise records the use in the
    /// store, at most once a minute and in the background: no request waits for that write.
    pub(super) fn count(&self, store: &Arc<dyn Store>, key: &ApiKey, now: Timestamp) -> Result<(), u64> {
        let due = self.take(key, now)?;
        if let Some(Due(kept)) = due {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move {
                let Ok(until) = now.checked_add(kept) else { return };
                let entry = LedgerEntry::new(json!({}), now).until(until);
                if let Err(error) = store.append_entry(&stream_of(&key), entry, None).await {
                    tracing::warn!(%error, "the use of an API key was not written down");
                }
            });
        }
        Ok(())
    }

    fn take(&self, key: &ApiKey, now: Timestamp) -> Result<Option<Due>, u64> {
        let mut all = self.0.lock();
        if all.len() >= API_KEYS_MAX && !all.contains_key(&key.id) {
            let oldest = all.iter().min_by_key(|(_, in_use)| in_use.used_at).map(|(id, _)| id.clone());
            oldest.and_then(|id| all.remove(&id));
        }
        let in_use = all.entry(key.id.clone()).or_default();
        if let Some(limit) = key.limit {
            in_use.bucket.take(limit, now)?;
        }
        in_use.used_at = now;
        let (minute, day) = (now.as_second().div_euclid(60), now.as_second().div_euclid(86_400));
        // The first use of a day is remembered for long and the others for an hour: the last use is known to the minute
        // while it is recent, and a busy key still has few entries.
        let kept = match (in_use.day != day, in_use.minute != minute) {
            (true, _) => Some(Due(API_KEY_DAY_KEPT)),
            (false, true) => Some(Due(API_KEY_MINUTE_KEPT)),
            (false, false) => None,
        };
        (in_use.minute, in_use.day) = (minute, day);
        Ok(kept)
    }
}

/// When a key was used last: to the minute for an hour, then to the day. `None`: never, or longer ago than is recorded.
pub(super) async fn last_used(
    store: &dyn Store,
    key: &ApiKey,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let newest = store.entries(&stream_of(key), Span::Before(u64::MAX), 1, now).await?;
    Ok(newest.first().map(|(_, entry)| entry.at))
}

fn stream_of(key: &ApiKey) -> String {
    format!("identity:api-key-used:{}", key.id)
}
