//! Calls that are made once, however often they are sent: a caller's key, a hash of what it sent, and
//! the answer that it got.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::{after, whole_seconds};
use forecourt_core::policy::RefusalKind;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Error, PolicyPart, Store, Timestamp};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::LimitSettings;
use crate::tasks::Tasks;
use forecourt_issuance::sha256_hex;

/// How long a key is remembered.
pub const ONCE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of a key.
pub const ONCE_KEY_BYTES_MAX: usize = 256;
/// How often a key is tried that led to nothing so far.
pub const ONCE_TRIES_MAX: u64 = 16;

/// How long the log stays quiet about a bound that was reached.
const LOG_PAUSE: Duration = Duration::from_secs(60);
/// The stream that counts the keys of all callers.
const COUNT_OF_ALL: &str = "once-all";
/// The stream that counts the keys of those who did not prove who they are.
const COUNT_OF_STRANGERS: &str = "once-strangers";

/// Lines that one try leaves behind: that it began, and what came of it.
const LINES_PER_TRY: u64 = 2;

/// The state of an idempotency key when a call comes with it.
#[derive(Debug)]
pub enum IdempotencyState {
    /// Nothing before: it is to be done, and its answer kept with [`IdempotentCalls::settle`].
    First(IdempotencyPermit),
    /// It was done, with this answer.
    Again(Value),
    /// It is being done, or was when the host stopped: nobody knows what came of it.
    Unsettled {
        /// When it was begun.
        since: Timestamp,
    },
    /// The key was used for something else.
    Other,
    /// Too many keys are remembered: nothing was begun. Says which bound it is, and when there is room again.
    Refused(Box<PolicyPart>),
}

/// The caller whose keys are meant: a key of one caller is never that of another.
#[derive(Debug, Clone, Copy)]
pub struct IdempotencyOwner<'a> {
    /// The caller, in whose name no key means two things.
    pub name: &'a str,
    /// The session or token by which it calls: keys are counted for each.
    pub session: Option<&'a str>,
    /// Whether it proved who it is. All who did not have half of what all callers have together.
    pub is_proven: bool,
}

impl IdempotencyOwner<'_> {
    /// How the streams of this caller's keys begin. With the length of its name, since that may hold a colon: `a:b` with
    /// key `c` is not `a` with key `b:c`.
    fn streams(self) -> String {
        format!("once:{}:{}:", self.name.len(), self.name)
    }
}

/// The permission to make a call for the first time under its key: [`IdempotentCalls::settle`] takes it back with the
/// answer. Dropped without, the key stays unsettled until it expires.
#[derive(Debug)]
#[must_use]
pub struct IdempotencyPermit {
    stream: String,
    hash: String,
    until: Timestamp,
    /// The number of the line that says so.
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct KeyLine {
    hash: String,
    state: KeyState,
}

/// What became of a call under its key, as one line of the key's stream.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyState {
    /// It is being done.
    Begun,
    /// It was done, with this answer.
    Done(Value),
    /// It was not done, and whoever sends it again before that moment gets the same answer.
    Refused(Value, Timestamp),
    /// It was not done, and may be tried again.
    Dropped,
}

/// Calls that are made once, of all callers.
pub(crate) struct Idempotency {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tasks: Arc<Tasks>,
    per_caller_max: u64,
    all_max: u64,
    /// When the log was last told that a bound was reached.
    logged: Mutex<Option<Timestamp>>,
}

impl Idempotency {
    pub(crate) fn new(tasks: Arc<Tasks>, limits: &LimitSettings) -> Self {
        Self {
            store: tasks.store.clone(),
            clock: tasks.clock.clone(),
            tasks,
            per_caller_max: limits.idempotency_keys_per_caller_max.get(),
            all_max: limits.idempotency_keys_max.get(),
            logged: Mutex::new(None),
        }
    }

