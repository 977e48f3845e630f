//! How much may be under way at once: for each caller and in all, replies that are waited for and work in
//! the background each by themselves.
//!
//! Where several nodes share the work, what one caller may have is divided among them: a caller whose requests are
//! spread evenly has all of it, and all nodes together give out at most one place more for each node. What a host may
//! have in all protects one process, and is not divided.
//!
//! Callers who proved nothing share a part of all places, and each network around one of them has half of that, so that
//! no crowd of them keeps out whoever proved who it is.
//!
//! [`CallerKey`] says who a caller is. A request that finds all places taken waits a little in line; one that waits in
//! vain is refused with the bound's name.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::hashed::HashedKeys;
use forecourt_core::network::Network;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{CallerKey, PolicyPart};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::limits::LimitSettings;
use crate::limits_hit::LimitsHit;

/// Requests that may wait in line at once, all callers together. One caller can't fill it: how often it may
/// ask is bounded too.
pub const WAITING_MAX: usize = 4_096;
/// Callers that are remembered before those at rest are forgotten.
const CALLERS_BEFORE_TIDY: usize = 1_024;
/// What must have room, at most: the caller, its network, the two around that, all who proved nothing, all together.
const STEPS: usize = 6;
/// The key of the part of all places that callers who proved nothing share.
const STRANGERS_KEY: &str = "limits.strangers_percent";
/// What a refused caller is told to wait, in seconds.
const RETRY_SECONDS: u64 = 5;

/// The kind of work, each with bounds of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A reply whose caller holds its request open.
    Reply,
    /// Work whose caller went away.
    Background,
}

/// The places that work counts against: its caller's, by a hash that nobody outside can foresee.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerSlots {
    own: u64,
    /// The network of a caller who is known by its conversation: conversations cost nothing, so that the
    /// network is bounded too.
    network: Option<u64>,
    /// The networks around it, when it proved nothing.
    around: Option<[u64; 2]>,
}

impl CallerSlots {
    /// The caller, as a hash.
    pub(crate) fn own(self) -> u64 {
        self.own
    }
}

/// The bounds on work under way: one for replies, one for background tasks.
pub(crate) struct InFlight {
    replies: LaneBound,
    background: LaneBound,
    hasher: RandomState,
    waiting: Arc<Semaphore>,
    /// Replies that wait for a person.
    paused: Arc<AtomicUsize>,
    wait: Duration,
    /// The callers that were refused, for the operator.
    pub(crate) hits: LimitsHit,
}

/// The bound of one lane: how many places there are for each caller, for each network and in all.
struct LaneBound {
    /// The keys that an operator changes, of one caller and of all.
    keys: [&'static str; 2],
    what: &'static str,
    caller_max: usize,
    /// Among how many nodes that is divided.
    nodes: AtomicUsize,
    network_max: usize,
    strangers_max: usize,
    strangers: Arc<Semaphore>,
    all_max: usize,
    all: Arc<Semaphore>,
    callers: Mutex<Callers>,
}

/// The callers that have, or lately had, something under way.
struct Callers {
    places: HashMap<u64, CallerPlaces, HashedKeys>,
    /// How many there are when those at rest are forgotten.
    tidy_at: usize,
}

/// The places of one caller.
struct CallerPlaces {
    places: Arc<Semaphore>,
    /// How many there are, taken or not.
    count: usize,
}

impl CallerPlaces {
    /// Has there be so many. Places that are taken can't be taken away: that is made up for later.
    fn resize(&mut self, count: usize) {
        if count > self.count {
            self.places.add_permits(count - self.count);
            self.count = count;
        } else if count < self.count {
            self.count -= self.places.forget_permits(self.count - count);
        }
    }
}

impl Callers {
    fn places(&mut self, key: u64, max: usize) -> Arc<Semaphore> {
        if self.places.len() >= self.tidy_at {
            // Whoever is at work holds a copy.
            self.places.retain(|_, caller| Arc::strong_count(&caller.places) > 1);
            self.tidy_at = CALLERS_BEFORE_TIDY.max(self.places.len() * 2);
        }
        let made = || CallerPlaces { places: Arc::new(Semaphore::new(max)), count: max };
        let caller = self.places.entry(key).or_insert_with(made);
        caller.resize(max);
        caller.places.clone()
    }
}

/// A place, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    permits: [Option<OwnedSemaphorePermit>; STEPS],
}

