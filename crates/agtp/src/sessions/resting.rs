//! Which sessions may rest: kept at hand, so that a request of one that goes on costs no look into the
//! store.
//!
//! Names are written into one stream as sessions are suspended, by whichever process does; the end of the
//! stream is read anew when nobody has for [`RESTING_AGE_MAX`]. Whether a session of this list still rests
//! is for its own stream to say.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::ENTRIES_PER_READ_MAX;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

use super::{SessionLedger, SessionName};
use crate::limits::{RESTING_AGE_MAX, SESSIONS_RESTING_MAX, SESSIONS_RESTING_PER_AGENT_MAX};

const STREAM: &str = "resting";

/// A cache of the sessions that were suspended, so that requests of other sessions don't ask the store.
#[derive(Default)]
pub(crate) struct Resting {
    /// How far the stream was read. Who reads on holds it.
    read: Mutex<StreamPosition>,
    known: RwLock<RestingCache>,
}

/// How far the stream was read.
#[derive(Default)]
struct StreamPosition {
    /// The number of the last entry, 0 for none.
    last: u64,
    /// When all of what was read has expired; nothing of nothing has.
    until: Option<Timestamp>,
}

/// What is at hand.
#[derive(Default)]
struct RestingCache {
    /// When the stream was read to its end; never, to begin with.
    read_at: Option<Timestamp>,
    sessions: Sessions,
}

/// Sessions by their agents, each with when it wakes by itself.
#[derive(Default)]
struct Sessions(HashMap<String, HashMap<String, Timestamp>>);

/// What is written of one, until it would wake by itself.
#[derive(Serialize, Deserialize)]
struct StoredSession {
    agent: String,
    session: String,
    /// Whether it woke before that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    woke: bool,
}

impl Resting {
    /// Whether a session of an agent was suspended, and its time has not come.
    pub(crate) async fn may_rest(&self, sessions: SessionLedger<'_>, name: SessionName<'_>) -> Result<bool, Error> {
        self.read(sessions).await?;
        let until = self.known.read().sessions.0.get(name.agent).and_then(|own| own.get(name.session).copied());
        Ok(until.is_some_and(|until| until > sessions.now()))
    }

    /// Adds a session of an agent, before it rests. Fails with [`Error::Unavailable`] when too many do.
    pub(crate) async fn add(
        &self,
        sessions: SessionLedger<'_>,
        name: SessionName<'_>,
        until: Timestamp,
    ) -> Result<(), Error> {
        self.read(sessions).await?;
        if !self.known.write().sessions.add(name, until, sessions.now()) {
            return Err(Error::unavailable());
        }
        self.write(sessions, name, until, false).await
    }

    /// Forgets a session that was to rest until a moment, and woke before.
    pub(crate) async fn remove(&self, sessions: SessionLedger<'_>, name: SessionName<'_>, until: Timestamp) {
        self.known.write().sessions.remove(name, until);
        if let Err(error) = self.write(sessions, name, until, true).await {
            // Others go on to look into its own stream, which says that it goes on.
            tracing::warn!(%error, "that a session woke was not written down for other processes");
        }
    }

    async fn write(
        &self,
        sessions: SessionLedger<'_>,
        name: SessionName<'_>,
        until: Timestamp,
        woke: bool,
    ) -> Result<(), Error> {
        let line = StoredSession { agent: name.agent.to_owned(), session: name.session.to_owned(), woke };
        sessions.ledger().append(STREAM, json!(line), Some(until), None).await?;
        Ok(())
    }

    /// Reads what was written since the last time, unless that was a moment ago.
    async fn read(&self, sessions: SessionLedger<'_>) -> Result<(), Error> {
        if self.is_fresh(sessions.now()) {
            return Ok(());
        }
        let mut read = self.read.lock().await;
        let now = sessions.now();
        // Somebody else may have read while this one waited for its turn.
        if self.is_fresh(now) {
            return Ok(());
        }
        if let Some((number, _)) = sessions.ledger().last(STREAM).await? {
            // Once all of a stream has expired it begins anew, and its numbers may be beyond the old ones already.
            if read.until.is_some_and(|until| until <= sessions.now()) {
                *read = StreamPosition::default();
            }
            if number > read.last {
                self.known.write().sessions.forget(now);
                self.read_on(sessions, &mut read).await?;
            }
        }
        self.known.write().read_at = Some(now);
        Ok(())
    }

