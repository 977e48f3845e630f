//! What a turn's caller has not taken yet of its answer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forecourt_core::{Ending, Event};
use serde_json::Value;
use tokio::sync::Notify;

use super::calls::CallRequest;
use crate::limits::UNREAD_LINE_BYTES;

/// One line of a turn, as its caller's side takes it.
#[derive(Debug, PartialEq)]
pub(super) enum TurnItem {
    /// What it says; maybe nothing, which is a sign of life all the same.
    Events(Vec<Event>),
    /// A note of how far the work has come.
    Note(Value),
    /// A call of a tool.
    Call(CallRequest),
}

/// The lines of one turn that wait. Holds no bound of its own: whoever adds to it keeps that of all turns of a worker.
pub(super) struct TurnQueue {
    waiting: Mutex<WaitingItems>,
    news: Notify,
    /// Bytes that wait in all turns of the worker.
    unread: Arc<AtomicUsize>,
}

#[derive(Default)]
struct WaitingItems {
    items: VecDeque<(TurnItem, usize)>,
    bytes: usize,
    /// Bytes of files that are not whole yet.
    open_bytes: usize,
    /// Nobody takes anything any more.
    is_closed: bool,
}

impl TurnQueue {
    pub(super) fn new(unread: Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), news: Notify::new(), unread })
    }

    /// Adds a line of so many bytes.
    pub(super) fn push(&self, item: TurnItem, bytes: usize) {
        let mut waiting = self.waiting();
        if waiting.is_closed {
            return;
        }
        // Any number of signs of life say as much as one.
        let is_nothing = |item: &TurnItem| matches!(item, TurnItem::Events(events) if events.is_empty());
        if is_nothing(&item) && waiting.items.back().is_some_and(|(last, _)| is_nothing(last)) {
            return;
        }
        let bytes = bytes + UNREAD_LINE_BYTES;
        waiting.items.push_back((item, bytes));
        waiting.bytes += bytes;
        self.unread.fetch_add(bytes, Ordering::Relaxed);
        drop(waiting);
        self.news.notify_one();
    }

    /// Says how many bytes there are of files that are not whole yet: they wait too.
    pub(super) fn set_open(&self, bytes: usize) {
        let mut waiting = self.waiting();
        let now = if waiting.is_closed { 0 } else { bytes };
        let before = std::mem::replace(&mut waiting.open_bytes, now);
        self.unread.fetch_add(now, Ordering::Relaxed);
        self.unread.fetch_sub(before, Ordering::Relaxed);
    }

    /// Ends the answer, behind what waits.
    pub(super) fn end(&self, ending: Ending) {
        self.push(TurnItem::Events(vec![Event::Ending(ending)]), 0);
    }

    /// Ends the answer in place of what waits.
    pub(super) fn cut(&self, ending: Ending) {
        self.clear(false);
        self.end(ending);
    }

    /// Lets go of what waits, and takes nothing any more.
    pub(super) fn close(&self) {
        self.clear(true);
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        let waiting = self.waiting();
        waiting.bytes + waiting.open_bytes
    }

    /// The next line. Can be given up and begun again.
    pub(super) async fn next(&self) -> TurnItem {
        loop {
            let item = self.pop();
            match item {
                Some(item) => return item,
                None => self.news.notified().await,
            }
        }
    }

    fn pop(&self) -> Option<TurnItem> {
        let mut waiting = self.waiting();
        let (item, bytes) = waiting.items.pop_front()?;
        waiting.bytes -= bytes;
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
        Some(item)
    }

    fn clear(&self, then_close: bool) {
        let mut waiting = self.waiting();
        let items = std::mem::take(&mut waiting.items);
        let bytes = std::mem::take(&mut waiting.bytes) + std::mem::take(&mut waiting.open_bytes);
        waiting.is_closed |= then_close;
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
        drop(waiting);
        drop(items);
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingItems> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TurnQueue {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn text(text: &str) -> TurnItem {
        TurnItem::Events(vec![Event::Text(text.to_owned())])
    }

    #[tokio::test]
    async fn lines_come_in_their_order_and_their_bytes_are_counted_until_they_are_taken() {
        let unread = Arc::new(AtomicUsize::new(0));
        let queue = TurnQueue::new(unread.clone());
        queue.push(text("a"), 10);
        queue.push(text("b"), 5);
        assert_eq!(unread.load(Ordering::Relaxed), 15 + 2 * UNREAD_LINE_BYTES);
        assert_eq!((queue.next().await, queue.next().await), (text("a"), text("b")));
        assert_eq!((unread.load(Ordering::Relaxed), queue.bytes()), (0, 0));
        assert!(queue.next().now_or_never().is_none());
    }

    #[tokio::test]
    async fn signs_of_life_wait_once_and_a_cut_takes_the_place_of_what_waits() {
        let unread = Arc::new(AtomicUsize::new(0));
        let queue = TurnQueue::new(unread.clone());
        for _ in 0..1_000 {
            queue.push(TurnItem::Events(Vec::new()), 20);
        }
        assert_eq!(unread.load(Ordering::Relaxed), 20 + UNREAD_LINE_BYTES);
        queue.push(text("a"), 1);
        queue.cut(Ending::Complete);
        assert_eq!(queue.next().await, TurnItem::Events(vec![Event::Ending(Ending::Complete)]));
        queue.push(text("a"), 1);
        queue.close();
        queue.push(text("late"), 1);
        assert!(queue.next().now_or_never().is_none());
        assert_eq!(unread.load(Ordering::Relaxed), 0);
    }
}
