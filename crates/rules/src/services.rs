//! What rules need of the host that they stand in: rules are built before there is one, and again for each host
//! that takes the place of another.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forecourt_core::CallerKey;

/// Leads rules to the host's counters once there is a host. Until then nothing is counted.
#[derive(Clone, Default)]
pub struct RuleServices(Arc<OnceLock<Arc<dyn RuleCounters>>>);

/// The counters of a host: they go on from one host to the next.
pub trait RuleCounters: Send + Sync {
    /// Counts one request of a caller. `scope` tells its buckets from those of other rules. Fails with how long to
    /// wait for the next one.
    fn take(&self, scope: &str, caller: &CallerKey<'_>, quota: Quota) -> Result<(), Duration>;

    /// Replies in the making whose callers wait for them.
    fn replies_running(&self) -> usize;
}

/// How often, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How long one request takes to come back.
    pub every: Duration,
    /// Requests that may come at once after a rest.
    pub burst: NonZeroU32,
}

impl RuleServices {
    /// Leads to these counters from now on.
    pub fn set(&self, counters: Arc<dyn RuleCounters>) {
        // A second call changes nothing: the counters go on from one host to the next, so the first ones are still
        // right.
        let _ = self.0.set(counters);
    }

    pub(crate) fn get(&self) -> Option<&dyn RuleCounters> {
        self.0.get().map(|counters| &**counters)
    }
}