/// A reply whose caller was asked something and holds no request open. It keeps its place, and nobody waits for its end:
/// dropped, it goes on.
#[derive(Debug)]
pub struct ReplyPause(Arc<AtomicUsize>);

impl Drop for ReplyPause {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl InFlight {
    pub(crate) fn new(limits: &LimitSettings) -> Self {
        let replies = LaneBound::new(
            ["limits.replies_per_caller_max", "limits.replies_running_max"],
            "answers in the making",
            limits.replies_per_caller_max,
            limits.replies_running_max,
            limits.share_of_strangers(limits.replies_running_max),
        );
        let background = LaneBound::new(
            ["limits.tasks_per_caller_max", "limits.tasks_running_max"],
            "background tasks",
            limits.tasks_per_caller_max,
            limits.tasks_running_max,
            limits.share_of_strangers(limits.tasks_running_max),
        );
        let (hasher, waiting) = (RandomState::new(), Arc::new(Semaphore::new(WAITING_MAX)));
        let (wait, hits) = (Duration::from_secs(limits.queue_seconds), LimitsHit::default());
        Self { replies, background, hasher, waiting, paused: Arc::default(), wait, hits }
    }

    /// How many nodes share the work.
    pub(crate) fn set_nodes(&self, nodes: usize) {
        for bound in [&self.replies, &self.background] {
            bound.nodes.store(nodes.max(1), Ordering::Relaxed);
        }
    }

    /// The places that the work of a caller takes, by hashes of its key and of its network.
    pub(crate) fn slots(&self, caller: &CallerKey<'_>) -> CallerSlots {
        match caller {
            CallerKey::Conversation { key, network } => {
                // One caller wherever it comes from: a conversation is worked on in as many places from ten networks
                // as from one.
                let own = CallerKey::Conversation { key: key.as_ref().into(), network: None };
                let of_network = network.map_or(CallerKey::Local, CallerKey::Network);
                let around = network.map(|network| self.around(network));
                CallerSlots { own: self.hasher.hash_one(own), network: Some(self.hasher.hash_one(of_network)), around }
            }
            CallerKey::Network(network) => {
                CallerSlots { own: self.hasher.hash_one(caller), network: None, around: Some(self.around(*network)) }
            }
            CallerKey::Subject(_) | CallerKey::Local => {
                CallerSlots { own: self.hasher.hash_one(caller), network: None, around: None }
            }
        }
    }

    fn around(&self, network: Network) -> [u64; 2] {
        network.around().map(|network| self.hasher.hash_one(network))
    }

    /// Replies in the making whose callers wait for them.
    pub(crate) fn replies_running(&self) -> usize {
        self.replies.all_max.saturating_sub(self.replies.all.available_permits())
    }

    /// Whether nothing is under way, in either lane, but what waits for a person.
    pub(crate) fn is_idle(&self) -> bool {
        let paused = self.paused.load(Ordering::Relaxed);
        self.replies_running() <= paused && self.background.all.available_permits() >= self.background.all_max
    }

    /// A reply that has a place waits for a person from now on.
    pub(crate) fn pause(&self) -> ReplyPause {
        self.paused.fetch_add(1, Ordering::Relaxed);
        ReplyPause(self.paused.clone())
    }

    /// A place in a lane, waited for if need be; the refusal names the bound that is reached.
    pub(crate) async fn acquire(&self, lane: Lane, caller: CallerSlots) -> Result<Slot, Box<PolicyPart>> {
        let bound = match lane {
            Lane::Reply => &self.replies,
            Lane::Background => &self.background,
        };
        match try_all(bound.steps(caller)) {
            Some(slot) => Ok(slot),
            // On the heap, since it is rare.
            None => Box::pin(self.wait_in_line(bound, bound.steps(caller))).await.map_err(|(limit, refusal)| {
                let caller = if limit == bound.keys[0] { caller.own } else { 0 };
                self.hits.note(limit, caller);
                refusal
            }),
        }
    }

    /// A place for background work that was under its caller's bounds when it began, on a node that is gone: if there
    /// is one in all.
    pub(crate) fn place_for_lost_work(&self) -> Option<Slot> {
        let permit = self.background.all.clone().try_acquire_owned().ok()?;
        let mut slot = Slot::default();
        slot.permits[0] = Some(permit);
        Some(slot)
    }

