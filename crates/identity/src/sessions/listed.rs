//! This module lists open sessions for the operator, by names that open nothing.

use forecourt_core::Timestamp;
use forecourt_core::store::{Span, StoreError};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{Entry, OpenEntry, Sessions, SignedIn, hash, session_stream};
use crate::limits::{SESSIONS_LOOKED_AT_MAX, SESSIONS_PER_READ};

/// The stream with every session that was begun.
const ALL: &str = "sessions-begun";
/// Characters of the hash that names a session.
const NAME_CHARS: usize = 16;

/// An entry of the stream of all.
#[derive(Serialize, Deserialize)]
struct SessionEntry {
    session: String,
}

/// A session that is open.
pub struct ListedSession {
    /// Names it. Opens nothing.
    pub name: String,
    /// Whose it is, and since when.
    pub person: SignedIn,
    /// When it was used last, give or take a part of its idle time.
    pub seen_at: Timestamp,
    /// When it ends at the latest.
    pub until: Timestamp,
}

impl Sessions {
    /// Puts a session that begins on the list.
    pub(super) async fn list(&self, id: &str, until: Timestamp, now: Timestamp) -> Result<(), StoreError> {
        self.append(ALL, &SessionEntry { session: id.to_owned() }, until, None, now).await.map(drop)
    }

    /// The sessions that are open, the last one that was begun first: at most so many, and of the
    /// [`SESSIONS_LOOKED_AT_MAX`] that were begun last.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn open(&self, max: usize, now: Timestamp) -> BoxFuture<'_, Result<Vec<ListedSession>, StoreError>> {
        Box::pin(async move {
            let mut open = Vec::new();
            let mut before = u64::MAX;
            for _ in 0..SESSIONS_LOOKED_AT_MAX / SESSIONS_PER_READ {
                let (ids, next) = self.begun(before, now).await?;
                for id in ids {
                    if open.len() == max {
                        return Ok(open);
                    }
                    open.extend(self.listed(&id, now).await?);
                }
                let Some(next) = next else { break };
                before = next;
            }
            Ok(open)
        })
    }

    /// Ends the session of a name, and with it every token of it; `false` when none of the
    /// [`SESSIONS_LOOKED_AT_MAX`] that were begun last is open under it.
    ///
    /// # Errors
    /// The store can't be asked.
    pub fn end_named<'a>(&'a self, name: &'a str, now: Timestamp) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let mut before = u64::MAX;
            for _ in 0..SESSIONS_LOOKED_AT_MAX / SESSIONS_PER_READ {
                let (ids, next) = self.begun(before, now).await?;
                if let Some(id) = ids.iter().find(|id| name_of(id) == name) {
                    let Some(listed) = self.listed(id, now).await? else { return Ok(false) };
                    self.append(&session_stream(id), &Entry::Ended, listed.until, None, now).await?;
                    return Ok(true);
                }
                let Some(next) = next else { break };
                before = next;
            }
            Ok(false)
        })
    }

    /// Ids of sessions that were begun, the last one first, and where to go on.
    async fn begun(&self, before: u64, now: Timestamp) -> Result<(Vec<String>, Option<u64>), StoreError> {
        let found = self.store.entries(ALL, Span::Before(before), SESSIONS_PER_READ, now).await?;
        let next = found.last().filter(|_| found.len() == SESSIONS_PER_READ).map(|(number, _)| *number);
        let id = |entry| serde_json::from_value::<SessionEntry>(entry).ok().map(|begun| begun.session);
        Ok((found.into_iter().filter_map(|(_, entry)| id(entry.body)).collect(), next))
    }

    async fn listed(&self, id: &str, now: Timestamp) -> Result<Option<ListedSession>, StoreError> {
        let open = self.last_open(id, now).await?;
        Ok(open.map(|(_, open)| {
            let OpenEntry { person, until, seen: seen_at } = open;
            ListedSession { name: name_of(id), person, seen_at, until }
        }))
    }
}

fn name_of(id: &str) -> String {
    hash(id).chars().take(NAME_CHARS).collect()
}
