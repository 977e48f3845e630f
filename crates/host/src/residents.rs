//! The agents of the host that answers now, for work that begins anew.

use std::sync::{Arc, Weak};

use crate::directory::Directory;
use crate::lifecycle::Lifecycle;
use crate::records::Records;

/// The agents of the host that answers now. Weak: they hold the tasks that this is for.
pub(crate) struct Residents {
    directory: Weak<Directory>,
    lifecycle: Weak<Lifecycle>,
    records: Weak<Records>,
}

/// The same, at hand.
pub(crate) struct AnsweringHost {
    pub(crate) directory: Arc<Directory>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) records: Arc<Records>,
}

impl Residents {
    pub(crate) fn of(directory: &Arc<Directory>, lifecycle: &Arc<Lifecycle>, records: &Arc<Records>) -> Self {
        Self {
            directory: Arc::downgrade(directory),
            lifecycle: Arc::downgrade(lifecycle),
            records: Arc::downgrade(records),
        }
    }

    /// `None` once that host is gone.
    pub(crate) fn upgrade(&self) -> Option<AnsweringHost> {
        Some(AnsweringHost {
            directory: self.directory.upgrade()?,
            lifecycle: self.lifecycle.upgrade()?,
            records: self.records.upgrade()?,
        })
    }
}
