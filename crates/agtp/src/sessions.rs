//! Sessions that rest, as they are kept: what SUSPEND writes, and what every request of a session is held
//! against. Base 3.1, 3.4.

mod resting;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use forecourt_agtp_wire::status::Status;
use forecourt_core::{Error, Timestamp};
use forecourt_host::{Host, Ledger};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::NAME;
use crate::ask::Ask;
use crate::reply::Problem;

pub(crate) use resting::Resting;

/// The parameter that wakes a session.
pub(crate) const NONCE: &str = "resumption_nonce";

/// An entry in the stream of a session. The last one counts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionEntry {
    /// The session was suspended.
    Rests(Suspension),
    /// The session was resumed before its time.
    Resumed,
}

/// A session's rest.
#[derive(Serialize, Deserialize)]
pub(crate) struct Suspension {
    /// The id of this suspension, as its caller is told it.
    pub suspension_id: String,
    /// SHA-256 of the nonce, which itself is kept nowhere.
    nonce_hash: String,
    /// When the session goes on by itself.
    pub resume_by: Timestamp,
    /// Why it rests.
    pub reason: String,
    /// Data of the caller's own, given back when the session is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Value>,
}

/// Access to the stored sessions and to the clock, and to nothing else of the host.
#[derive(Clone, Copy)]
pub(crate) struct SessionLedger<'a>(&'a Host);

impl<'a> SessionLedger<'a> {
    /// That of a host.
    pub(crate) fn of(host: &'a Host) -> Self {
        Self(host)
    }

    fn ledger(self) -> Ledger {
        self.0.ledger(NAME)
    }

    fn now(self) -> Timestamp {
        self.0.clock().now()
    }
}

/// The session of an agent.
#[derive(Clone, Copy)]
pub(crate) struct SessionName<'a> {
    /// The Agent-ID of the caller whose it is.
    pub agent: &'a str,
    /// What the caller calls it.
    pub session: &'a str,
}

impl Suspension {
    /// A rest until a moment, which whoever has the nonce may end.
    pub(crate) fn new(suspension_id: String, nonce: &str, resume_by: Timestamp, reason: &str) -> Self {
        Self { suspension_id, nonce_hash: hash(nonce), resume_by, reason: reason.to_owned(), checkpoint: None }
    }

    /// Whether a nonce is the one that was told when the session was suspended.
    pub(crate) fn is_ended_by(&self, nonce: &str) -> bool {
        // In constant time, so that nobody learns the hash byte by byte.
        verify_slices_are_equal(self.nonce_hash.as_bytes(), hash(nonce).as_bytes()).is_ok()
    }
}

impl SessionName<'_> {
    /// The last entry of the session and its number, 0 where there is none.
    pub(crate) async fn last(self, sessions: SessionLedger<'_>) -> Result<(u64, Option<SessionEntry>), Error> {
        let found = sessions.ledger().last(&self.stream()).await?;
        Ok(found.map_or((0, None), |(number, entry)| (number, serde_json::from_value(entry.body).ok())))
    }

    /// Writes an entry after the one that was seen last. `false`: somebody else was first.
    pub(crate) async fn write(
        self,
        sessions: SessionLedger<'_>,
        entry: &SessionEntry,
        until: Timestamp,
        last: u64,
    ) -> Result<bool, Error> {
        let written = sessions.ledger().append(&self.stream(), json!(entry), Some(until), Some(last)).await?;
        Ok(written.is_some())
    }

    fn stream(self) -> String {
        // The length keeps apart names that have a colon in them.
        format!("session:{}:{}:{}", self.agent.len(), self.agent, self.session)
    }
}

/// Whether the session that a request belongs to goes on. Base 3.1, SUSPEND.
///
/// # Errors
/// 409 while it rests, with when it goes on.
pub(crate) async fn require_active(resting: &Resting, sessions: SessionLedger<'_>, ask: &Ask) -> Result<(), Problem> {
    let call = &ask.call;
    // Who is not known under its name learns nothing of that name's sessions.
    let (Some(caller), Some(session)) = (&ask.known, call.thread.session_id.as_deref()) else { return Ok(()) };
    let name = SessionName { agent: caller.agent_id.as_str(), session };
    // The one request that a resting session takes, since it ends the rest.
    if call.method == "SUSPEND" && call.body.contains_key(NONCE) {
        return Ok(());
    }
    if !resting.may_rest(sessions, name).await? {
        return Ok(());
    }
    let (_, Some(SessionEntry::Rests(rest))) = name.last(sessions).await? else { return Ok(()) };
    let message = "this session rests: SUSPEND it with its `resumption_nonce` to go on, or come back later";
    Err(Problem::new(Status::CONFLICT, "session-suspended", message)
        .with("suspension_id", rest.suspension_id)
        .with("resume_by", json!(rest.resume_by)))
}

fn hash(nonce: &str) -> String {
    base64url(digest(&SHA256, nonce.as_bytes()).as_ref())
}

/// Bytes in base64url, without padding.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}
