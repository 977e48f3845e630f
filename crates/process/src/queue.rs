//! Those who wait for a process, up to a bound.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A queue without an order: it only counts.
#[derive(Debug)]
pub struct WaitQueue {
    waiting: AtomicUsize,
    places: usize,
}

/// One place among those that wait, given back when dropped.
#[derive(Debug)]
pub struct QueuePlace<'a>(&'a AtomicUsize);

impl WaitQueue {
    /// A queue in which nobody waits yet.
    pub fn new(places: usize) -> WaitQueue {
        WaitQueue { waiting: AtomicUsize::new(0), places }
    }

    /// Takes a place. `None`: there is none left.
    pub fn place(&self) -> Option<QueuePlace<'_>> {
        let place = QueuePlace(&self.waiting);
        (self.waiting.fetch_add(1, Ordering::SeqCst) < self.places).then_some(place)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_wait() {
        let queue = WaitQueue::new(3);
        let mut places: Vec<_> = (0..3).map(|_| queue.place()).collect();
        assert!(places.iter().all(Option::is_some) && queue.place().is_none());
        places.pop();
        assert!(queue.place().is_some(), "those that were turned away took none");
    }
}
