//! Randomness of the machine.

use aws_lc_rs::rand;
use forecourt_core::Entropy;

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        rand::fill(bytes).expect("a machine without a random source cannot serve");
    }
}
