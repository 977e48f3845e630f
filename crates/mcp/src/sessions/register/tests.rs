use forecourt_core::network::Network;

use super::*;

fn network(n: u8) -> CallerKey<'static> {
    CallerKey::Network(Network::of([192, 0, 2, n].into()))
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
    fn open(&mut self, caller: CallerKey<'static>, now: Timestamp) -> Result<(String, Option<String>), Full> {
        let place = self.register.reserve(caller, now)?;
        self.opened += 1;
        let id = format!("s{}", self.opened);
        self.register.open(place.number, &id, now);
        Ok((id, place.ends))
    }

    /// Opens `count` sessions and uses each.
    fn used(&mut self, caller: &CallerKey<'static>, count: usize, now: Timestamp) {
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
        hall.used(&CallerKey::Subject(n.to_string().into()), 1, at(0));
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
    let (id, _) = hall.open(sender(Some("ann")).caller(None).into_owned(), at(0)).expect("a place");
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