    async fn wait_in_line(
        &self,
        bound: &LaneBound,
        steps: [Option<Step>; STEPS],
    ) -> Result<Slot, (&'static str, Box<PolicyPart>)> {
        let steps: Vec<Step> = steps.into_iter().flatten().collect();
        let Ok(_place) = self.waiting.clone().try_acquire_owned() else { return Err(bound.refusal(&steps)) };
        // One deadline for all steps: who waits for its own place does not wait as long again for the host's.
        let deadline = Instant::now() + self.wait;
        let mut permits = Slot::default();
        for (place, step) in permits.permits.iter_mut().zip(&steps) {
            match timeout_at(deadline, step.semaphore.clone().acquire_owned()).await {
                Ok(Ok(permit)) => *place = Some(permit),
                _ => return Err(bound.refusal(std::slice::from_ref(step))),
            }
        }
        Ok(permits)
    }
}

/// One thing that must have room.
struct Step {
    semaphore: Arc<Semaphore>,
    whose: Whose,
}

#[derive(Clone, Copy)]
enum Whose {
    Caller,
    Network,
    Strangers,
    All,
}

fn try_all(steps: [Option<Step>; STEPS]) -> Option<Slot> {
    let mut slot = Slot::default();
    for (place, step) in slot.permits.iter_mut().zip(steps) {
        if let Some(step) = step {
            // If a later step is full, the places that were taken come back with the dropped `slot`.
            *place = Some(step.semaphore.try_acquire_owned().ok()?);
        }
    }
    Some(slot)
}

impl LaneBound {
    fn new(
        keys: [&'static str; 2],
        what: &'static str,
        caller_max: usize,
        all_max: usize,
        strangers_max: usize,
    ) -> Self {
        let (strangers, all) = (Arc::new(Semaphore::new(strangers_max)), Arc::new(Semaphore::new(all_max)));
        let callers = Mutex::new(Callers { places: HashMap::default(), tidy_at: CALLERS_BEFORE_TIDY });
        let nodes = AtomicUsize::new(1);
        // Half for one network: conversations cost nothing, and neither do the addresses of an IPv6 line, so that one
        // network could else take every place by them.
        let network_max = caller_max.max(strangers_max / 2);
        Self { keys, what, caller_max, nodes, network_max, strangers_max, strangers, all_max, all, callers }
    }

    /// How many places one caller has here.
    fn caller_share(&self) -> usize {
        self.caller_max.div_ceil(self.nodes.load(Ordering::Relaxed)).max(1)
    }

    /// What must have room, the narrowest first, so that who waits keeps nobody else out.
    fn steps(&self, caller: CallerSlots) -> [Option<Step>; STEPS] {
        let mut callers = self.callers.lock();
        let own = Step { semaphore: callers.places(caller.own, self.caller_share()), whose: Whose::Caller };
        // A network that stands for a caller itself is another key than one that bounds its conversations.
        let mut network = |key: u64| {
            let semaphore = callers.places(key, self.network_max);
            Step { semaphore, whose: Whose::Network }
        };
        let own_network = caller.network.map(|key| network(!key));
        let [narrow, wide] = caller.around.map_or([None, None], |around| around.map(|key| Some(network(key))));
        // Where they may have all there is, that bound is the one to name.
        let is_shared = caller.around.is_some() && self.strangers_max < self.all_max;
        let strangers = is_shared.then(|| Step { semaphore: self.strangers.clone(), whose: Whose::Strangers });
        let all = Step { semaphore: self.all.clone(), whose: Whose::All };
        [Some(own), own_network, narrow, wide, strangers, Some(all)]
    }

    /// The key of the bound that is reached, and what its caller is told.
    fn refusal(&self, steps: &[Step]) -> (&'static str, Box<PolicyPart>) {
        // A place may have come free since: then the narrowest bound is the one to name.
        let full = steps.iter().find(|step| step.semaphore.available_permits() == 0).or(steps.first());
        let Self { keys: [of_caller, of_all], what, .. } = self;
        let whose = full.map_or(Whose::All, |step| step.whose);
        let key = match whose {
            Whose::Caller => *of_caller,
            Whose::Network | Whose::All => *of_all,
            Whose::Strangers => STRANGERS_KEY,
        };
        let words = match whose {
            Whose::Caller => {
                format!("You have {} {what}, as many as one caller may ({of_caller}).", self.caller_share())
            }
            Whose::Network => {
                format!(
                    "Your network has {} {what}, as many as one may whose callers have not proven who they are ({of_all}, \
                     {STRANGERS_KEY}).",
                    self.network_max
                )
            }
            Whose::Strangers => format!(
                "Callers who have not proven who they are have {} {what}, as many as they may ({STRANGERS_KEY} of \
                 {of_all}).",
                self.strangers_max
            ),
            Whose::All => format!("This host has {} {what}, as many as it may ({of_all}).", self.all_max),
        };
        let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(RETRY_SECONDS) };
        let mut part = PolicyPart::new(kind, format!("{words} Try again in {RETRY_SECONDS} s."));
        part.code = Some("mentionable:rate_limited".to_owned());
        (key, Box::new(part))
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Sender;

    use super::*;

    fn limits(per_caller: usize, all: usize) -> LimitSettings {
        LimitSettings {
            replies_per_caller_max: per_caller,
            replies_running_max: all,
            queue_seconds: 3,
            ..LimitSettings::default()
        }
    }

    fn from(address: &str) -> Sender {
        Sender { peer: Some(address.parse().unwrap()), ..Sender::anonymous() }
    }

    async fn refused(in_flight: &InFlight, sender: &Sender) -> String {
        let refusal = in_flight.acquire(Lane::Reply, in_flight.slots(&sender.caller(None))).await.unwrap_err();
        assert!(matches!(refusal.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(_) }));
        refusal.message.clone()
    }

