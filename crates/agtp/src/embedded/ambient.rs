//! This module gives embedded methods the clock, and random ids for what they make.

use forecourt_core::{Clock, Entropy, Timestamp};

/// The clock and the randomness of the host.
#[derive(Clone, Copy)]
pub(super) struct Ambient<'a> {
    /// The host's clock.
    pub clock: &'a dyn Clock,
    /// The host's randomness.
    pub entropy: &'a dyn Entropy,
}

impl Ambient<'_> {
    pub(super) fn now(self) -> Timestamp {
        self.clock.now()
    }

    /// A name for something that was made: a word and 128 random bits.
    pub(super) fn mint(self, kind: &str) -> String {
        let digits: String = self.bits().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{kind}-{digits}")
    }

    /// 128 random bits.
    pub(super) fn bits(self) -> [u8; 16] {
        let mut bits = [0; 16];
        self.entropy.fill(&mut bits);
        bits
    }
}
