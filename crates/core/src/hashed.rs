//! Maps and sets whose keys are hashes already.

use std::hash::{BuildHasherDefault, Hasher};

/// Takes a `u64` that is a hash for what it is, so that a map does not hash it again. Only for hashes that nobody
/// outside can choose; of anything else than one `u64` it makes a poor hash.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedKey(u64);

/// What a map or a set with such keys is built with.
pub type HashedKeys = BuildHasherDefault<HashedKey>;

impl Hasher for HashedKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn a_key_is_its_own_hash() {
        for key in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(HashedKeys::default().hash_one(key), key);
        }
    }
}
