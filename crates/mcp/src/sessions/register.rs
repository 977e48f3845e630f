//! Which sessions there are, whose each is, and which one ends so that another can begin. A session that was
//! never used goes first, then one that rests; one that is in use goes for nobody.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use forecourt_core::network::Network;
use forecourt_core::{Sender, Timestamp};

use crate::limits::{
    SESSION_RECENTLY_USED, SESSIONS_CROWDED, SESSIONS_MAX, SESSIONS_PER_CALLER_CROWDED_MAX, SESSIONS_PER_CALLER_MAX,
};

/// Whose sessions count together: whoever proved who it is, else the network that it calls from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CallerKey {
    /// A verified identity.
    Owner(String),
    /// A network, of callers that prove nothing. `None` where no listener said from where.
    Network(Option<Network>),
}

impl CallerKey {
    /// The key of a request's sender.
    pub(crate) fn of(sender: &Sender) -> Self {
        Self::new(sender.owner(), sender.peer)
    }

    fn new(owner: Option<&str>, peer: Option<IpAddr>) -> Self {
        owner.map_or_else(|| Self::Network(peer.map(Network::of)), |owner| Self::Owner(owner.to_owned()))
    }

    fn owner(&self) -> Option<&str> {
        match self {
            Self::Owner(owner) => Some(owner),
            Self::Network(_) => None,
        }
    }
}

/// Why no session can begin: the bound that was reached, and every session under it is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// Sessions of one caller: so many.
    Caller(usize),
    /// Sessions of all callers.
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
pub(crate) struct Place {
    /// Names it.
    pub(crate) number: u64,
    /// The session that ends for it.
    pub(crate) ends: Option<String>,
}

/// All sessions, by their ids.
#[derive(Default)]
pub(crate) struct Register {
    sessions: HashMap<String, Entry>,
    /// Places of sessions that have no id yet.
    places: HashMap<u64, CallerKey>,
    last: u64,
}

struct Entry {
    caller: CallerKey,
    /// When a request of it began or ended last, at first when it was opened.
    used_at: Timestamp,
    /// Whether there was any request after the handshake.
    was_used: bool,
    /// Requests that wait for their answer.
    calls: usize,
    /// Rises with every use: which of two was used later where the clock can't say.
    order: u64,
}

impl Entry {
    /// Whether it may end for another one.
    fn may_end(&self, now: Timestamp) -> bool {
        let rests = || now.duration_since(self.used_at).unsigned_abs() >= SESSION_RECENTLY_USED;
        self.calls == 0 && (!self.was_used || rests())
    }
}

impl Register {
    /// Takes a place for a session of `caller`, if need be that of another session.
    pub(crate) fn reserve(&mut self, caller: CallerKey, now: Timestamp) -> Result<Place, Full> {
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
        Ok(Place { number, ends })
    }

    /// Gives a place back that no session took.
    pub(crate) fn release(&mut self, number: u64) {
        self.places.remove(&number);
    }

