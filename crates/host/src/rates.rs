//! The rate table counts how often each key came lately, in bounded memory, together with all other nodes.
//!
//! Each node counts by itself and asks nobody. It tells the others what it gave out, in portions: an eighth of the
//! burst, divided among the nodes. So all of them together give out at most the burst, an eighth of it, and what is
//! asked for while a word is on its way over the bus (about a millisecond). While the bus is away each node gives out
//! its share: the rate and the burst divided by the number of nodes that are alive, one request at least.
//!
//! A key has one number: when its bucket will be full again (the generic cell rate algorithm). Keys live in small
//! sets, chosen by a hash that nobody outside can foresee. Where a set is full, the key that is closest to rest makes
//! room, and the newcomer begins with what that one had left to wait: so a caller who asks too often is the last
//! to be forgotten, and no flood of others gives anybody a fresh bucket.

mod given_out;
mod pace;

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use forecourt_core::Bus;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::limits_hit::LimitsHit;
use crate::topics::RATES;
use given_out::GivenOut;
pub(crate) use pace::Pace;

/// Keys that are remembered at once.
#[cfg(test)]
const RATE_KEYS_MAX: usize = SETS * KEYS_PER_SET;
/// Bytes that all of them take at most.
#[cfg(test)]
const RATE_BYTES_MAX: usize = 32 * 1024 * 1024;

const SETS: usize = 16_384;
const KEYS_PER_SET: usize = 16;

/// Who else counts.
struct Others {
    /// By what keys are hashed, the same on all nodes.
    seed: [u64; 2],
    bus: Arc<dyn Bus>,
    /// What this node calls itself to the others.
    node: u64,
    /// How many nodes there are, this one included.
    nodes: AtomicU64,
    /// Whether nobody hears what others give out.
    is_apart: AtomicBool,
}

/// The buckets of all keys.
pub(crate) struct RateTable {
    sets: Box<[Mutex<Vec<Bucket>>]>,
    hasher: RandomState,
    others: Option<Others>,
    started: Instant,
    /// Who found a bucket empty that the operator hears of.
    pub(crate) hits: LimitsHit,
}

/// One key, by its hash.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    key: u64,
    /// When it is full again, in nanoseconds since the table began.
    full_at: u64,
    /// How many were given out here that no other node was told of.
    untold: u64,
}

impl RateTable {
    /// One that counts alone.
    pub(crate) fn new() -> Self {
        let sets = std::iter::repeat_with(Mutex::default).take(SETS).collect();
        Self { sets, hasher: RandomState::new(), others: None, started: Instant::now(), hits: LimitsHit::default() }
    }

    /// One of many that count together. `seed` is theirs in common; `node` tells this one from them.
    pub(crate) fn shared(seed: [u64; 2], node: u64, bus: Arc<dyn Bus>) -> Self {
        let (nodes, is_apart) = (AtomicU64::new(1), AtomicBool::new(false));
        Self { others: Some(Others { seed, bus, node, nodes, is_apart }), ..Self::new() }
    }

    /// How many nodes count together, and whether they can't hear each other.
    pub(crate) fn set_nodes(&self, nodes: usize, is_apart: bool) {
        let Some(others) = &self.others else { return };
        others.nodes.store(nodes.max(1) as u64, Ordering::Relaxed);
        others.is_apart.store(is_apart, Ordering::Relaxed);
    }

