//! What rules need of the host that they stand in: rules are built before there is one, and again for each host
//! that takes the place of another.

use std::sync::{Arc, OnceLock};

use crate::rates::RateTable;
use crate::tasks::Tasks;

/// Leads rules to the host's counters once there is a host. Until then nothing is counted.
#[derive(Clone, Default)]
pub struct RuleServices(Arc<OnceLock<HostCounters>>);

/// The counters: they go on from one host to the next.
#[derive(Clone)]
pub(crate) struct HostCounters {
    pub(crate) rates: Arc<RateTable>,
    pub(crate) tasks: Arc<Tasks>,
}

impl HostCounters {
    /// Replies in the making whose callers wait for them.
    pub(crate) fn replies_running(&self) -> usize {
        self.tasks.in_flight.replies_running()
    }
}

impl RuleServices {
    pub(crate) fn set(&self, counters: HostCounters) {
        // Whoever came first stays: a house is put to work once.
        let _ = self.0.set(counters);
    }

    pub(crate) fn get(&self) -> Option<&HostCounters> {
        self.0.get()
    }
}
