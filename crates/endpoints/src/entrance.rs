//! The way from a handler back to the dispatcher that it is a part of.
//!
//! Handlers lie in the registry, the registry in the dispatcher, so that the way is bound once, after
//! the dispatcher is built. It is a weak one: handlers keep no dispatcher alive.

use std::sync::{Arc, OnceLock, Weak};

use forecourt_contract::Dispatcher;

/// The way in, as those inside see it. Clones are one and the same.
#[derive(Clone, Default)]
pub struct Entrance(Arc<OnceLock<Weak<Dispatcher>>>);

impl Entrance {
    /// Opens the way. Only the first dispatcher counts.
    pub fn bind(&self, dispatcher: &Arc<Dispatcher>) {
        // A second one would be another host's, of which these handlers are no part.
        let _ = self.0.set(Arc::downgrade(dispatcher));
    }

    /// The dispatcher. `None` before it is bound, and when it is gone.
    pub(crate) fn dispatcher(&self) -> Option<Arc<Dispatcher>> {
        self.0.get()?.upgrade()
    }
}
