//! How many workers run at once, which of them are fit for another call, and how soon one that
//! crashed is replaced.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forecourt_process::{Program, WaitQueue};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::folder::Folder;
use super::worker::Worker;
use crate::limits::{
    CRASHES_FREE, FUNCTION_CALLS_WAITING_MAX, LONG_CALLS_PER_WORKER, RESTART_PAUSE_FIRST, RESTART_PAUSE_MAX,
};

/// The workers of one deployment. All of it runs on the supervisor's thread.
pub(super) struct Pool {
    pub(super) program: Program,
    folder: Folder,
    /// How long a module may take to be imported, the start of its worker included.
    pub(super) import_time: Duration,
    turns: Arc<Semaphore>,
    /// Places beside the turns, for calls that take long.
    aside: Arc<Semaphore>,
    waiting: WaitQueue,
    shelf: Mutex<Shelf>,
    idle_max: usize,
}

/// The workers without work.
struct Shelf {
    idle: Vec<Worker>,
    /// What the folder looked like when it was last looked at.
    fingerprint: u64,
    /// How often it has changed.
    edition: u64,
    /// Workers that crashed since one last answered.
    crashes: u32,
}

impl Pool {
    pub(super) fn new(program: Program, folder: Folder, workers: usize, import_time: Duration) -> Pool {
        let shelf = Shelf { idle: Vec::new(), fingerprint: folder.fingerprint(), edition: 0, crashes: 0 };
        Pool {
            program,
            folder,
            import_time,
            turns: Arc::new(Semaphore::new(workers)),
            aside: Arc::new(Semaphore::new(workers * LONG_CALLS_PER_WORKER)),
            waiting: WaitQueue::new(FUNCTION_CALLS_WAITING_MAX),
            shelf: Mutex::new(shelf),
            idle_max: workers,
        }
    }

    /// A turn, or a place among those who wait for one.
    ///
    /// # Errors
    /// Too many wait.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, String> {
        let busy = || format!("all workers are busy, and {FUNCTION_CALLS_WAITING_MAX} calls wait for one");
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let _place = self.waiting.place().ok_or_else(busy)?;
        Arc::clone(&self.turns).acquire_owned().await.map_err(|_| busy())
    }

    /// A place for a call that takes long, so that its turn is another's. `None`: there are too many.
    pub(super) fn aside(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.aside).try_acquire_owned().ok()
    }

    /// A worker without work, best one that knows the function; and the edition of the files as they
    /// are now. Workers that have read others are ended.
    pub(super) fn idle(&self, function: &str) -> (Option<Worker>, u64) {
        let fingerprint = self.folder.fingerprint();
        let mut shelf = self.shelf();
        if shelf.fingerprint != fingerprint {
            shelf.fingerprint = fingerprint;
            // Idle workers have imported the old files, and Python keeps modules for the life of a process.
            shelf.edition += 1;
            shelf.idle.clear();
        }
        shelf.idle.retain_mut(Worker::is_running);
        let known = shelf.idle.iter().rposition(|worker| worker.has(function));
        let place = known.or(shelf.idle.len().checked_sub(1));
        (place.map(|place| shelf.idle.swap_remove(place)), shelf.edition)
    }

    /// Takes a worker that has answered, unless there are enough, or the files have changed since it was
    /// started.
    pub(super) fn shelve(&self, worker: Worker) {
        let mut shelf = self.shelf();
        // Any answer ends the row: pauses are for functions that crash again and again, not for one among many.
        shelf.crashes = 0;
        if worker.edition == shelf.edition && shelf.idle.len() < self.idle_max {
            shelf.idle.push(worker);
        }
    }

    /// Counts a crash. How long its place stays empty.
    pub(super) fn crashed(&self) -> Duration {
        let mut shelf = self.shelf();
        shelf.crashes = shelf.crashes.saturating_add(1);
        pause(shelf.crashes)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pause after so many crashes in a row: none at first, then twice as long each time.
fn pause(crashes: u32) -> Duration {
    match crashes.checked_sub(CRASHES_FREE + 1) {
        None => Duration::ZERO,
        Some(more) => RESTART_PAUSE_FIRST.saturating_mul(1 << more.min(16)).min(RESTART_PAUSE_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_in_a_row_are_answered_ever_more_slowly() {
        assert_eq!(pause(CRASHES_FREE), Duration::ZERO);
        assert_eq!(pause(CRASHES_FREE + 1), RESTART_PAUSE_FIRST);
        assert_eq!(pause(CRASHES_FREE + 2), RESTART_PAUSE_FIRST * 2);
        assert_eq!(pause(u32::MAX), RESTART_PAUSE_MAX);
    }
}
