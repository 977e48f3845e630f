//! The best few of many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A bounded heap that keeps the greatest values it is offered.
pub(crate) struct Best<T> {
    wanted: usize,
    /// The least of them on top.
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord> Best<T> {
    /// An empty heap that keeps `wanted` values.
    pub(crate) fn of(wanted: usize) -> Self {
        Self { wanted, heap: BinaryHeap::with_capacity(wanted + 1) }
    }

    /// The least value that is kept, once the heap is full: only greater ones still get in.
    pub(crate) fn last(&self) -> Option<&T> {
        self.heap.peek().filter(|_| self.heap.len() == self.wanted).map(|Reverse(last)| last)
    }

    pub(crate) fn offer(&mut self, one: T) {
        self.heap.push(Reverse(one));
        if self.heap.len() > self.wanted {
            self.heap.pop();
        }
    }

    /// The greatest first.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(one)| one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_kept() {
        let mut best = Best::of(3);
        for (one, last) in [(5, None), (1, None), (4, Some(1)), (9, Some(4)), (2, Some(4)), (5, Some(5))] {
            best.offer(one);
            assert_eq!(best.last(), last.as_ref());
        }
        assert_eq!(best.into_sorted(), [9, 5, 5]);
        let mut none = Best::of(0);
        none.offer(1);
        assert!(none.into_sorted().is_empty());
    }
}
