//! What rules count by: the host's buckets and places, which go on from one host to the next.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::CallerKey;
use forecourt_rules::{Quota, RuleCounters};

use crate::rates::Pace;
use crate::tasks::Tasks;

/// The counters of a host.
pub(crate) struct HostCounters {
    pub(crate) tasks: Arc<Tasks>,
}

impl RuleCounters for HostCounters {
    fn take(&self, scope: &str, caller: &CallerKey<'_>, quota: Quota) -> Result<(), Duration> {
        let pace = Pace::of(quota.every, quota.burst.get());
        match caller {
            CallerKey::Subject(name) | CallerKey::Conversation { key: name, .. } => {
                self.tasks.rates.take(&(scope, &**name), pace)
            }
            CallerKey::Network(network) => self.tasks.rates.take(&(scope, network), pace),
            // What came over no network came from this machine.
            CallerKey::Local => Ok(()),
        }
    }

    fn replies_running(&self) -> usize {
        self.tasks.in_flight.replies_running()
    }
}
