//! Which bounds callers ran into lately, and how often: for the operator, of this process alone. Callers are told
//! apart by a hash that nobody outside can make, and that is another one after each start.

use std::collections::HashMap;

use forecourt_core::Timestamp;
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use tokio::time::Instant;

/// Pairs of a bound and a caller that are remembered. Over it, the one that was hit longest ago is forgotten.
pub const LIMITS_HIT_MAX: usize = 1_000;

/// A bound that a caller ran into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    /// The key that sets it, such as `limits.per_address`.
    pub limit: &'static str,
    /// The caller, as a hash; 0 for a bound of all callers together.
    pub caller: u64,
    /// How often.
    pub count: u64,
    /// When it was hit last.
    pub last_at: Timestamp,
}

/// By the key of a limit and the hash of a caller: how often, and when last.
type Lately = HashMap<(&'static str, u64), (u64, Instant)>;

/// The bounds that were hit.
#[derive(Debug, Default)]
pub(crate) struct LimitsHit {
    lately: Mutex<Lately>,
    /// All of them, for metrics.
    counted: Family<LimitLabel, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct LimitLabel {
    limit: &'static str,
}

impl LimitsHit {
    /// A caller was refused by a bound.
    pub(crate) fn note(&self, limit: &'static str, caller: u64) {
        let now = Instant::now();
        self.counted.get_or_create(&LimitLabel { limit }).inc();
        let mut hits = self.lately.lock();
        let key = (limit, caller);
        if hits.len() >= LIMITS_HIT_MAX
            && !hits.contains_key(&key)
            && let Some(oldest) = hits.iter().min_by_key(|(_, (_, at))| *at).map(|(key, _)| *key)
        {
            hits.remove(&oldest);
        }
        let hit = hits.entry(key).or_insert((0, now));
        *hit = (hit.0 + 1, now);
    }

    /// How often each bound was hit, for `registry`.
    pub(crate) fn counter(&self) -> Family<LimitLabel, Counter> {
        self.counted.clone()
    }

    /// All of them as of `now`, in no order.
    pub(crate) fn all(&self, now: Timestamp) -> Vec<LimitHit> {
        let hits = self.lately.lock();
        let hit = |(&(limit, caller), &(count, at)): (&(_, _), &(u64, Instant))| {
            let last_at = now.checked_sub(at.elapsed()).unwrap_or(now);
            LimitHit { limit, caller, count, last_at }
        };
        hits.iter().map(hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn hits_are_counted_by_bound_and_caller_and_the_oldest_makes_room() {
        let (hits, now) = (LimitsHit::default(), Timestamp::UNIX_EPOCH);
        for caller in 0..LIMITS_HIT_MAX as u64 {
            hits.note("limits.per_address", caller);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        hits.note("limits.per_address", 1);
        assert_eq!(hits.all(now).len(), LIMITS_HIT_MAX);
        hits.note("limits.per_session", 1);
        tokio::time::advance(Duration::from_secs(9)).await;
        let all = hits.all(now);
        let hit = |limit, caller| all.iter().find(|hit| (hit.limit, hit.caller) == (limit, caller));
        assert_eq!(all.len(), LIMITS_HIT_MAX);
        assert_eq!(hit("limits.per_address", 0), None, "it was hit longest ago");
        assert_eq!(hit("limits.per_address", 1).map(|hit| hit.count), Some(2));
        assert_eq!(hit("limits.per_session", 1).map(|hit| hit.last_at), Some(now - Duration::from_secs(9)));
    }
}