    /// [`IdempotentCalls::begin_after`] of a caller.
    fn begin_after<'a>(
        &'a self,
        caller: IdempotencyOwner<'a>,
        key: &'a str,
        sent: &'a [u8],
        goes_on: &'a (dyn Fn(&Value) -> bool + Sync),
    ) -> BoxFuture<'a, Result<IdempotencyState, Error>> {
        Box::pin(async move {
            self.tasks.accepting()?;
            if key.is_empty() || key.len() > ONCE_KEY_BYTES_MAX {
                return Err(Error::invalid("idempotency key", format!("has 1 to {ONCE_KEY_BYTES_MAX} bytes")));
            }
            let (now, hash) = (self.clock.now(), sha256_hex(sent));
            let stream = format!("{}{key}", caller.streams());
            let last = match self.last(&stream).await? {
                Some(LastLine { number, line, .. }) if line.is_free(&hash, now, goes_on) => {
                    if number >= ONCE_TRIES_MAX * LINES_PER_TRY {
                        let message =
                            format!("This idempotency key was tried {ONCE_TRIES_MAX} times in vain. Take a new one.");
                        return Ok(IdempotencyState::Refused(too_many(message, ONCE_TTL)));
                    }
                    number
                }
                Some(last) => return Ok(last.known(&hash)),
                None => 0,
            };
            let until = after(now, ONCE_TTL);
            // A key that was tried before is counted already. Counted before it begins: a crash in between leaves a key
            // that counts and was not used, never one that was used and does not count.
            if last == 0
                && let Some(refusal) = self.count(caller, until).await?
            {
                return Ok(IdempotencyState::Refused(refusal));
            }
            let line = KeyLine { hash: hash.clone(), state: KeyState::Begun };
            if let Some(number) = self.write(&stream, &line, until, last).await? {
                return Ok(IdempotencyState::First(IdempotencyPermit { stream, hash, until, number }));
            }
            // Somebody else was first, just now.
            let last = self.last(&stream).await?;
            Ok(last.map_or(IdempotencyState::Unsettled { since: now }, |last| last.known(&hash)))
        })
    }

    async fn settle(&self, begun: IdempotencyPermit, state: KeyState) -> Result<(), Error> {
        let line = KeyLine { hash: begun.hash, state };
        // Where the clock was set meanwhile the line before it has moved, and must not outlast the answer.
        let until = begun.until.max(after(self.clock.now(), ONCE_TTL));
        self.write(&begun.stream, &line, until, begun.number).await.map(|_| ())
    }

    async fn last(&self, stream: &str) -> Result<Option<LastLine>, Error> {
        let newest = self.store.entries(stream, Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok(None) };
        Ok(Some(LastLine { number, at: entry.at, line: serde_json::from_value(entry.body).map_err(Error::internal)? }))
    }

    async fn write(&self, stream: &str, line: &KeyLine, until: Timestamp, last: u64) -> Result<Option<u64>, Error> {
        let body = serde_json::to_value(line).map_err(Error::internal)?;
        let entry = LedgerEntry::new(body, self.clock.now()).until(until);
        Ok(self.store.append_entry(stream, entry, Some(last)).await?)
    }

    /// Counts a key, unless its caller or all callers together have too many.
    async fn count(&self, caller: IdempotencyOwner<'_>, until: Timestamp) -> Result<Option<Box<PolicyPart>>, Error> {
        let now = self.clock.now();
        let own = format!("once-of:{}:{}:{}", caller.name.len(), caller.name, caller.session.unwrap_or_default());
        let own_bound = (own.as_str(), self.per_caller_max, "limits.idempotency_keys_per_caller_max");
        let all_bound = (COUNT_OF_ALL, self.all_max, "limits.idempotency_keys_max");
        // A name costs a stranger nothing: however many come, the other half is for callers that are known.
        let strangers = "half of limits.idempotency_keys_max, for callers that are not signed in,";
        let of_strangers = (COUNT_OF_STRANGERS, self.all_max.div_ceil(2), strangers);
        let bounds: &[_] =
            if caller.is_proven { &[own_bound, all_bound] } else { &[own_bound, of_strangers, all_bound] };
        for &(stream, max, bound) in bounds {
            if let Some(free_at) = self.full(stream, max, now).await? {
                let wait = Duration::try_from(free_at.duration_since(now)).unwrap_or_default();
                self.log(caller.name, bound, max, now);
                let hours = ONCE_TTL.as_secs() / 3600;
                let message = format!("{bound} is reached: {max} idempotency keys within {hours} hours.");
                return Ok(Some(too_many(message, wait)));
            }
        }
        let counted = || LedgerEntry::new(Value::Null, now).until(until);
        // Without comparing the last entry: callers that come at the same moment may pass a bound by a few.
        let appended = bounds.iter().map(|(stream, ..)| self.store.append_entry(stream, counted(), None));
        for appended in futures::future::join_all(appended).await {
            appended?;
        }
        Ok(None)
    }

    /// When there is room again in a stream that counts, if there is none now. Its entries expire in the order
    /// in which they came, so that the first and the last number tell how many there are.
    async fn full(&self, stream: &str, max: u64, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let first = self.store.entries(stream, Span::After(0), 1, now).await?;
        let last = self.store.entries(stream, Span::Before(u64::MAX), 1, now).await?;
        let (Some((first, oldest)), Some((last, _))) = (first.first(), last.first()) else { return Ok(None) };
        let is_full = last.saturating_sub(*first) + 1 >= max;
        Ok(is_full.then(|| oldest.expires_at.unwrap_or(now)))
    }

    /// Tells the operator, now and then, that a bound was reached.
    fn log(&self, caller: &str, bound: &str, max: u64, now: Timestamp) {
        let mut logged = self.logged.lock();
        let is_due =
            logged.is_none_or(|at| Duration::try_from(now.duration_since(at)).is_ok_and(|age| age >= LOG_PAUSE));
        if is_due {
            *logged = Some(now);
            tracing::warn!(caller, bound, max, "calls are refused, since too many idempotency keys are remembered");
        }
    }
}

