//! How many guarded requests run at once: in all, and to one host, so that a dead receiver never
//! delays the others. Security sheet, sections 0 and 6, step 9.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::EgressError;
use crate::limits::WAITING_MAX;

/// The turns to give.
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    per_host: usize,
    /// Hosts that someone uses or waits for, and no others.
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
    waiting: AtomicUsize,
}

/// One turn. Given back when dropped.
pub(crate) struct Slot {
    // Dropped in this order: the host's turn is free before its entry is looked at.
    _all: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
    _place: Place,
}

impl Slots {
    pub(crate) fn new(all: usize, per_host: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(all.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { all, per_host, hosts: Mutex::default(), waiting: AtomicUsize::new(0) })
    }

    /// Waits for a turn to talk to `host`. [`EgressError::Busy`] when [`WAITING_MAX`] wait already.
    /// The caller sets the deadline.
    pub(crate) async fn take(self: &Arc<Self>, host: &str) -> Result<Slot, EgressError> {
        let queued = QueuePlace::join(self)?;
        let place = Place::at(self, host);
        // The host first: who waits for a slow host must not hold a turn that others could use.
        let turn = place.turns.clone().acquire_owned().await.map_err(|_| EgressError::Busy)?;
        let all = self.all.clone().acquire_owned().await.map_err(|_| EgressError::Busy)?;
        drop(queued);
        Ok(Slot { _all: all, _turn: turn, _place: place })
    }
}

/// One of those that wait.
struct QueuePlace(Arc<Slots>);

impl QueuePlace {
    fn join(slots: &Arc<Slots>) -> Result<Self, EgressError> {
        let queued = Self(slots.clone());
        // The value is made before the count is checked, so that its drop takes the count back in both cases.
        match slots.waiting.fetch_add(1, Ordering::SeqCst) < WAITING_MAX {
            true => Ok(queued),
            false => Err(EgressError::Busy),
        }
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Keeps the entry of a host alive while someone uses it.
struct Place {
    slots: Arc<Slots>,
    host: String,
    turns: Arc<Semaphore>,
}

impl Place {
    fn at(slots: &Arc<Slots>, host: &str) -> Self {
        let fresh = || Arc::new(Semaphore::new(slots.per_host.min(Semaphore::MAX_PERMITS)));
        let turns = slots.hosts.lock().entry(host.to_owned()).or_insert_with(fresh).clone();
        Self { slots: slots.clone(), host: host.to_owned(), turns }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut hosts = self.slots.hosts.lock();
        // The map's own and ours; a waiting acquire holds a clone, and so does its own place.
        if hosts.get(&self.host).is_some_and(|turns| Arc::strong_count(turns) <= 2) {
            hosts.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn one_host_gets_its_share_and_the_others_go_on() {
        let slots = Slots::new(64, 2);
        let held = [slots.take("a").await.unwrap(), slots.take("a").await.unwrap()];
        assert!(slots.take("a").now_or_never().is_none(), "a third request to one host waits");
        assert!(slots.take("b").now_or_never().is_some(), "another host does not");
        drop(held);
        assert!(slots.take("a").now_or_never().is_some());
    }

    #[tokio::test]
    async fn all_hosts_together_get_no_more_than_the_cap() {
        let slots = Slots::new(2, 2);
        let _held = [slots.take("a").await.unwrap(), slots.take("b").await.unwrap()];
        assert!(slots.take("c").now_or_never().is_none());
    }

    #[tokio::test]
    async fn the_queue_ends_at_its_bound_and_nothing_stays_behind() {
        let slots = Slots::new(1, 1);
        let held = slots.take("a").await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(slots.take("a"))).collect();
        for waiter in &mut waiting {
            assert!(waiter.now_or_never().is_none());
        }
        assert!(matches!(slots.take("b").await, Err(EgressError::Busy)));
        drop(waiting);
        drop(held);
        assert!(slots.hosts.lock().is_empty());
        assert_eq!(slots.waiting.load(Ordering::SeqCst), 0);
    }
}
