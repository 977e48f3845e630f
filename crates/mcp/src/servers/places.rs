//! How many calls of one server are under way at once: in all, and of each caller, so that nobody has all of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::{CALLS_PER_SERVER_AND_CALLER_MAX, CALLS_PER_SERVER_MAX, SERVER_QUEUE_TIME_MAX};

/// The places for the calls of one server.
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// Those of each caller that has or wants one.
    callers: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place, given back when it is dropped.
pub(crate) struct CallPlace {
    _place: OwnedSemaphorePermit,
    /// It keeps the caller known, too.
    _own: OwnedSemaphorePermit,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(CALLS_PER_SERVER_MAX)), callers: Mutex::default() }
    }
}

impl Places {
    /// A place for a call of the caller that is counted by `counted_by`, waited for in line. `None` when none became
    /// free in [`SERVER_QUEUE_TIME_MAX`].
    pub(super) async fn take(&self, counted_by: &str) -> Option<CallPlace> {
        let own = self.of(counted_by);
        let waiting = async {
            // Its own first: who waits for that stands in nobody's way.
            let own = own.acquire_owned().await.ok()?;
            let place = self.all.clone().acquire_owned().await.ok()?;
            Some(CallPlace { _place: place, _own: own })
        };
        timeout(SERVER_QUEUE_TIME_MAX, waiting).await.ok().flatten()
    }

    /// The places of a caller. Whoever has none and wants none is forgotten.
    fn of(&self, counted_by: &str) -> Arc<Semaphore> {
        let mut callers = self.callers.lock();
        if let Some(own) = callers.get(counted_by).and_then(Weak::upgrade) {
            return own;
        }
        callers.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(CALLS_PER_SERVER_AND_CALLER_MAX));
        callers.insert(counted_by.to_owned(), Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_so_many_places_and_leaves_the_others_to_others() {
        let places = Places::default();
        let mut held = Vec::new();
        for _ in 0..CALLS_PER_SERVER_AND_CALLER_MAX {
            held.push(places.take("alice").await.expect("a place"));
        }
        let (late, bobs) = tokio::join!(places.take("alice"), places.take("bob"));
        assert!(late.is_none() && bobs.is_some(), "who waits for her own stands in nobody's way");
        held.pop();
        assert!(places.take("alice").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_has_so_many_calls_at_once_and_callers_at_rest_are_forgotten() {
        let places = Places::default();
        let mut held = Vec::new();
        for n in 0..CALLS_PER_SERVER_MAX {
            held.push(places.take(&n.to_string()).await.expect("a place"));
        }
        assert!(places.take("one more").await.is_none());
        held.clear();
        assert!(places.take("one more").await.is_some());
        assert_eq!(places.callers.lock().len(), 1);
    }
}
