//! The head of a log in a store: how far its files were, signed, so that files that were cut off, replaced or given back
//! from an older copy are told by whoever opens or verifies them. The files lead: a record is written to its file, its
//! mark is signed once the file is on the disk, and the head follows within a second, by a compared append. So a crash
//! leaves a head that is behind, which the next start moves on; one that is further than the files is never a crash's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::Ledger;
use futures::future::BoxFuture;
use serde_json::json;

use crate::background::repeat;
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
/// How long a head stays that is written while records are. The last one is written again to stay for good, within
/// [`LASTING_EVERY`], so that a store does not grow by an entry for every second.
const PASSING_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How soon a passing head is followed by one that stays for good.
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
    /// Whether a head that stays is written soon.
    is_staying: AtomicBool,
}

/// The last head of a log, as it is in the store.
struct NumberedHead {
    number: u64,
    jws: String,
    expires_at: Option<Timestamp>,
}

impl HeadStream {
    /// Those of the log of a node, or of the one log where there are no nodes. `ledger` is that of [`HEADS`].
    pub fn new(ledger: Ledger, node: Option<&str>) -> Self {
        let node = node.unwrap_or(ALONE);
        let (heads, accepted) = (format!("of-node:{node}"), format!("accepted-of-node:{node}"));
        Self { ledger, heads, accepted, is_staying: AtomicBool::new(false) }
    }

    /// The last head, as it was signed; `None`: nothing was ever written.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn last(&self) -> BoxFuture<'_, Result<Option<String>, Error>> {
        Box::pin(async move { Ok(self.newest().await?.map(|kept| kept.jws)) })
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
    /// what the store knows then stays, since nobody knows when the next one comes.
    ///
    /// # Errors
    /// The store can't be written, or others were first time and again.
    pub(crate) async fn advance(self: &Arc<Self>, jws: &str, now: Timestamp, is_lasting: bool) -> Result<(), Error> {
        let Some(place) = place(jws) else { return Ok(()) };
        let until = if is_lasting { None } else { now.checked_add(PASSING_KEPT).ok() };
        for _ in 0..APPENDS_MAX {
            let last = self.newest().await?;
            let is_as_far = |last: &NumberedHead| self::place(&last.jws).is_some_and(|last| last >= place);
            if last.as_ref().is_some_and(is_as_far) {
                return if is_lasting { self.stay().await } else { Ok(()) };
            }
            let number = last.map_or(0, |last| last.number);
            if self.ledger.append(&self.heads, json!({MARK: jws}), until, Some(number)).await?.is_some() {
                if until.is_some() {
                    self.stay_soon();
                }
                return Ok(());
            }
        }
        Err(Error::unavailable())
    }

    /// Has the last head stay for good: written once more, if it was a passing one.
    async fn stay(&self) -> Result<(), Error> {
        for _ in 0..APPENDS_MAX {
            let Some(last) = self.newest().await?.filter(|last| last.expires_at.is_some()) else { return Ok(()) };
            let written = self.ledger.append(&self.heads, json!({MARK: last.jws}), None, Some(last.number)).await?;
            if written.is_some() {
                return Ok(());
            }
        }
        Err(Error::unavailable())
    }

    /// Has the head stay that is the last one after a while: nothing may be recorded for longer than a passing one is
    /// kept.
    fn stay_soon(self: &Arc<Self>) {
        if self.is_staying.swap(true, Ordering::Relaxed) {
            return;
        }
        repeat(self, LASTING_EVERY, LASTING_EVERY, |heads| {
            Box::pin(async move {
                // First: a head that is written from here on may be missed below.
                heads.is_staying.store(false, Ordering::Relaxed);
                let Err(error) = heads.stay().await else { return true };
                tracing::warn!(%error, "how far the records are was not written into the store for good");
                // Whoever wrote one meanwhile looks after it.
                heads.is_staying.swap(true, Ordering::Relaxed)
            })
        });
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

    async fn newest(&self) -> Result<Option<NumberedHead>, Error> {
        let last = self.ledger.last(&self.heads).await?;
        Ok(last.map(|(number, entry)| NumberedHead {
            number,
            jws: entry.body[MARK].as_str().unwrap_or_default().to_owned(),
            expires_at: entry.expires_at,
        }))
    }
}

/// Where in its log a head stands; `None`: it is no statement.
fn place(jws: &str) -> Option<(u64, u64)> {
    unverified::<Mark>(jws).map(|mark| mark.place())
}
