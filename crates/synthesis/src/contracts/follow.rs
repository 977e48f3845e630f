//! The stream of contracts, read as far as it goes before anything is said of one.
//!
//! Callers share reads: who comes while one is under way waits for the next one, which all that wait have done
//! by one of them. No caller takes the result of a read that began before it came, so that what was written
//! before a call began is known to it, whichever process wrote it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_core::Clock;
use forecourt_core::store::Span;
use forecourt_host::{ENTRIES_PER_READ_MAX, Ledger};
use parking_lot::RwLock;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::STREAM;
use super::entry::ContractEntry;
use super::index::Index;
use crate::limits::CATCH_UP_TIME_MAX;

/// Why nothing can be said of contracts now: the store is away, or holds what is none. The cause is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreAway;

/// Whoever follows the stream.
pub(super) struct Follower {
    pub(super) index: RwLock<Index>,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    /// How many reads have begun.
    begun: AtomicU64,
    position: Mutex<Position>,
}

/// How far was read. Who reads on holds it.
#[derive(Default)]
struct Position {
    /// The number of the last entry that was read.
    last: u64,
    /// Which read came to its end last.
    ended: u64,
    /// What came of it.
    is_away: bool,
}

impl Follower {
    pub(super) fn new(ledger: Ledger, clock: Arc<dyn Clock>) -> Follower {
        let (index, position) = (RwLock::default(), Mutex::default());
        Follower { index, ledger, clock, begun: AtomicU64::new(0), position }
    }

    /// Brings the index up to the end of the stream, as it stands now or later, and to the time as it is now.
    /// Gives the number of the last entry that was read.
    pub(super) async fn catch_up(&self) -> Result<u64, StoreAway> {
        match timeout(CATCH_UP_TIME_MAX, self.join_a_read()).await {
            Ok(read) => read,
            Err(late) => Err(away(&late)),
        }
    }

    async fn join_a_read(&self) -> Result<u64, StoreAway> {
        // Before the lock: a read that begins while this caller waits for the lock began after it came, and will do.
        let begun_before = self.begun.load(Ordering::SeqCst);
        let mut position = self.position.lock().await;
        // The last read that ended began before this caller came, so it may not know what was written just before.
        if position.ended <= begun_before {
            let this = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let read = self.read_on(&mut position.last).await;
            // A read that was dropped on its way has not ended, and whoever waits for it reads anew.
            (position.ended, position.is_away) = (this, read.is_err());
        }
        let (last, is_away) = (position.last, position.is_away);
        // Expiry needs the index alone; the next reader need not wait for it.
        drop(position);
        self.advance();
        if is_away { Err(StoreAway) } else { Ok(last) }
    }

    /// Lets the index be as of now.
    pub(super) fn advance(&self) {
        let now = self.clock.now();
        if self.index.read().is_due(now) {
            self.index.write().advance(now);
        }
    }

    async fn read_on(&self, last: &mut u64) -> Result<(), StoreAway> {
        loop {
            let page = self.ledger.entries(STREAM, Span::After(*last), ENTRIES_PER_READ_MAX).await;
            let page = page.map_err(|error| away(&error))?;
            let is_whole = page.len() < ENTRIES_PER_READ_MAX;
            let read = |(number, entry): (u64, forecourt_core::store::LedgerEntry)| {
                // Nothing is served past an entry of a newer program: it may have ended a contract.
                ContractEntry::read(&entry.body).map(|read| (number, entry.at, read)).map_err(|error| away(&error))
            };
            let entries = page.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            if let Some((number, ..)) = entries.last() {
                let number = *number;
                let mut index = self.index.write();
                entries.into_iter().for_each(|(number, at, entry)| index.apply(number, at, entry));
                // Under the index's lock and page by page: a read that breaks off keeps what it applied, and goes on
                // behind it.
                *last = number;
            }
            if is_whole {
                return Ok(());
            }
        }
    }
}

/// Says so in the log.
pub(super) fn away(error: &dyn std::fmt::Display) -> StoreAway {
    tracing::error!(%error, "contracts can't be read or written");
    StoreAway
}
