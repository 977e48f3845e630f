//! The sessions with one server: who has which, how many there are, and which one ends for another.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::session::Session;
use crate::elicit::Modes;
use crate::limits::{SERVER_SESSION_IDLE, SERVER_SESSIONS_PER_CALLER_MAX};

/// Whose a session is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    /// Everybody's.
    All,
    /// One caller's.
    Caller(SessionOwner),
}

/// A caller, as sessions are kept for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionOwner {
    /// What its calls have in common.
    pub(crate) key: String,
    /// What all of its sessions are counted by.
    pub(crate) counted_by: String,
}

/// What a session is found by: who has it, and what the person behind it can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionKey {
    pub(crate) whose: Whose,
    pub(crate) modes: Modes,
}

/// A session with a server, opened when it is first used. Who holds it keeps it from ending for another.
pub(crate) type SessionSlot = Arc<tokio::sync::Mutex<Option<Arc<Session>>>>;

struct Place {
    slot: SessionSlot,
    used_at: Instant,
}

/// The sessions with one server.
pub(crate) struct Sessions {
    places: Mutex<HashMap<SessionKey, Place>>,
    max: usize,
}

impl Sessions {
    pub(crate) fn new(max: usize) -> Self {
        Self { places: Mutex::default(), max }
    }

    /// The session of a key. Where there are enough, of the caller or in all, the one longest unused ends; `None` when
    /// all of them are in use.
    pub(crate) fn slot(&self, key: &SessionKey) -> Option<SessionSlot> {
        let mut places = self.places.lock();
        let now = Instant::now();
        if let Some(place) = places.get_mut(key) {
            place.used_at = now;
            return Some(place.slot.clone());
        }
        if let Whose::Caller(owner) = &key.whose {
            let is_same =
                |one: &SessionKey| matches!(&one.whose, Whose::Caller(other) if other.counted_by == owner.counted_by);
            if places.keys().filter(|one| is_same(one)).count() >= SERVER_SESSIONS_PER_CALLER_MAX {
                end_oldest(&mut places, is_same)?;
            }
        }
        if places.len() >= self.max {
            end_oldest(&mut places, |_| true)?;
        }
        let slot = SessionSlot::default();
        places.insert(key.clone(), Place { slot: slot.clone(), used_at: now });
        Some(slot)
    }

    /// Ends what nobody has used for long.
    pub(crate) fn end_idle(&self) {
        let now = Instant::now();
        let is_kept = |place: &Place| is_in_use(place) || now - place.used_at < SERVER_SESSION_IDLE;
        self.places.lock().retain(|_, place| is_kept(place));
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.places.lock().len()
    }
}

fn is_in_use(place: &Place) -> bool {
    Arc::strong_count(&place.slot) > 1
}

fn end_oldest(places: &mut HashMap<SessionKey, Place>, is_meant: impl Fn(&SessionKey) -> bool) -> Option<()> {
    let idle = places.iter().filter(|(key, place)| is_meant(key) && !is_in_use(place));
    let oldest = idle.min_by_key(|(_, place)| place.used_at).map(|(key, _)| key.clone())?;
    places.remove(&oldest).map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::limits::SESSIONS_PER_SERVER_MAX;

    fn key(caller: &str, session: usize) -> SessionKey {
        let owner = SessionOwner { key: format!("{caller}{session}"), counted_by: caller.to_owned() };
        SessionKey { whose: Whose::Caller(owner), modes: Modes { form: false, url: false } }
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_so_many_and_the_one_longest_unused_ends_for_another() {
        let sessions = Sessions::new(100);
        let first = sessions.slot(&key("a", 0)).expect("room");
        for n in 1..SERVER_SESSIONS_PER_CALLER_MAX {
            tokio::time::advance(Duration::from_secs(1)).await;
            sessions.slot(&key("a", n)).expect("room");
        }
        sessions.slot(&key("a", SERVER_SESSIONS_PER_CALLER_MAX)).expect("another one ended");
        assert_eq!(sessions.count(), SERVER_SESSIONS_PER_CALLER_MAX);
        let again = sessions.slot(&key("a", 0)).expect("there still");
        assert!(Arc::ptr_eq(&first, &again), "what is in use does not end");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_has_so_many_and_none_that_is_in_use_ends() {
        let sessions = Sessions::new(SESSIONS_PER_SERVER_MAX);
        let one = |n: usize| sessions.slot(&key(&n.to_string(), 0));
        let held: Vec<_> = (0..SESSIONS_PER_SERVER_MAX).map(|n| one(n).expect("room")).collect();
        assert!(one(SESSIONS_PER_SERVER_MAX).is_none());
        drop(held);
        assert!(one(SESSIONS_PER_SERVER_MAX).is_some());
        assert_eq!(sessions.count(), SESSIONS_PER_SERVER_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_uses_ends_after_its_time() {
        let sessions = Sessions::new(2);
        sessions.slot(&key("a", 0)).expect("room");
        tokio::time::advance(SERVER_SESSION_IDLE - Duration::from_secs(1)).await;
        sessions.end_idle();
        assert_eq!(sessions.count(), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        sessions.end_idle();
        assert_eq!(sessions.count(), 0);
    }
}
