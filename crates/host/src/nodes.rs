//! What a host knows of the other nodes of its deployment.

use std::sync::Arc;

use forecourt_core::Bus;

use crate::host::Host;
use crate::lease::NodeStatus;

impl Host {
    /// What the nodes tell each other by: hints, whose truth is in the store. [`crate::topics`] names them.
    pub fn bus(&self) -> &Arc<dyn Bus> {
        &self.tasks.bus
    }

    /// Whether nobody else has this host's store.
    pub fn is_alone(&self) -> bool {
        self.tasks.lease.is_alone()
    }

    /// What this node is called in logs and metrics, for as long as it runs. No secret.
    pub fn node(&self) -> String {
        self.tasks.lease.name()
    }

    /// The nodes that are alive as far as this one has seen, itself first.
    pub fn nodes(&self) -> Vec<NodeStatus> {
        self.tasks.lease.nodes()
    }

    /// Says that the wall clock of this machine is wrong, where the store knows better: the host is not ready then.
    pub fn clock_fault(&self) -> Option<String> {
        self.tasks.host_clock.fault()
    }

    /// What an operator should know of though the host does its work, in a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let bus =
            self.tasks.bus.fault().map(|fault| {
                format!("{fault}; other nodes are heard of by looking into the store, a few seconds later")
            });
        bus.into_iter().collect()
    }
}
