//! Calls that wait for the answer of a person whose client calls again with it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::sleep;

use super::call::{OpenQuestion, ServerCall};
use crate::limits::{ANSWER_TIME_MAX, CALLS_PARKED_MAX};

/// Calls that wait, by a name that only their own clients know, each for [`ANSWER_TIME_MAX`].
#[derive(Default)]
pub(crate) struct ParkedCalls(Mutex<HashMap<String, ParkedCall>>);

/// A call that waits, with what it asked.
pub(crate) struct ParkedCall {
    pub(crate) call: ServerCall,
    pub(crate) asked: OpenQuestion,
}

impl ParkedCalls {
    /// Keeps a call. `false`, and it is given up, where too many wait.
    pub(crate) fn keep(self: &Arc<Self>, name: &str, parked: ParkedCall) -> bool {
        let mut all = self.0.lock();
        if all.len() >= CALLS_PARKED_MAX {
            return false;
        }
        all.insert(name.to_owned(), parked);
        let (waiting, name) = (Arc::downgrade(self), name.to_owned());
        tokio::spawn(async move {
            sleep(ANSWER_TIME_MAX).await;
            waiting.upgrade().map(|waiting| waiting.take(&name));
        });
        true
    }

    /// The call of a name, which waits no longer.
    pub(crate) fn take(&self, name: &str) -> Option<ParkedCall> {
        self.0.lock().remove(name)
    }
}
