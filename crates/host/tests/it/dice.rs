//! Chance that can be repeated: everything that is random in a simulation follows from its seed.

use std::time::Duration;

use forecourt_core::Entropy;
use parking_lot::Mutex;

/// The number that a variable of the environment asks for.
pub(crate) fn asked_for(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many seeds are tried: `FORECOURT_SEEDS`, else so many.
pub(crate) fn seeds(usual: u64) -> u64 {
    asked_for("FORECOURT_SEEDS").unwrap_or(usual)
}

/// Random numbers from a seed (SplitMix64).
#[derive(Debug)]
pub(crate) struct Dice(Mutex<u64>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    fn next(&self) -> u64 {
        let mut state = self.0.lock();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Something that happens so many times of a hundred.
    pub(crate) fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time of at most so long.
    pub(crate) fn duration(&self, max: Duration) -> Duration {
        Duration::from_millis(self.below(max.as_millis() as u64 + 1))
    }

    /// One of `all`.
    pub(crate) fn pick<'a, T>(&self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len() as u64) as usize)
    }
}

impl Entropy for Dice {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]));
    }
}
