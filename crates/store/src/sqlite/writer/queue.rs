//! This module has the queue of the writer: many callers fill it, and its thread is woken when as many writes wait as
//! it wants, and not for each one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::StoreError;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Semaphore;

use super::{Command, closed};
use crate::limits::{WRITES_PER_COMMIT_MAX, WRITES_QUEUED_MAX};

/// The end that is filled.
pub(super) struct Queue(Arc<QueueState>);

/// The end that is emptied. When it is gone nothing is taken any more: what waits is let go of, and what comes is
/// refused.
pub(super) struct Waiting(Arc<QueueState>);

struct QueueState {
    line: Mutex<Line>,
    /// Told when as much waits as is wanted, and at the end.
    full: Condvar,
    /// Room for further writes.
    room: Semaphore,
}

struct Line {
    commands: VecDeque<Command>,
    /// How many have to wait for the thread to be woken.
    wanted: usize,
    /// Whether more can come.
    is_open: bool,
}

/// Both ends of an empty queue.
pub(super) fn queue() -> (Queue, Waiting) {
    let line = Line { commands: VecDeque::new(), wanted: 1, is_open: true };
    let shared = QueueState { line: Mutex::new(line), full: Condvar::new(), room: Semaphore::new(WRITES_QUEUED_MAX) };
    let shared = Arc::new(shared);
    (Queue(Arc::clone(&shared)), Waiting(shared))
}

impl Queue {
    /// Queues a command once there is room. Fails when nobody takes it any more.
    pub(super) async fn push(&self, command: Command) -> Result<(), StoreError> {
        self.0.room.acquire().await.map_err(|_| closed())?.forget();
        let mut line = self.0.line.lock();
        if !line.is_open {
            return Err(closed());
        }
        line.commands.push_back(command);
        if line.commands.len() >= line.wanted {
            // One wake-up is enough: until the thread has run, further ones would be system calls for nothing.
            line.wanted = usize::MAX;
            self.0.full.notify_one();
        }
        Ok(())
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// No more will come.
    pub(super) fn end(&self) {
        self.0.line.lock().is_open = false;
        self.0.full.notify_one();
    }
}

impl Waiting {
    /// Takes what waits, at most [`WRITES_PER_COMMIT_MAX`]: blocks until something does, and then no longer than
    /// `patience` for as many as are `expected`. Nothing at the end.
    pub(super) fn take(&self, expected: usize, patience: Duration) -> Vec<Command> {
        let mut line = self.0.line.lock();
        while line.commands.is_empty() && line.is_open {
            line.wanted = 1;
            self.0.full.wait(&mut line);
        }
        let expected = expected.min(WRITES_PER_COMMIT_MAX);
        if line.commands.len() < expected {
            let until = Instant::now() + patience;
            while line.commands.len() < expected && line.is_open {
                line.wanted = expected;
                if self.0.full.wait_until(&mut line, until).timed_out() {
                    break;
                }
            }
        }
        line.wanted = usize::MAX;
        let count = line.commands.len().min(WRITES_PER_COMMIT_MAX);
        let taken = line.commands.drain(..count).collect();
        drop(line);
        // After the lock is released, as each permit wakes a caller that takes the lock at once.
        self.0.room.add_permits(count);
        taken
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl QueueState {
    fn len(&self) -> usize {
        self.line.lock().commands.len()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.room.close();
        let mut line = self.0.line.lock();
        line.is_open = false;
        // Dropped outside the lock: dropping a command drops its answer channel, which wakes a caller.
        let left = std::mem::take(&mut line.commands);
        drop(line);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn command() -> Command {
        Command::Close(oneshot::channel().0)
    }

    #[tokio::test]
    async fn the_queue_has_a_bound_and_further_writes_wait_for_room() {
        let (queue, waiting) = queue();
        for _ in 0..WRITES_QUEUED_MAX {
            queue.push(command()).await.unwrap();
        }
        let mut further = Box::pin(queue.push(command()));
        assert!(futures::poll!(&mut further).is_pending());
        assert_eq!(waiting.take(0, Duration::ZERO).len(), WRITES_PER_COMMIT_MAX);
        further.await.unwrap();
        assert_eq!(queue.len(), WRITES_QUEUED_MAX - WRITES_PER_COMMIT_MAX + 1);
    }

    #[tokio::test]
    async fn what_is_expected_is_waited_for_no_longer_than_patience_lasts() {
        let (queue, waiting) = queue();
        queue.push(command()).await.unwrap();
        assert_eq!(waiting.take(2, Duration::from_millis(1)).len(), 1);
        let taken = std::thread::spawn(move || (waiting.take(2, Duration::from_secs(600)).len(), waiting));
        queue.push(command()).await.unwrap();
        queue.push(command()).await.unwrap();
        assert_eq!(taken.join().unwrap().0, 2);
    }

    #[tokio::test]
    async fn nothing_is_taken_at_the_end_and_nothing_comes_when_nobody_takes() {
        let (queue, waiting) = queue();
        queue.push(command()).await.unwrap();
        queue.end();
        assert_eq!((waiting.take(9, Duration::from_secs(600)).len(), waiting.take(9, Duration::ZERO).len()), (1, 0));
        drop(waiting);
        assert!(queue.push(command()).await.is_err());
    }
}
