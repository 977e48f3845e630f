//! Sessions that every node of a deployment goes on with: what was agreed at the handshake, and whose each is, in a
//! stream of the ledger for each session. The last entry counts.
//!
//! What a node has of a session is a cache, made anew from the handshake where a request meets a node that has not
//! seen it. Events that were sent on a stream, and answers to questions on the way, are with the node that sent them.

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, Sender, Timestamp};
use forecourt_host::Ledger;
use rmcp::model::InitializeRequestParams;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits::{SESSION_KEPT, SESSION_NOTED_EVERY};

pub(super) const PROTOCOL: &str = "mcp";
/// Attempts to write behind the last entry while others do so too.
const ATTEMPTS_MAX: usize = 8;

/// The sessions of all nodes.
#[derive(Clone)]
pub(crate) struct SharedSessions {
    ledger: Ledger,
}

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SessionRecord {
    /// The parameters of the handshake.
    initialize: Value,
    /// Who began it or was the first to show who it is.
    owner: Option<String>,
    /// Whether a client ended it.
    ended: bool,
}

impl SharedSessions {
    pub(crate) fn new(ledger: Ledger) -> Self {
        Self { ledger }
    }

    /// Keeps a session that has begun with these parameters.
    pub(crate) async fn begin(
        &self,
        id: &str,
        initialize: Value,
        sender: &Sender,
        now: Timestamp,
    ) -> Result<(), Error> {
        let owner = sender.owner().map(str::to_owned);
        let record = SessionRecord { initialize, owner, ended: false };
        self.write(id, &record, sender, now, 0).await.map(drop)
    }

    /// Whether a session goes on and is this sender's. One that was begun by nobody in particular belongs to the
    /// first who shows who it is, on whichever node.
    pub(crate) async fn is_of(&self, id: &str, sender: &Sender, now: Timestamp) -> Result<bool, Error> {
        for _ in 0..ATTEMPTS_MAX {
            // Read anew in each round: when another node wrote behind this entry, what it wrote decides.
            let Some((number, at, record)) = self.last(id).await? else { return Ok(false) };
            let owner = sender.owner();
            let is_first = record.owner.is_none() && owner.is_some();
            if record.ended || !(is_first || record.owner.as_deref() == owner) {
                return Ok(false);
            }
            if !is_first && now.duration_since(at).unsigned_abs() < SESSION_NOTED_EVERY {
                return Ok(true);
            }
            // It is kept for as long again, and bound.
            let record = SessionRecord { owner: owner.map(str::to_owned), ..record };
            if self.write(id, &record, sender, now, number).await? {
                return Ok(true);
            }
        }
        Err(Error::unavailable())
    }

    async fn last(&self, id: &str) -> Result<Option<(u64, Timestamp, SessionRecord)>, Error> {
        let found = self.ledger.entries(&stream(id), Span::Before(u64::MAX), 1).await?;
        Ok(found
            .into_iter()
            .next()
            .and_then(|(number, LedgerEntry { at, body, .. })| Some((number, at, serde_json::from_value(body).ok()?))))
    }

    /// Whether `last` was still the last entry, and this one is now.
    async fn write(
        &self,
        id: &str,
        record: &SessionRecord,
        sender: &Sender,
        now: Timestamp,
        last: u64,
    ) -> Result<bool, Error> {
        let account = sender.account();
        let until = now.checked_add(SESSION_KEPT).ok();
        let body = json!(record);
        Ok(self.ledger.append_on(account, &stream(id), body, until, Some(last)).await?.is_some())
    }
}

fn stream(id: &str) -> String {
    format!("session:{id}")
}

/// What the SDK makes a session anew from. That one begins is written with whose it is, by [`SharedSessions::begin`].
#[async_trait::async_trait]
impl SessionStore for SharedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some((_, _, record)) = self.last(id).await? else { return Ok(None) };
        if record.ended {
            return Ok(None);
        }
        let params: InitializeRequestParams = serde_json::from_value(record.initialize)?;
        Ok(Some(SessionState::new(params)))
    }

    async fn store(&self, _: &str, _: &SessionState) -> Result<(), SessionStoreError> {
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        // Whoever may end it was asked before.
        let Some((_, at, record)) = self.last(id).await? else { return Ok(()) };
        let record = SessionRecord { initialize: Value::Null, ended: true, ..record };
        // Later than any earlier entry expires: if this one went first, the session would be open again.
        let until = at.checked_add(SESSION_KEPT + SESSION_NOTED_EVERY).ok();
        self.ledger.append(&stream(id), json!(record), until, None).await?;
        Ok(())
    }
}
