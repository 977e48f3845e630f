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
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::OnceCell;

use crate::NAME;
use crate::limits::{SESSIONS_RESTING_MAX, SESSIONS_RESTING_PER_AGENT_MAX};

const STREAM: &str = "resting";

/// The sessions that were suspended.
#[derive(Default)]
pub(crate) struct Resting {
    is_read: OnceCell<()>,
    known: RwLock<Sessions>,
}

/// Sessions by their agents, each with when it wakes by itself.
#[derive(Default)]
struct Sessions(HashMap<String, HashMap<String, Timestamp>>);

/// What is written of one.
#[derive(Serialize, Deserialize)]
struct Suspended {
    agent: String,
    session: String,
}

impl Resting {
    /// Whether a session of an agent was suspended, and its time has not come.
    pub(super) async fn may_rest(&self, host: &Host, (agent, session): (&str, &str)) -> Result<bool, Error> {
        self.is_read.get_or_try_init(|| self.read(host)).await?;
        let until = self.known.read().0.get(agent).and_then(|own| own.get(session).copied());
        Ok(until.is_some_and(|until| until > host.clock().now()))
    }

    /// Adds a session of an agent, before it rests. Fails with [`Error::Unavailable`] when too many do.
    pub(super) async fn add(&self, host: &Host, (agent, session): (&str, &str), until: Timestamp) -> Result<(), Error> {
        self.is_read.get_or_try_init(|| self.read(host)).await?;
        if !self.known.write().add((agent, session), until, host.clock().now()) {
            return Err(Error::Unavailable { retry_after: None });
        }
        let line = Suspended { agent: agent.to_owned(), session: session.to_owned() };
        host.write_entry(NAME, STREAM, json!(line), Some(until), None).await?;
        Ok(())
    }

    /// Forgets a session that was to rest until a moment, and woke before.
    pub(super) fn remove(&self, (agent, session): (&str, &str), until: Timestamp) {
        if let Some(own) = self.known.write().0.get_mut(agent)
            && own.get(session) == Some(&until)
        {
            own.remove(session);
        }
    }

    async fn read(&self, host: &Host) -> Result<(), Error> {
        let mut last = 0;
        loop {
            let page = host.read_entries(NAME, STREAM, Span::After(last), ENTRIES_PER_READ_MAX).await?;
            let is_whole = page.len() < ENTRIES_PER_READ_MAX;
            let mut known = self.known.write();
            for (number, entry) in page {
                last = number;
                let line = serde_json::from_value::<Suspended>(entry.body).ok();
                if let (Some(Suspended { agent, session }), Some(until)) = (line, entry.expires_at) {
                    known.0.entry(agent).or_default().insert(session, until);
                }
            }
            if is_whole {
                return Ok(());
            }
        }
    }
}

impl Sessions {
    /// `false`: there is no room.
    fn add(&mut self, (agent, session): (&str, &str), until: Timestamp, now: Timestamp) -> bool {
        if !self.has_room(agent) {
            self.0.values_mut().for_each(|own| own.retain(|_, until| *until > now));
            self.0.retain(|_, own| !own.is_empty());
        }
        let has_room = self.has_room(agent);
        if has_room {
            self.0.entry(agent.to_owned()).or_default().insert(session.to_owned(), until);
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

    /// How many of `count` sessions of an agent find room.
    fn added(sessions: &mut Sessions, agent: &str, count: usize) -> usize {
        (0..count).filter(|n| sessions.add((agent, &n.to_string()), second(60), second(0))).count()
    }

    #[test]
    fn no_agent_takes_the_room_of_all() {
        let mut sessions = Sessions::default();
        assert_eq!(added(&mut sessions, "a", SESSIONS_RESTING_PER_AGENT_MAX + 1), SESSIONS_RESTING_PER_AGENT_MAX);
        assert!(sessions.add(("b", "s"), second(60), second(0)));
        assert!(sessions.add(("a", "s"), second(90), second(60)), "those whose time has come make room");
    }

    #[test]
    fn so_many_sessions_rest_at_once() {
        let mut sessions = Sessions::default();
        let agents = SESSIONS_RESTING_MAX / SESSIONS_RESTING_PER_AGENT_MAX;
        for agent in 0..agents {
            let count = SESSIONS_RESTING_PER_AGENT_MAX;
            assert_eq!(added(&mut sessions, &agent.to_string(), count), count);
        }
        assert!(!sessions.add(("one more", "s"), second(60), second(0)));
    }

    #[test]
    fn a_session_that_woke_makes_room_unless_it_was_suspended_again() {
        let resting = Resting::default();
        assert!(resting.known.write().add(("a", "s"), second(60), second(0)));
        resting.remove(("a", "s"), second(30));
        assert_eq!(resting.known.read().0["a"].len(), 1);
        resting.remove(("a", "s"), second(60));
        assert_eq!(resting.known.read().0["a"].len(), 0);
    }
}
