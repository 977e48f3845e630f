//! This module bounds the size of the tables. It asks the database every few seconds, and not for each write.

use std::time::Instant;

use forecourt_core::{QuotaBound, StoreError};
use parking_lot::Mutex;

use super::Postgres;
use crate::limits::POSTGRES_SIZE_EVERY;
use crate::seal::Hash;

/// The part of the whole store, one in so many, that is kept free for what ends or removes something.
const RESERVE: u64 = 16;
/// How large our tables are, with their indexes.
const SIZE: &str = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'forecourt' AND c.relkind = 'r'";

/// The bound on all bytes, and what is known of them.
pub(super) struct Size {
    max: Option<u64>,
    seen: Mutex<Option<(Instant, u64)>>,
}

impl Size {
    pub(super) fn new(max: Option<u64>) -> Self {
        Self { max, seen: Mutex::new(None) }
    }

    fn fresh(&self) -> Option<u64> {
        let seen = *self.seen.lock();
        seen.filter(|(at, _)| at.elapsed() < POSTGRES_SIZE_EVERY).map(|(_, bytes)| bytes)
    }

    /// Adds what this node writes meanwhile.
    fn add(&self, bytes: u64) {
        if let Some((_, seen)) = &mut *self.seen.lock() {
            *seen = seen.saturating_add(bytes);
        }
    }
}

impl Postgres {
    /// The same for the answer of a task, which is not asked for what it reserves: that was promised when there was
    /// room for it, and the last sixteenth is there for it.
    pub(super) async fn answer_room(&self, task: &Hash, bytes: u64) -> Result<(), StoreError> {
        if bytes > self.known.of(task).reserved {
            return self.has_room(bytes).await;
        }
        self.size.add(bytes);
        Ok(())
    }

    /// Fails when the whole store has no room for so many bytes more.
    pub(super) async fn has_room(&self, bytes: u64) -> Result<(), StoreError> {
        let Some(max) = self.size.max else { return Ok(()) };
        let used = match self.size.fresh() {
            Some(used) => used,
            None => {
                let rows = self.read(SIZE, &[]).await?;
                let used = rows.first().map_or(0, |row| row.get::<_, i64>(0)).unsigned_abs();
                *self.size.seen.lock() = Some((Instant::now(), used));
                used
            }
        };
        // The last sixteenth stays free, so that a store that is full for new things can still end and remove what it
        // has.
        if used.saturating_add(bytes) > max - max / RESERVE {
            return Err(StoreError::Full { bound: QuotaBound::Store { max } });
        }
        self.size.add(bytes);
        Ok(())
    }
}
