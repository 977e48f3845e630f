//! This module reads by read-only connections on blocking threads. In WAL mode they see every commit that was answered,
//! and never wait for the writer.

use std::sync::Arc;

use forecourt_core::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::error::SqliteError;

/// Lends one of a few connections to each read; further reads wait for one.
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// A pool of these connections.
    pub(super) fn new(connections: Vec<Connection>) -> Self {
        let permits = Arc::new(Semaphore::new(connections.len()));
        Self { idle: Arc::new(Mutex::new(connections)), permits }
    }

    /// Runs `work` on a blocking thread.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| gone())?;
        let idle = Arc::clone(&self.idle);
        let read = tokio::task::spawn_blocking(move || {
            let connection = idle.lock().pop().ok_or_else(gone)?;
            let result = work(&connection);
            idle.lock().push(connection);
            // After the connection is back: whoever gets the permit must find one.
            drop(permit);
            result.map_err(StoreError::from)
        });
        read.await.map_err(|_| gone())?
    }
}

fn gone() -> StoreError {
    StoreError::Unavailable("no connection to read with".to_owned())
}
