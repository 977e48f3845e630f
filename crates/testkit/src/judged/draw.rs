//! Chance that comes out the same in every run.

/// Numbers that look drawn (SplitMix64, Steele et al. 2014), the same in every run.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new() -> Self {
        Self(0x5EED)
    }

    /// From 0 to below the bound, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        if of.is_empty() { None } else { of.get(self.below(of.len())) }
    }

    /// Keeps so many of them, drawn.
    pub(super) fn first<T>(&mut self, of: &mut Vec<T>, count: usize) {
        for at in 0..count.min(of.len()) {
            let other = at + self.below(of.len() - at);
            of.swap(at, other);
        }
        of.truncate(count);
    }
}
