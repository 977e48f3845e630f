//! Calls that are made once, however often they are sent: a caller's key, a hash of what it sent, and
//! the answer that it got.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::store::{Entry, Span};
use forecourt_core::{Clock, Error, Store, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::receive::Host;
use crate::threads::after;

/// How long a key is remembered.
pub const ONCE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Keys of one caller that are remembered at once.
pub const ONCE_PER_CALLER_MAX: u64 = 1_000;
/// Bytes of a key.
pub const ONCE_KEY_BYTES_MAX: usize = 256;
/// How often a key is tried that led to nothing so far.
pub const ONCE_TRIES_MAX: u64 = 16;

/// Lines that one try leaves behind: that it began, and what came of it.
const LINES_PER_TRY: u64 = 2;

/// What is known of a key.
#[derive(Debug)]
pub enum Once {
    /// Nothing before: it is to be done, and its answer kept with [`Host::settle_once`].
    First(Begun),
    /// It was done, with this answer.
    Again(Value),
    /// It is being done, or was when the host stopped: nobody knows what came of it.
    Unsettled,
    /// The key was used for something else.
    Other,
}

/// The right to do it.
#[derive(Debug)]
#[must_use]
pub struct Begun {
    stream: String,
    hash: String,
    until: Timestamp,
    /// The number of the line that says so.
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    hash: String,
    state: State,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It is being done.
    Begun,
    /// It was done, with this answer.
    Done(Value),
    /// It was not done, and may be tried again.
    Dropped,
}

pub(crate) struct Keys {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Keys {
    async fn begin(&self, caller: &str, key: &str, sent: &[u8]) -> Result<Once, Error> {
        let (now, hash) = (self.clock.now(), hex(sent));
        let stream = format!("once:{}:{caller}:{key}", caller.len());
        let last = match self.last(&stream).await? {
            Some((number, Line { state: State::Dropped, .. })) if number >= ONCE_TRIES_MAX * LINES_PER_TRY => {
                return Err(Error::unavailable());
            }
            Some((number, Line { state: State::Dropped, .. })) => number,
            Some((_, line)) => return Ok(known(line, &hash)),
            None => 0,
        };
        let until = after(now, ONCE_TTL);
        if last == 0 {
            self.count(caller, until).await?;
        }
        let line = Line { hash: hash.clone(), state: State::Begun };
        if let Some(number) = self.write(&stream, &line, until, last).await? {
            return Ok(Once::First(Begun { stream, hash, until, number }));
        }
        // Somebody else was first, just now.
        Ok(self.last(&stream).await?.map_or(Once::Unsettled, |(_, line)| known(line, &hash)))
    }

    async fn last(&self, stream: &str) -> Result<Option<(u64, Line)>, Error> {
        let newest = self.store.entries(stream, Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok(None) };
        Ok(Some((number, serde_json::from_value(entry.body).map_err(Error::internal)?)))
    }

    async fn write(&self, stream: &str, line: &Line, until: Timestamp, last: u64) -> Result<Option<u64>, Error> {
        let body = serde_json::to_value(line).map_err(Error::internal)?;
        let entry = Entry::new(body, self.clock.now()).until(until);
        Ok(self.store.append_entry(stream, entry, Some(last)).await?)
    }

    /// Counts a key of a caller. They expire in the order in which they came, so that the first and
    /// the last number tell how many there are.
    async fn count(&self, caller: &str, until: Timestamp) -> Result<(), Error> {
        let (stream, now) = (format!("once-of:{caller}"), self.clock.now());
        let first = self.store.entries(&stream, Span::After(0), 1, now).await?;
        let last = self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?;
        if let (Some((first, _)), Some((last, _))) = (first.first(), last.first())
            && last - first + 1 >= ONCE_PER_CALLER_MAX
        {
            return Err(Error::unavailable());
        }
        self.store.append_entry(&stream, Entry::new(Value::Null, now).until(until), None).await?;
        Ok(())
    }
}

fn known(line: Line, hash: &str) -> Once {
    match line.state {
        _ if line.hash != hash => Once::Other,
        State::Done(answer) => Once::Again(answer),
        State::Begun | State::Dropped => Once::Unsettled,
    }
}

fn hex(sent: &[u8]) -> String {
    digest(&SHA256, sent).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Calls that are made once.
impl Host {
    /// Begins something under a key of a caller; `sent` is all that makes it this and nothing else.
    /// Written before anything is done, so that it outlives a crash. Fails with
    /// [`Error::Invalid`] when the key is too long, with [`Error::Unavailable`] when the caller has
    /// used [`ONCE_PER_CALLER_MAX`] keys within [`ONCE_TTL`], or this one [`ONCE_TRIES_MAX`] times in vain.
    pub async fn once(&self, caller: &str, key: &str, sent: &[u8]) -> Result<Once, Error> {
        if key.is_empty() || key.len() > ONCE_KEY_BYTES_MAX {
            return Err(Error::invalid("idempotency key", format!("has 1 to {ONCE_KEY_BYTES_MAX} bytes")));
        }
        self.keys.begin(caller, key, sent).await
    }

    /// Keeps the answer of what was begun, for whoever sends it again. `None`: it was not done, for a
    /// reason that may pass, and may be sent again.
    pub async fn settle_once(&self, begun: Begun, answer: Option<Value>) -> Result<(), Error> {
        let line = Line { hash: begun.hash, state: answer.map_or(State::Dropped, State::Done) };
        self.keys.write(&begun.stream, &line, begun.until, begun.number).await.map(|_| ())
    }
}
