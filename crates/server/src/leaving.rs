//! Whether a process is about to go, as its listeners and its readiness say it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process is about to go: clients are served, and told to come back elsewhere. Every clone says the same.
#[derive(Clone, Debug, Default)]
pub struct Leaving(Arc<AtomicBool>);

impl Leaving {
    /// From here on it is. There is no way back.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it is.
    pub fn is_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