    #[tokio::test(start_paused = true)]
    async fn the_request_after_the_last_one_that_a_caller_may_have_is_refused_by_name() {
        let in_flight = InFlight::new(&limits(2, 16));
        let ada = from("192.0.2.1");
        let take = || in_flight.acquire(Lane::Reply, in_flight.slots(&ada.caller(None)));
        let held = [take().await.unwrap(), take().await.unwrap()];
        let begun = Instant::now();
        assert!(refused(&in_flight, &ada).await.contains("limits.replies_per_caller_max"));
        assert_eq!(begun.elapsed().as_secs(), 3, "it waited in line");
        in_flight.acquire(Lane::Reply, in_flight.slots(&from("192.0.2.2").caller(None))).await.unwrap();
        in_flight.acquire(Lane::Background, in_flight.slots(&ada.caller(None))).await.unwrap();
        drop(held);
        take().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_conversation_is_one_caller_from_every_network() {
        let in_flight = InFlight::new(&limits(1, 9));
        let take = |address, thread| {
            let slots = in_flight.slots(&from(address).caller(Some(thread)));
            in_flight.acquire(Lane::Reply, slots)
        };
        let _held = take("192.0.2.1", "one").await.unwrap();
        let refusal = take("198.51.100.1", "one").await.unwrap_err();
        assert!(refusal.message.contains("limits.replies_per_caller_max"), "{}", refusal.message);
        take("198.51.100.1", "other").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_in_line_gets_the_place_that_comes_free() {
        let in_flight = Arc::new(InFlight::new(&limits(1, 9)));
        let key = in_flight.slots(&from("192.0.2.1").caller(None));
        let held = in_flight.acquire(Lane::Reply, key).await.unwrap();
        let waiting = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.acquire(Lane::Reply, key).await.is_ok() }
        });
        tokio::time::advance(Duration::from_secs(2)).await;
        drop(held);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn what_waits_for_a_person_is_not_waited_for() {
        let in_flight = InFlight::new(&limits(9, 9));
        let take = || in_flight.acquire(Lane::Reply, in_flight.slots(&from("192.0.2.1").caller(None)));
        let asked = take().await.unwrap();
        assert!(!in_flight.is_idle());
        let pause = in_flight.pause();
        assert!(in_flight.is_idle());
        let other = take().await.unwrap();
        assert!(!in_flight.is_idle(), "another one is under way");
        drop(other);
        drop(pause);
        assert!(!in_flight.is_idle(), "it goes on");
        drop(asked);
        assert!(in_flight.is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn the_bound_of_all_names_itself() {
        let in_flight = InFlight::new(&limits(2, 1));
        let _held = in_flight.acquire(Lane::Reply, in_flight.slots(&from("192.0.2.1").caller(None))).await.unwrap();
        assert!(refused(&in_flight, &from("192.0.2.2")).await.contains("limits.replies_running_max"));
    }

    #[tokio::test(start_paused = true)]
    async fn many_conversations_of_one_network_leave_room_for_others() {
        let in_flight = InFlight::new(&limits(2, 16));
        let one = from("2001:db8::1");
        let mut held = Vec::new();
        for session in 0..4 {
            let key = in_flight.slots(&one.caller(Some(&session.to_string())));
            held.push(in_flight.acquire(Lane::Reply, key).await.unwrap());
        }
        let fifth = in_flight.slots(&one.caller(Some("5")));
        let refusal = in_flight.acquire(Lane::Reply, fifth).await.unwrap_err();
        assert!(refusal.message.contains("Your network has 4"), "{}", refusal.message);
        in_flight.acquire(Lane::Reply, in_flight.slots(&from("2001:db8:1::1").caller(None))).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn each_network_around_callers_who_proved_nothing_has_half_of_their_places_and_others_have_their_own() {
        // Of 16 places they have 8, and a network 4 of those.
        let in_flight = InFlight::new(&limits(2, 16));
        let take = async |sender: &Sender| {
            in_flight.acquire(Lane::Reply, in_flight.slots(&sender.caller(None))).await.map_err(|part| part.message)
        };
        let proven = |name: &str| Sender { address: name.to_owned(), verified: true, ..from("2001:db8:0:1::1") };
        for (inside, outside) in [
            // A /56 of a /48, then a /48; the same of IPv4.
            (["2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"], "2001:db8:1::1"),
            (["2001:db8:0:100::1", "2001:db8:0:200::1", "2001:db8:0:300::1"], "2001:db8:1::1"),
            (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "198.51.100.1"),
            (["192.0.2.1", "192.0.3.1", "192.0.4.1"], "198.51.100.1"),
        ] {
            let mut held = Vec::new();
            for address in inside.iter().take(2) {
                held.push(take(&from(address)).await.unwrap());
                held.push(take(&from(address)).await.unwrap());
            }
            let refused = take(&from(inside[2])).await.unwrap_err();
            assert!(refused.contains("Your network has 4"), "{refused}");
            held.push(take(&from(outside)).await.unwrap());
            held.push(take(&proven("ada")).await.unwrap());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn callers_who_proved_nothing_leave_the_places_of_whoever_proved_who_it_is() {
        let in_flight = InFlight::new(&limits(2, 16));
        let slots = |sender: &Sender| in_flight.slots(&sender.caller(None));
        let mut held = Vec::new();
        for n in 0..8 {
            let stranger = from(&format!("2001:db{n}::1"));
            held.push(in_flight.acquire(Lane::Reply, slots(&stranger)).await.unwrap());
        }
        let ninth = from("2001:db8::1");
        let message = refused(&in_flight, &ninth).await;
        assert!(message.contains("have 8") && message.contains(STRANGERS_KEY), "{message}");
        in_flight.acquire(Lane::Background, slots(&ninth)).await.unwrap();
        for n in 0..8 {
            let proven = Sender { address: n.to_string(), verified: true, ..from("2001:db8::1") };
            held.push(in_flight.acquire(Lane::Reply, slots(&proven)).await.unwrap());
        }
        held.swap_remove(0);
        in_flight.acquire(Lane::Reply, slots(&ninth)).await.unwrap();
    }

    #[tokio::test]
    async fn callers_at_rest_are_forgotten() {
        let in_flight = InFlight::new(&limits(2, 8));
        for caller in 0..u32::try_from(4 * CALLERS_BEFORE_TIDY).unwrap() {
            let sender = from(&std::net::Ipv4Addr::from(caller).to_string());
            in_flight.acquire(Lane::Reply, in_flight.slots(&sender.caller(None))).await.unwrap();
        }
        assert!(in_flight.replies.callers.lock().places.len() <= CALLERS_BEFORE_TIDY);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_caller_may_have_is_divided_among_nodes_and_given_back_when_one_goes() {
        let in_flight = InFlight::new(&limits(5, 90));
        let ada = from("192.0.2.1");
        let take = || in_flight.acquire(Lane::Reply, in_flight.slots(&ada.caller(None)));
        let mut held = Vec::new();
        in_flight.set_nodes(3);
        for _ in 0..2 {
            held.push(take().await.unwrap());
        }
        assert!(refused(&in_flight, &ada).await.contains("You have 2"));
        in_flight.set_nodes(1);
        for _ in 0..3 {
            held.push(take().await.unwrap());
        }
        assert!(refused(&in_flight, &ada).await.contains("You have 5"));
        // Two more nodes come: who has more keeps it, and gets nothing new until it has less.
        in_flight.set_nodes(3);
        held.truncate(2);
        assert!(refused(&in_flight, &ada).await.contains("You have 2"));
        held.pop();
        held.push(take().await.unwrap());
        assert!(refused(&in_flight, &ada).await.contains("You have 2"));
    }
}
