//! The head of a log in a store: how far its files were, signed, so that files that were cut off, replaced or given back
//! from an older copy are told by whoever opens or verifies them. The files lead: a record is written to its file, its
//! mark is signed once the file is on the disk, and the head follows within a second, by a compared append. So a crash
//! leaves a head that is behind, which the next start moves on; one that is further than the files is never a crash's.

use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::Ledger;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

use crate::checkpoint::{Mark, unverified};
use crate::verify::HeadWitness;

/// Whose streams the heads are in.
pub const HEADS: &str = "records";
/// The store, as findings and errors call it.
pub(crate) const STORE: &str = "the store";
/// The field of an entry with the signed statement.
const MARK: &str = "mark";
/// The name of the log of a deployment that has one node.
const ALONE: &str = "alone";
/// How long a head stays that the next one follows within seconds. One that stays for good is written every
/// [`LASTING_EVERY`], so that a store does not grow by an entry for every second.
const PASSING_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a head is written that stays for good.
const LASTING_EVERY: Duration = Duration::from_secs(10 * 60);
/// How often a compared append is tried again, since another process was first.
const APPENDS_MAX: usize = 8;
/// Accepted beginnings that are told.
const ACCEPTED_READ_MAX: usize = 100;

/// The heads of one log, in a stream of a store.
pub struct HeadStream {
    ledger: Ledger,
    heads: String,
    accepted: String,
    /// When the last head was written that stays.
    lasting: Mutex<Option<Instant>>,
}

impl HeadStream {
    /// Those of the log of a node, or of the one log where there are no nodes. `ledger` is that of [`HEADS`].
    pub fn new(ledger: Ledger, node: Option<&str>) -> Self {
        let node = node.unwrap_or(ALONE);
        let (heads, accepted) = (format!("of-node:{node}"), format!("accepted-of-node:{node}"));
        Self { ledger, heads, accepted, lasting: Mutex::new(None) }
    }

    /// The last head, as it was signed; `None`: nothing was ever written.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn last(&self) -> BoxFuture<'_, Result<Option<String>, Error>> {
        Box::pin(async move { Ok(self.numbered().await?.map(|(_, jws)| jws)) })
    }

    /// Beginnings that an operator accepted, the newest first, at most 100, as they were signed.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn accepted(&self) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        Box::pin(async move {
            let kept = self.ledger.entries(&self.accepted, Span::Before(u64::MAX), ACCEPTED_READ_MAX).await?;
            Ok(kept.iter().filter_map(|(_, entry)| entry.body[MARK].as_str().map(str::to_owned)).collect())
        })
    }

    /// What the store knows, for a verification. To be asked before the files are looked at: they may go on meanwhile.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn witness(&self) -> BoxFuture<'_, Result<HeadWitness, Error>> {
        Box::pin(async move {
            let (head, accepted) = (self.last().await?, self.accepted().await?);
            Ok(HeadWitness { name: STORE.to_owned(), head, accepted })
        })
    }

    /// Writes a head that lies behind the last one; does nothing where the store knows one that is as far. `is_lasting`:
    /// it stays, since nobody knows when the next one comes.
    ///
    /// # Errors
    /// The store can't be written, or others were first time and again.
    pub(crate) async fn advance(&self, jws: &str, now: Timestamp, is_lasting: bool) -> Result<(), Error> {
        let Some(place) = place(jws) else { return Ok(()) };
        let is_lasting = is_lasting || self.lasting.lock().is_none_or(|last| last.elapsed() >= LASTING_EVERY);
        let until = if is_lasting { None } else { now.checked_add(PASSING_KEPT).ok() };
        for _ in 0..APPENDS_MAX {
            let last = self.numbered().await?;
            let is_as_far = |last: &str| self::place(last).is_some_and(|last| last >= place);
            if last.as_ref().is_some_and(|(_, last)| is_as_far(last)) {
                return Ok(());
            }
            let number = last.map_or(0, |(number, _)| number);
            if self.ledger.append(&self.heads, json!({MARK: jws}), until, Some(number)).await?.is_some() {
                if is_lasting {
                    *self.lasting.lock() = Some(Instant::now());
                }
                return Ok(());
            }
        }
        Err(Error::unavailable())
    }

    /// Writes a head that an operator has the log begin at, whatever stood there before.
    ///
    /// # Errors
    /// The store can't be written.
    pub fn accept<'a>(&'a self, jws: &'a str) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            // The reason first: a head without one would look like a log that never was another.
            self.ledger.append(&self.accepted, json!({MARK: jws}), None, None).await?;
            self.ledger.append(&self.heads, json!({MARK: jws}), None, None).await?;
            Ok(())
        })
    }

    async fn numbered(&self) -> Result<Option<(u64, String)>, Error> {
        let last = self.ledger.last(&self.heads).await?;
        Ok(last.map(|(number, entry)| (number, entry.body[MARK].as_str().unwrap_or_default().to_owned())))
    }
}

/// Where in its log a head stands; `None`: it is no statement.
fn place(jws: &str) -> Option<(u64, u64)> {
    unverified::<Mark>(jws).map(|mark| mark.place())
}