    async fn read_on(&self, sessions: SessionLedger<'_>, read: &mut StreamPosition) -> Result<(), Error> {
        loop {
            let page = sessions.ledger().entries(STREAM, Span::After(read.last), ENTRIES_PER_READ_MAX).await?;
            let is_whole = page.len() < ENTRIES_PER_READ_MAX;
            let mut known = self.known.write();
            for (number, entry) in page {
                read.last = number;
                read.until = read.until.max(entry.expires_at);
                let line = serde_json::from_value::<StoredSession>(entry.body).ok();
                if let (Some(line), Some(until)) = (line, entry.expires_at) {
                    known.sessions.learn(line, until);
                }
            }
            if is_whole {
                return Ok(());
            }
        }
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        let read_at = self.known.read().read_at;
        let age = read_at.and_then(|at| Duration::try_from(now.duration_since(at)).ok());
        age.is_some_and(|age| age <= RESTING_AGE_MAX)
    }
}

impl Sessions {
    /// Takes over what was written.
    fn learn(&mut self, StoredSession { agent, session, woke }: StoredSession, until: Timestamp) {
        match woke {
            true => self.remove(SessionName { agent: &agent, session: &session }, until),
            false => drop(self.0.entry(agent).or_default().insert(session, until)),
        }
    }

    /// Forgets a session, unless it was suspended again until another moment.
    fn remove(&mut self, name: SessionName<'_>, until: Timestamp) {
        if let Some(own) = self.0.get_mut(name.agent)
            && own.get(name.session) == Some(&until)
        {
            own.remove(name.session);
        }
    }

    /// Forgets those whose time has come.
    fn forget(&mut self, now: Timestamp) {
        self.0.values_mut().for_each(|own| own.retain(|_, until| *until > now));
        self.0.retain(|_, own| !own.is_empty());
    }

    /// `false`: there is no room.
    fn add(&mut self, name: SessionName<'_>, until: Timestamp, now: Timestamp) -> bool {
        if !self.has_room(name.agent) {
            self.forget(now);
        }
        let has_room = self.has_room(name.agent);
        if has_room {
            self.0.entry(name.agent.to_owned()).or_default().insert(name.session.to_owned(), until);
        }
        has_room
    }

    fn has_room(&self, agent: &str) -> bool {
        let own = self.0.get(agent).map_or(0, HashMap::len);
        let all: usize = self.0.values().map(HashMap::len).sum();
        own < SESSIONS_RESTING_PER_AGENT_MAX && all < SESSIONS_RESTING_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: i64) -> Timestamp {
        Timestamp::from_second(n).unwrap()
    }

    fn named<'a>(agent: &'a str, session: &'a str) -> SessionName<'a> {
        SessionName { agent, session }
    }

    /// How many of `count` sessions of an agent find room.
    fn added(sessions: &mut Sessions, agent: &str, count: usize) -> usize {
        (0..count).filter(|n| sessions.add(named(agent, &n.to_string()), second(60), second(0))).count()
    }

    #[test]
    fn no_agent_takes_the_room_of_all() {
        let mut sessions = Sessions::default();
        assert_eq!(added(&mut sessions, "a", SESSIONS_RESTING_PER_AGENT_MAX + 1), SESSIONS_RESTING_PER_AGENT_MAX);
        assert!(sessions.add(named("b", "s"), second(60), second(0)));
        assert!(sessions.add(named("a", "s"), second(90), second(60)), "those whose time has come make room");
    }

    #[test]
    fn so_many_sessions_rest_at_once() {
        let mut sessions = Sessions::default();
        let agents = SESSIONS_RESTING_MAX / SESSIONS_RESTING_PER_AGENT_MAX;
        for agent in 0..agents {
            let count = SESSIONS_RESTING_PER_AGENT_MAX;
            assert_eq!(added(&mut sessions, &agent.to_string(), count), count);
        }
        assert!(!sessions.add(named("one more", "s"), second(60), second(0)));
    }

    #[test]
    fn what_others_wrote_is_forgotten_when_its_time_has_come() {
        let mut sessions = Sessions::default();
        for (agent, session, until) in [("a", "s", 60), ("a", "t", 90), ("b", "s", 60)] {
            let line = StoredSession { agent: agent.to_owned(), session: session.to_owned(), woke: false };
            sessions.learn(line, second(until));
        }
        sessions.forget(second(59));
        assert_eq!((sessions.0.len(), sessions.0["a"].len()), (2, 2));
        sessions.forget(second(60));
        assert_eq!((sessions.0.len(), sessions.0["a"].len()), (1, 1));
    }

    #[test]
    fn a_session_that_woke_makes_room_unless_it_was_suspended_again() {
        let mut sessions = Sessions::default();
        assert!(sessions.add(named("a", "s"), second(60), second(0)));
        sessions.remove(named("a", "s"), second(30));
        assert_eq!(sessions.0["a"].len(), 1);
        sessions.remove(named("a", "s"), second(60));
        assert_eq!(sessions.0["a"].len(), 0);
    }
}
