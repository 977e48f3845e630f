//! What failed last where records are kept: told at once for a while, then tried anew.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::LogError;
use crate::limits::RETRY_AFTER;

/// What failed last where records are kept.
#[derive(Default)]
pub(crate) struct LastFailure {
    /// Whether anything did: every record asks.
    is_there: AtomicBool,
    last: Mutex<Option<(Instant, LogError)>>,
}

impl LastFailure {
    /// Whether something that failed is to be tried anew now, by whoever asks: others are told what failed meanwhile.
    ///
    /// # Errors
    /// What failed less than [`RETRY_AFTER`] ago.
    pub(crate) fn is_due(&self) -> Result<bool, LogError> {
        if !self.is_there.load(Ordering::Relaxed) {
            return Ok(false);
        }
        match &mut *self.last.lock() {
            None => Ok(false),
            Some((at, error)) if at.elapsed() < RETRY_AFTER => Err(error.clone()),
            Some((at, _)) => {
                *at = Instant::now();
                Ok(true)
            }
        }
    }

    /// Whether nothing failed of late.
    ///
    /// # Errors
    /// What failed less than [`RETRY_AFTER`] ago.
    pub(crate) fn none_of_late(&self) -> Result<(), LogError> {
        if !self.is_there.load(Ordering::Relaxed) {
            return Ok(());
        }
        match &*self.last.lock() {
            Some((at, error)) if at.elapsed() < RETRY_AFTER => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Takes notice of what came of something.
    pub(crate) fn settle(&self, failed: Option<&LogError>) {
        match failed {
            // Too much at once is no fault of the disk's or the store's.
            Some(LogError::Busy | LogError::TooLarge) => {}
            Some(error) => {
                if !self.is_there.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "records of what is answered can't be kept");
                }
                *self.last.lock() = Some((Instant::now(), error.clone()));
            }
            None if self.is_there.load(Ordering::Relaxed) => {
                self.is_there.store(false, Ordering::Relaxed);
                *self.last.lock() = None;
                tracing::info!("records of what is answered are kept again");
            }
            None => {}
        }
    }
}
