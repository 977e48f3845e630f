//! Sessions of the console: somebody has shown who they are, and a cookie says so for a while.
//!
//! A session is a stream of the ledger, named by the hash of what its cookie holds, whose last entry counts: it holds
//! on every node, and a copy of the store opens nothing. It is bound to what opened it, which each request asks again:
//! a token that was changed ends it, and so do settings by which a person would not be let in any more.

use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use forecourt_host::{Host, Ledger};
use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::address::Way;
use crate::api_error::ApiError;
use crate::cookie;
use crate::limits::{SESSION_IDLE, SESSION_LIFETIME, SESSION_TOUCH, SESSIONS_LISTED_MAX};
use crate::provider::RoleEvidence;
use crate::role::Role;
use crate::secret::SessionSecret;

/// Whose streams these are in the ledger.
pub(crate) const OWNER: &str = "admin";
/// The stream with every session that was begun.
const ALL: &str = "sessions";
/// Characters of a session's hash that name it to operators.
const NAME_CHARS: usize = 16;

/// A login session of the console, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    /// The name of the person, as the provider gives it, or of the token's holder.
    pub(crate) who: String,
    /// What they could do when they logged in. It never becomes more.
    pub(crate) role: Role,
    /// What opened it.
    pub(crate) opened_by: OpenedBy,
    /// Whether its browser came over https: a cookie of the other way does not open it.
    pub(crate) way: Way,
    /// When it was begun.
    pub(crate) begun_at: Timestamp,
    /// When it ends unless it goes on.
    pub(crate) until: Timestamp,
}

/// The credential that opened a session; each request checks that it would still open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpenedBy {
    /// A token, by its mark.
    Token { mark: String },
    /// A provider and our name there, by their mark, with what it said of the person that gave a role.
    Provider { mark: String, held: Vec<RoleEvidence> },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Open(Session),
    Ended,
}

/// An entry of the stream of all.
#[derive(Serialize, Deserialize)]
struct SessionEntry {
    hash: String,
}

/// Who begins one, and by what.
pub(crate) struct NewSession {
    pub(crate) who: String,
    pub(crate) role: Role,
    pub(crate) opened_by: OpenedBy,
    pub(crate) way: Way,
}

/// A session that is open, by its cookie.
pub(crate) struct OpenSession {
    pub(crate) session: Session,
    /// What names it in the store.
    pub(crate) hash: String,
    /// What forms of this session carry.
    pub(crate) csrf: String,
}

/// Begins one in place of what the browser had before, and gives what its cookie holds.
pub(crate) async fn begin(host: &Host, headers: &HeaderMap, new: NewSession) -> Result<SessionSecret, ApiError> {
    // A session that the browser had is ended and not adopted: somebody else may have planted its cookie.
    end(host, headers).await?;
    let (now, secret) = (host.clock().now(), SessionSecret::mint(&**host.entropy()));
    let (hash, until) = (secret.hash(), after(now, SESSION_IDLE));
    let NewSession { who, role, opened_by, way } = new;
    let session = Session { who, role, opened_by, way, begun_at: now, until };
    // By the hash: whoever reads the store, or a copy of it, can't make a cookie from it.
    write(&host.ledger(OWNER), &hash, &Entry::Open(session), until, None).await?;
    // A list beside the streams: a ledger is read by the name of a stream and has no list of them.
    let listed = serde_json::to_value(SessionEntry { hash }).unwrap_or_default();
    host.ledger(OWNER).append(ALL, listed, Some(after(now, SESSION_LIFETIME)), None).await?;
    Ok(secret)
}