    /// Takes notice of what another node gave out.
    pub(crate) fn hear(&self, message: &[u8]) {
        let Some(others) = &self.others else { return };
        // A bus may give back what this node said itself, which is counted already.
        let Some(given) = GivenOut::read(message).filter(|given| given.node != others.node) else { return };
        let now = self.now();
        let mut buckets = self.set_of(given.key).lock();
        let bucket = bucket_of(&mut buckets, given.key);
        let full_at = bucket.full_at.max(now).saturating_add(given.pace.every.saturating_mul(given.count));
        // No word of others makes anybody wait for longer than an empty bucket does.
        let empty = now.saturating_add(given.pace.every.saturating_mul(given.pace.burst));
        bucket.full_at = full_at.min(empty.max(bucket.full_at));
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The low bits of a key choose the set; all of them tell its keys apart.
    fn set_of(&self, key: u64) -> &Mutex<Vec<Bucket>> {
        &self.sets[usize::try_from(key % SETS as u64).unwrap_or_default()]
    }

    fn hash(&self, key: &impl Hash) -> u64 {
        match &self.others {
            None => self.hasher.hash_one(key),
            Some(others) => {
                #[expect(deprecated, reason = "the one keyed hasher of the standard library whose keys can be chosen")]
                let mut hasher = std::hash::SipHasher::new_with_keys(others.seed[0], others.seed[1]);
                key.hash(&mut hasher);
                hasher.finish()
            }
        }
    }

    /// Takes one out of the bucket of `key`. Fails with how long to wait for the next.
    pub(crate) fn take(&self, key: &impl Hash, pace: Pace) -> Result<(), Duration> {
        let (now, key) = (self.now(), self.hash(key));
        let others = self.others.as_ref().map(|others| (others, others.nodes.load(Ordering::Relaxed)));
        let own = match others {
            Some((others, nodes)) if others.is_apart.load(Ordering::Relaxed) => pace.share_of(nodes),
            _ => pace,
        };
        let mut buckets = self.set_of(key).lock();
        let bucket = bucket_of(&mut buckets, key);
        let full_at = bucket.full_at.max(now).saturating_add(own.every);
        let allowed = now.saturating_add(own.every.saturating_mul(own.burst));
        if let Some(wait) = full_at.checked_sub(allowed).filter(|wait| *wait > 0) {
            return Err(Duration::from_nanos(wait));
        }
        // What was given out of a bucket that is full again is of no interest to anybody.
        bucket.untold = if bucket.full_at <= now { 1 } else { bucket.untold + 1 };
        bucket.full_at = full_at;
        let Some((others, nodes)) = others.filter(|(_, nodes)| *nodes > 1) else { return Ok(()) };
        if bucket.untold >= pace.portion(nodes) {
            let count = std::mem::take(&mut bucket.untold);
            // The set is unlocked before the bus is used: other callers share it.
            drop(buckets);
            others.bus.publish(RATES, GivenOut { node: others.node, key, pace, count }.write());
        }
        Ok(())
    }

    /// Tells the operator that a caller found its bucket of `limit` empty.
    pub(crate) fn note_hit(&self, limit: &'static str, key: &impl Hash) {
        self.hits.note(limit, self.hash(key));
    }

    /// How many keys are remembered, and the bytes that they take.
    #[cfg(test)]
    fn size(&self) -> (usize, usize) {
        let sets = self.sets.len() * size_of::<Mutex<Vec<Bucket>>>();
        self.sets
            .iter()
            .map(|set| set.lock())
            .fold((0, sets), |(keys, bytes), set| (keys + set.len(), bytes + set.capacity() * size_of::<Bucket>()))
    }
}

/// The bucket of a key: its own, a new one, or that of the key closest to rest, with what it had left to wait.
fn bucket_of(buckets: &mut Vec<Bucket>, key: u64) -> &mut Bucket {
    let index = match buckets.iter().position(|bucket| bucket.key == key) {
        Some(index) => index,
        None if buckets.len() < KEYS_PER_SET => {
            buckets.push(Bucket { key, full_at: 0, untold: 0 });
            buckets.len() - 1
        }
        None => {
            let resting = buckets.iter().enumerate().min_by_key(|(_, bucket)| bucket.full_at);
            let index = resting.map_or(0, |(index, _)| index);
            (buckets[index].key, buckets[index].untold) = (key, 0);
            index
        }
    };
    &mut buckets[index]
}

#[cfg(test)]
mod tests;
