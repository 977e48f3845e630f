//! Which sessions there are, whose each is, and which one ends so that another can begin. A session that was
//! never used goes first, then one that rests; one that is in use goes for nobody.

use std::cmp::Reverse;
use std::collections::HashMap;

use forecourt_core::{CallerKey, Sender, Timestamp};

use crate::limits::{
    SESSION_RECENTLY_USED, SESSIONS_CROWDED, SESSIONS_MAX, SESSIONS_PER_CALLER_CROWDED_MAX, SESSIONS_PER_CALLER_MAX,
};

/// Why no session can begin: the bound that was reached, and every session under it is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// The caller has as many sessions as it may; the bound.
    Caller(usize),
    /// The host has as many sessions as it may.
    Host,
}

impl Full {
    /// What the caller reads: the bound by its name.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Caller(bound) => {
                format!("{bound} MCP sessions of this caller are in use, which is the bound; end one")
            }
            Self::Host => format!("{SESSIONS_MAX} MCP sessions are in use on this host, which is the bound; try again"),
        }
    }
}

/// A place for a session that is about to begin.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    /// Names it.
    pub(crate) number: u64,
    /// The session that ends for it.
    pub(crate) ends: Option<String>,
}

/// All sessions, by their ids.
#[derive(Default)]
pub(crate) struct Register {
    sessions: HashMap<String, SessionEntry>,
    /// Places of sessions that have no id yet.
    places: HashMap<u64, CallerKey<'static>>,
    last: u64,
}

struct SessionEntry {
    caller: CallerKey<'static>,
    /// When a request of it began or ended last, at first when it was opened.
    used_at: Timestamp,
    /// Whether there was any request after the handshake.
    was_used: bool,
    /// Requests that wait for their answer.
    calls: usize,
    /// Rises with every use: which of two was used later where the clock can't say.
    order: u64,
}

impl SessionEntry {
    /// Whether it may end for another one.
    fn may_end(&self, now: Timestamp) -> bool {
        let rests = || now.duration_since(self.used_at).unsigned_abs() >= SESSION_RECENTLY_USED;
        self.calls == 0 && (!self.was_used || rests())
    }
}

impl Register {
    /// Takes a place for a session of `caller`, if need be that of another session.
    pub(crate) fn reserve(&mut self, caller: CallerKey<'static>, now: Timestamp) -> Result<SessionPlace, Full> {
        let counts = self.counts();
        let (all, own) = (counts.values().sum::<usize>(), counts.get(&caller).copied().unwrap_or_default());
        // Whoever has few finds a place long after those who have many are held to what they have.
        let bound = if all >= SESSIONS_CROWDED { SESSIONS_PER_CALLER_CROWDED_MAX } else { SESSIONS_PER_CALLER_MAX };
        let ends = if own >= bound {
            Some(self.first_to_end(&counts, now, |entry| entry.caller == caller).ok_or(Full::Caller(bound))?)
        } else if all >= SESSIONS_MAX {
            Some(self.first_to_end(&counts, now, |_| true).ok_or(Full::Host)?)
        } else {
            None
        };
        if let Some(id) = &ends {
            self.sessions.remove(id);
        }
        let number = self.next();
        self.places.insert(number, caller);
        Ok(SessionPlace { number, ends })
    }

    /// Gives a place back that no session took.
    pub(crate) fn release(&mut self, number: u64) {
        self.places.remove(&number);
    }

    /// Has the session `id` take a place.
    pub(crate) fn open(&mut self, number: u64, id: &str, now: Timestamp) {
        let Some(caller) = self.places.remove(&number) else { return };
        let order = self.next();
        let entry = SessionEntry { caller, used_at: now, was_used: false, calls: 0, order };
        self.sessions.insert(id.to_owned(), entry);
    }

    /// Forgets a session that is over.
    pub(crate) fn close(&mut self, id: &str) {
        self.sessions.remove(id);
    }

    /// Notes that a request of a session begins; `calls` says by how many more answers it waits for.
    pub(crate) fn used(&mut self, id: &str, now: Timestamp, calls: isize) {
        let order = self.next();
        let Some(entry) = self.sessions.get_mut(id) else { return };
        (entry.used_at, entry.was_used, entry.order) = (now, true, order);
        entry.calls = entry.calls.saturating_add_signed(calls);
    }

    /// Whether a session is this sender's. One that was begun by nobody in particular may be gone on with by
    /// whoever has its id, and belongs to the first who shows who it is. One that is not known is nobody's.
    pub(crate) fn is_of(&mut self, id: &str, sender: &Sender) -> bool {
        let Some(entry) = self.sessions.get_mut(id) else { return false };
        match (entry.caller.subject(), sender.owner()) {
            (None, Some(owner)) => {
                entry.caller = CallerKey::Subject(owner.to_owned().into());
                true
            }
            (known, owner) => known == owner,
        }
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// How many places each caller has.
    fn counts(&self) -> HashMap<CallerKey<'static>, usize> {
        let mut counts = HashMap::new();
        // Places count too: whoever begins many at once would otherwise be past the bound before the first is open.
        for caller in self.sessions.values().map(|entry| &entry.caller).chain(self.places.values()) {
            *counts.entry(caller.clone()).or_default() += 1;
        }
        counts
    }

    /// The session that ends first: never used before used, of the caller with the most sessions, the one
    /// whose last use is longest ago.
    fn first_to_end(
        &self,
        counts: &HashMap<CallerKey<'static>, usize>,
        now: Timestamp,
        among: impl Fn(&SessionEntry) -> bool,
    ) -> Option<String> {
        let able = self.sessions.iter().filter(|(_, entry)| among(entry) && entry.may_end(now));
        let first = able.min_by_key(|(_, entry)| (entry.was_used, Reverse(counts.get(&entry.caller)), entry.order));
        first.map(|(id, _)| id.clone())
    }
}

#[cfg(test)]
mod tests;