/// The session of a cookie, if it is open. It goes on by being used.
pub(crate) async fn opened(host: &Host, headers: &HeaderMap) -> Result<Option<OpenSession>, ApiError> {
    let Some((way, secret)) = cookie::session(headers) else { return Ok(None) };
    let hash = secret.hash();
    let Some((number, mut session)) = open_one(host, &hash).await?.filter(|(_, session)| session.way == way) else {
        return Ok(None);
    };
    let goes_on = after(host.clock().now(), SESSION_IDLE).min(after(session.begun_at, SESSION_LIFETIME));
    if goes_on > after(session.until, SESSION_TOUCH) {
        // Written at most once in `SESSION_TOUCH`: a page that polls would else write with each request.
        session.until = goes_on;
        // Only if nothing was written in between: a session that was ended at this moment must not open again.
        write(&host.ledger(OWNER), &hash, &Entry::Open(session.clone()), goes_on, Some(number)).await?;
    }
    Ok(Some(OpenSession { session, hash, csrf: secret.csrf() }))
}

/// The session of a hash, if it is open. It does not go on by that.
pub(crate) async fn by_hash(host: &Host, hash: &str) -> Result<Option<Session>, ApiError> {
    Ok(open_one(host, hash).await?.map(|(_, session)| session))
}

/// Ends the session of a cookie.
pub(crate) async fn end(host: &Host, headers: &HeaderMap) -> Result<(), ApiError> {
    match cookie::session(headers) {
        Some((_, secret)) => end_hash(host, &secret.hash()).await,
        None => Ok(()),
    }
}

/// Ends a session by its name; `false` when there is none that is open.
pub(crate) async fn end_named(host: &Host, name: &str) -> Result<bool, ApiError> {
    for (hash, _) in all(host).await? {
        if hash.get(..NAME_CHARS) == Some(name) {
            return end_hash(host, &hash).await.map(|()| true);
        }
    }
    Ok(false)
}

/// The sessions that are open, by their names, the last one first.
pub(crate) async fn open(host: &Host) -> Result<Vec<(String, Session)>, ApiError> {
    let named = |(hash, session): (String, Session)| (hash.chars().take(NAME_CHARS).collect(), session);
    Ok(all(host).await?.into_iter().map(named).collect())
}

async fn all(host: &Host) -> Result<Vec<(String, Session)>, ApiError> {
    let begun = host.ledger(OWNER).entries(ALL, Span::Before(u64::MAX), SESSIONS_LISTED_MAX).await?;
    let mut open = Vec::new();
    for (_, entry) in begun {
        let Ok(SessionEntry { hash }) = serde_json::from_value(entry.body) else { continue };
        if let Some((_, session)) = open_one(host, &hash).await? {
            open.push((hash, session));
        }
    }
    Ok(open)
}

/// Ends what is open; what is not is left alone, so that cookies of no meaning write nothing.
async fn end_hash(host: &Host, hash: &str) -> Result<(), ApiError> {
    if open_one(host, hash).await?.is_none() {
        return Ok(());
    }
    // The end is kept for as long as the session could have lasted: if it lapsed first, the open entry before it would
    // count again.
    let until = after(host.clock().now(), SESSION_LIFETIME);
    write(&host.ledger(OWNER), hash, &Entry::Ended, until, None).await
}

/// The session of a hash that has not ended, with the number of what says so.
async fn open_one(host: &Host, hash: &str) -> Result<Option<(u64, Session)>, ApiError> {
    let now = host.clock().now();
    let last = host.ledger(OWNER).last(&stream(hash)).await?;
    Ok(last.and_then(|(number, entry)| match serde_json::from_value(entry.body) {
        Ok(Entry::Open(session)) if session.until > now => Some((number, session)),
        _ => None,
    }))
}

/// Writes an entry; with `last`, only if that is still the last one.
async fn write(
    ledger: &Ledger,
    hash: &str,
    entry: &Entry,
    until: Timestamp,
    last: Option<u64>,
) -> Result<(), ApiError> {
    let body = serde_json::to_value(entry).unwrap_or_default();
    ledger.append(&stream(hash), body, Some(until), last).await?;
    Ok(())
}

fn stream(hash: &str) -> String {
    format!("session:{hash}")
}

fn after(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}