    /// Has the session `id` take a place.
    pub(crate) fn open(&mut self, number: u64, id: &str, now: Timestamp) {
        let Some(caller) = self.places.remove(&number) else { return };
        let order = self.next();
        let entry = Entry { caller, used_at: now, was_used: false, calls: 0, order };
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
        match (entry.caller.owner(), sender.owner()) {
            (None, Some(owner)) => {
                entry.caller = CallerKey::Owner(owner.to_owned());
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
    fn counts(&self) -> HashMap<CallerKey, usize> {
        let mut counts = HashMap::new();
        for caller in self.sessions.values().map(|entry| &entry.caller).chain(self.places.values()) {
            *counts.entry(caller.clone()).or_default() += 1;
        }
        counts
    }

    /// The session that ends first: never used before used, of the caller with the most sessions, the one
    /// whose last use is longest ago.
    fn first_to_end(
        &self,
        counts: &HashMap<CallerKey, usize>,
        now: Timestamp,
        among: impl Fn(&Entry) -> bool,
    ) -> Option<String> {
        let able = self.sessions.iter().filter(|(_, entry)| among(entry) && entry.may_end(now));
        let first = able.min_by_key(|(_, entry)| (entry.was_used, Reverse(counts.get(&entry.caller)), entry.order));
        first.map(|(id, _)| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(n: u8) -> CallerKey {
        CallerKey::new(None, Some([192, 0, 2, n].into()))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).expect("a moment")
    }

    struct Hall {
        register: Register,
        opened: usize,
    }

    impl Hall {
        fn new() -> Self {
            Self { register: Register::default(), opened: 0 }
        }

        /// Opens a session; gives its id, and the one that ended for it.
        fn open(&mut self, caller: CallerKey, now: Timestamp) -> Result<(String, Option<String>), Full> {
            let place = self.register.reserve(caller, now)?;
            self.opened += 1;
            let id = format!("s{}", self.opened);
            self.register.open(place.number, &id, now);
            Ok((id, place.ends))
        }

        /// Opens `count` sessions and uses each.
        fn used(&mut self, caller: &CallerKey, count: usize, now: Timestamp) {
            for _ in 0..count {
                let (id, _) = self.open(caller.clone(), now).expect("a place");
                self.register.used(&id, now, 0);
            }
        }
    }

    fn sender(owner: Option<&str>) -> Sender {
        let anonymous = Sender::anonymous();
        owner.map_or(anonymous.clone(), |owner| Sender { verified: true, address: owner.to_owned(), ..anonymous })
    }

    #[test]
    fn b5_2000_empty_sessions_of_11_addresses_keep_nobody_out() {
        let mut hall = Hall::new();
        for n in 0..SESSIONS_MAX {
            hall.open(network((n % 11) as u8), at(0)).expect("a place, if need be an own one");
        }
        let (id, _) = hall.open(network(12), at(1)).expect("the twelfth finds a place");
        hall.register.used(&id, at(1), 0);
        for n in 0..SESSIONS_MAX {
            hall.open(network((n % 11) as u8), at(2)).expect("a place, if need be an own one");
        }
        assert!(hall.register.sessions.contains_key(&id), "what is in use stays");
    }

    #[test]
    fn b5_a_caller_has_so_many_sessions_and_its_own_unused_ones_end_first() {
        let mut hall = Hall::new();
        let me = network(1);
        hall.used(&me, SESSIONS_PER_CALLER_MAX - 1, at(0));
        let (unused, none) = hall.open(me.clone(), at(0)).expect("a place");
        assert_eq!(none, None, "n is allowed");
        let (_, ended) = hall.open(me.clone(), at(1)).expect("the place of the unused one");
        assert_eq!(ended, Some(unused), "n + 1 ends one");
        let (id, _) = hall.open(me.clone(), at(1)).expect("again");
        hall.register.used(&id, at(1), 0);
        assert_eq!(hall.open(me.clone(), at(1)).unwrap_err(), Full::Caller(SESSIONS_PER_CALLER_MAX));
        assert!(hall.open(network(2), at(1)).is_ok(), "others are not concerned");
        let rested = SESSION_RECENTLY_USED.as_secs() as i64;
        assert_eq!(hall.open(me, at(rested)).expect("the one that rests longest").1.as_deref(), Some("s1"));
    }

    #[test]
    fn b5_where_it_is_crowded_those_with_many_make_room_of_their_own() {
        let mut hall = Hall::new();
        for n in 0..SESSIONS_CROWDED / SESSIONS_PER_CALLER_CROWDED_MAX {
            hall.used(&network(n as u8), SESSIONS_PER_CALLER_CROWDED_MAX, at(0));
        }
        let full = Full::Caller(SESSIONS_PER_CALLER_CROWDED_MAX);
        assert_eq!(hall.open(network(0), at(1)).unwrap_err(), full);
        hall.used(&network(200), SESSIONS_PER_CALLER_CROWDED_MAX, at(1));
        assert_eq!(hall.open(network(200), at(1)).unwrap_err(), full);
    }

    #[test]
    fn b5_a_host_has_so_many_sessions_and_none_in_use_ends_for_a_stranger() {
        let mut hall = Hall::new();
        for n in 0..SESSIONS_MAX {
            hall.used(&CallerKey::Owner(n.to_string()), 1, at(0));
        }
        assert_eq!(hall.open(network(1), at(1)).unwrap_err(), Full::Host);
        let rested = at(SESSION_RECENTLY_USED.as_secs() as i64);
        hall.register.used("s1", at(0), 1);
        let (_, ended) = hall.open(network(1), rested).expect("a place");
        assert_eq!(ended.as_deref(), Some("s2"), "a call under way keeps the oldest");
    }

    #[test]
    fn b5_a_place_that_nobody_takes_is_given_back() {
        let mut hall = Hall::new();
        for _ in 0..=SESSIONS_MAX {
            let place = hall.register.reserve(network(1), at(0)).expect("a place");
            hall.register.release(place.number);
        }
    }

    #[test]
    fn s6_a_session_is_its_owners_alone() {
        let mut hall = Hall::new();
        let (id, _) = hall.open(CallerKey::of(&sender(Some("ann"))), at(0)).expect("a place");
        assert!(hall.register.is_of(&id, &sender(Some("ann"))));
        assert!(!hall.register.is_of(&id, &sender(Some("bob"))) && !hall.register.is_of(&id, &sender(None)));
        assert!(!hall.register.is_of("made-up", &sender(None)));
    }

    #[test]
    fn s6_nobodys_session_goes_to_the_first_who_signs_in() {
        let mut hall = Hall::new();
        let (id, _) = hall.open(network(1), at(0)).expect("a place");
        assert!(hall.register.is_of(&id, &sender(None)));
        assert!(hall.register.is_of(&id, &sender(Some("ann"))));
        assert!(!hall.register.is_of(&id, &sender(None)) && !hall.register.is_of(&id, &sender(Some("bob"))));
    }
}
