//! Which sessions may rest: kept at hand, so that a request of one that goes on costs no look into the
//! store.
//!
//! Names are written into one stream as sessions are suspended, and read back when this process first
//! needs them. Whether a session of this list still rests is for its own stream to say.

use std::collections::HashMap;

use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::{ENTRIES_PER_READ_MAX, Host};
use parking_lot::RwLock;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::NAME;
use crate::limits::SESSIONS_RESTING_MAX;

const STREAM: &str = "resting";

/// The streams of sessions that were suspended, each with when it wakes by itself.
#[derive(Default)]
pub(crate) struct Resting {
    is_read: OnceCell<()>,
    until: RwLock<HashMap<String, Timestamp>>,
}

impl Resting {
    /// Whether the session of a stream was suspended, and its time has not come.
    pub(super) async fn may_rest(&self, host: &Host, stream: &str) -> Result<bool, Error> {
        self.is_read.get_or_try_init(|| self.read(host)).await?;
        let now = host.clock().now();
        Ok(self.until.read().get(stream).is_some_and(|until| *until > now))
    }

    /// Adds a session, before it rests. Fails with [`Error::Unavailable`] when too many do.
    pub(super) async fn add(&self, host: &Host, stream: &str, until: Timestamp) -> Result<(), Error> {
        self.is_read.get_or_try_init(|| self.read(host)).await?;
        let now = host.clock().now();
        {
            let mut known = self.until.write();
            if known.len() >= SESSIONS_RESTING_MAX {
                known.retain(|_, until| *until > now);
            }
            if known.len() >= SESSIONS_RESTING_MAX {
                return Err(Error::Unavailable { retry_after: None });
            }
            known.insert(stream.to_owned(), until);
        }
        host.write_entry(NAME, STREAM, json!({"stream": stream}), Some(until), None).await?;
        Ok(())
    }

    async fn read(&self, host: &Host) -> Result<(), Error> {
        let mut last = 0;
        loop {
            let page = host.read_entries(NAME, STREAM, Span::After(last), ENTRIES_PER_READ_MAX).await?;
            let is_whole = page.len() < ENTRIES_PER_READ_MAX;
            let mut known = self.until.write();
            for (number, entry) in page {
                last = number;
                let stream = entry.body.get("stream").and_then(Value::as_str);
                if let (Some(stream), Some(until)) = (stream, entry.expires_at) {
                    known.insert(stream.to_owned(), until);
                }
            }
            if is_whole {
                return Ok(());
            }
        }
    }
}
