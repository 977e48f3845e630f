//! How often each of many keys was counted lately, in bounded memory.
//!
//! A key has one number: when its bucket will be full again (the generic cell rate algorithm). Keys live in small
//! sets, chosen by a hash that nobody outside can foresee. Where a set is full, the key that is closest to rest makes
//! room, and the newcomer begins with what that one had left to wait: so a caller who asks too often is the last
//! to be forgotten, and no flood of others gives anybody a fresh bucket.

use std::hash::{BuildHasher, Hash, RandomState};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Keys that are remembered at once.
#[cfg(test)]
const RATE_KEYS_MAX: usize = SETS * KEYS_PER_SET;
/// Bytes that all of them take at most.
#[cfg(test)]
const RATE_BYTES_MAX: usize = 32 * 1024 * 1024;

const SETS: usize = 16_384;
const KEYS_PER_SET: usize = 16;

/// How often, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long one takes to come back.
    every: u64,
    /// How many may come at once after a rest.
    burst: u64,
}

impl Pace {
    /// `count` in `period`, of which `burst` may come at once; each one at least.
    pub(crate) fn new(count: u32, period: Duration, burst: u32) -> Self {
        let every = period.as_nanos() / u128::from(count.max(1));
        Self { every: u64::try_from(every).unwrap_or(u64::MAX).max(1), burst: u64::from(burst.max(1)) }
    }
}

/// The buckets of all keys.
pub(crate) struct RateTable {
    sets: Box<[Mutex<Vec<Bucket>>]>,
    hasher: RandomState,
    started: Instant,
}

/// One key, by its hash.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    key: u64,
    /// When it is full again, in nanoseconds since the table began.
    full_at: u64,
}

impl RateTable {
    pub(crate) fn new() -> Self {
        let sets = std::iter::repeat_with(Mutex::default).take(SETS).collect();
        Self { sets, hasher: RandomState::new(), started: Instant::now() }
    }

    /// Takes one out of the bucket of `key`. Fails with how long to wait for the next.
    pub(crate) fn take(&self, key: &impl Hash, pace: Pace) -> Result<(), Duration> {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let key = self.hasher.hash_one(key);
        // The low bits choose the set; all of them tell its keys apart.
        let set = usize::try_from(key).unwrap_or_default() % SETS;
        let mut buckets = self.sets[set].lock();
        let bucket = bucket_of(&mut buckets, key);
        let full_at = bucket.full_at.max(now).saturating_add(pace.every);
        let allowed = now.saturating_add(pace.every.saturating_mul(pace.burst));
        match full_at.checked_sub(allowed) {
            None | Some(0) => {
                bucket.full_at = full_at;
                Ok(())
            }
            Some(wait) => Err(Duration::from_nanos(wait)),
        }
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
            buckets.push(Bucket { key, full_at: 0 });
            buckets.len() - 1
        }
        None => {
            let resting = buckets.iter().enumerate().min_by_key(|(_, bucket)| bucket.full_at);
            let index = resting.map_or(0, |(index, _)| index);
            buckets[index].key = key;
            index
        }
    };
    &mut buckets[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn the_burst_may_come_at_once_and_then_one_at_a_time() {
        let (table, pace) = (RateTable::new(), Pace::new(6, MINUTE, 3));
        for _ in 0..3 {
            table.take(&"a", pace).unwrap();
        }
        assert_eq!(table.take(&"a", pace), Err(Duration::from_secs(10)));
        table.take(&"b", pace).unwrap();
        tokio::time::advance(Duration::from_secs(10)).await;
        table.take(&"a", pace).unwrap();
        assert!(table.take(&"a", pace).is_err());
        tokio::time::advance(MINUTE).await;
        for _ in 0..3 {
            table.take(&"a", pace).unwrap();
        }
        assert!(table.take(&"a", pace).is_err());
    }

    #[test]
    fn sec12_a_hundred_thousand_keys_are_remembered_in_32_mib() {
        let (table, pace) = (RateTable::new(), Pace::new(1, MINUTE, 1));
        let fresh = (0..100_000).filter(|key| table.take(key, pace).is_ok()).count();
        let (keys, bytes) = table.size();
        assert!(bytes <= RATE_BYTES_MAX, "{bytes} bytes");
        // A few sets are full, where a newcomer waits for somebody else.
        assert!(keys >= 99_900 && fresh >= 99_900, "{keys} keys, {fresh} fresh");
        println!("100,000 keys: {keys} remembered, {bytes} bytes");
    }

    #[test]
    fn sec12_no_flood_of_keys_takes_more_or_gives_a_hot_caller_a_fresh_bucket() {
        let (table, hourly) = (RateTable::new(), Pace::new(1, 60 * MINUTE, 1));
        table.take(&"hot", hourly).unwrap();
        let brisk = Pace::new(1, Duration::from_millis(1), 1);
        for key in 0..3 * RATE_KEYS_MAX {
            let _ = table.take(&key, brisk);
        }
        assert!(table.take(&"hot", hourly).is_err(), "the flood reset it");
        let (keys, bytes) = table.size();
        assert!(keys <= RATE_KEYS_MAX && bytes <= RATE_BYTES_MAX, "{keys} keys, {bytes} bytes");
    }

    #[test]
    fn sec12_a_newcomer_in_a_full_set_begins_with_what_another_had_left_to_wait() {
        let mut buckets = Vec::new();
        for key in 0..16 {
            bucket_of(&mut buckets, key).full_at = 100 + key;
        }
        assert_eq!(bucket_of(&mut buckets, 99).full_at, 100);
        assert_eq!(buckets.len(), KEYS_PER_SET);
        assert!(buckets.iter().all(|bucket| bucket.key != 0));
    }
}
