//! Who hears that a resource of a server has changed.

use tokio::sync::broadcast;

use crate::limits::UPDATES_WAITING_MAX;

/// The changes of resources that a server tells in one session, as they come. Who is too slow misses the oldest.
pub(crate) struct Updates(broadcast::Sender<String>);

impl Default for Updates {
    fn default() -> Self {
        Self(broadcast::Sender::new(UPDATES_WAITING_MAX))
    }
}

impl Updates {
    /// Tells that the resource at an address has changed.
    pub(crate) fn tell(&self, address: &str) {
        // It fails where nobody listens.
        let _ = self.0.send(address.to_owned());
    }

    /// The addresses of what changes from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<String> {
        self.0.subscribe()
    }
}