/// The calls that one caller makes once.
#[derive(Clone, Copy)]
pub struct IdempotentCalls<'a> {
    all: &'a Idempotency,
    caller: IdempotencyOwner<'a>,
}

impl<'a> IdempotentCalls<'a> {
    pub(crate) fn new(all: &'a Idempotency, caller: IdempotencyOwner<'a>) -> Self {
        Self { all, caller }
    }

    /// Begins something under a key of the caller; `sent` is all that makes it this and nothing else.
    /// Written before anything is done, so that it outlives a crash. Refused when the caller's session has
    /// used [`LimitSettings::idempotency_keys_per_caller_max`] keys within [`ONCE_TTL`], all together
    /// [`LimitSettings::idempotency_keys_max`], or this one was tried [`ONCE_TRIES_MAX`] times in vain. Fails
    /// with [`Error::Invalid`] when the key is empty or too long, with [`Error::Unavailable`] while the host drains.
    pub fn begin(self, key: &'a str, sent: &'a [u8]) -> BoxFuture<'a, Result<IdempotencyState, Error>> {
        self.begin_after(key, sent, &|_| false)
    }

    /// The same for something that may go on from a refusal which was kept ([`Self::settle_refusal`]):
    /// whether it does is for `goes_on` to say, by the answer that was kept.
    pub fn begin_after(
        self,
        key: &'a str,
        sent: &'a [u8],
        goes_on: &'a (dyn Fn(&Value) -> bool + Sync),
    ) -> BoxFuture<'a, Result<IdempotencyState, Error>> {
        self.all.begin_after(self.caller, key, sent, goes_on)
    }

    /// Keeps the answer of what was begun, for whoever sends it again. `None`: it was not done, for a
    /// reason that may pass, and may be sent again.
    pub fn settle(self, begun: IdempotencyPermit, answer: Option<Value>) -> BoxFuture<'a, Result<(), Error>> {
        debug_assert!(
            begun.stream.starts_with(&self.caller.streams()),
            "a permit is settled by whoever it was given to"
        );
        Box::pin(self.all.settle(begun, answer.map_or(KeyState::Dropped, KeyState::Done)))
    }

    /// Keeps the answer of what was begun and refused, for whoever sends it again before `until`. From then on
    /// it may be tried again.
    pub fn settle_refusal(
        self,
        begun: IdempotencyPermit,
        answer: Value,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), Error>> {
        debug_assert!(
            begun.stream.starts_with(&self.caller.streams()),
            "a permit is settled by whoever it was given to"
        );
        Box::pin(self.all.settle(begun, KeyState::Refused(answer, until)))
    }
}

impl KeyLine {
    /// Whether the key may be used anew, since nothing was done under it.
    fn is_free(&self, hash: &str, now: Timestamp, goes_on: &(dyn Fn(&Value) -> bool + Sync)) -> bool {
        match &self.state {
            // A line that only began may be from before a crash: the call may have been made, and is not made twice.
            KeyState::Begun | KeyState::Done(_) => false,
            KeyState::Refused(answer, until) => *until <= now || (self.hash == hash && goes_on(answer)),
            KeyState::Dropped => true,
        }
    }
}

/// The last line of a key's stream.
struct LastLine {
    number: u64,
    /// When it was written.
    at: Timestamp,
    line: KeyLine,
}

impl LastLine {
    /// What it says to a call that may not begin.
    fn known(self, hash: &str) -> IdempotencyState {
        match self.line.state {
            // First of all, whatever came of it: the answer to another request would be a wrong one.
            _ if self.line.hash != hash => IdempotencyState::Other,
            KeyState::Done(answer) | KeyState::Refused(answer, _) => IdempotencyState::Again(answer),
            KeyState::Begun | KeyState::Dropped => IdempotencyState::Unsettled { since: self.at },
        }
    }
}

/// The refusal of one key too many.
fn too_many(message: String, wait: Duration) -> Box<PolicyPart> {
    let seconds = whole_seconds(wait);
    let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(seconds) };
    let message = format!("{message} Try again in {seconds} s, or call without a key.");
    Box::new(PolicyPart { code: Some("mentionable:rate_limited".to_owned()), ..PolicyPart::new(kind, message) })
}
