//! Randomness of the machine.

use std::cell::RefCell;

use aws_lc_rs::rand;
use forecourt_core::Entropy;

/// Bytes that are drawn at once: the source costs about as much for 32 bytes as for all of these.
const DRAWN_BYTES: usize = 512;

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        DRAWN.with_borrow_mut(|drawn| drawn.fill(bytes));
    }
}

thread_local! {
    static DRAWN: RefCell<RandomPool> = const { RefCell::new(RandomPool { bytes: [0; DRAWN_BYTES], given: DRAWN_BYTES }) };
}

/// Random bytes of one thread that nobody has seen yet.
struct RandomPool {
    bytes: [u8; DRAWN_BYTES],
    /// How many from the front were given away.
    given: usize,
}

impl RandomPool {
    fn fill(&mut self, wanted: &mut [u8]) {
        if wanted.len() > DRAWN_BYTES {
            return draw(wanted);
        }
        if wanted.len() > DRAWN_BYTES - self.given {
            draw(&mut self.bytes);
            self.given = 0;
        }
        let next = &mut self.bytes[self.given..self.given + wanted.len()];
        wanted.copy_from_slice(next);
        // What was given away is kept by who has it, and nowhere else.
        next.fill(0);
        self.given += wanted.len();
    }
}

fn draw(bytes: &mut [u8]) {
    rand::fill(bytes).expect("a machine without a random source cannot serve");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_bytes_are_given_twice() {
        let draws = (0..1_000).map(|round| {
            let mut bytes = vec![0; 16 + round % 48];
            SystemEntropy.fill(&mut bytes);
            bytes[..16].to_vec()
        });
        assert_eq!(draws.collect::<HashSet<_>>().len(), 1_000);
    }

    #[test]
    fn more_than_is_drawn_at_once_is_filled_whole() {
        for length in [DRAWN_BYTES, DRAWN_BYTES + 1] {
            let mut bytes = vec![0; length];
            SystemEntropy.fill(&mut bytes);
            assert!(bytes.chunks(32).all(|chunk| chunk.len() < 8 || chunk.iter().any(|byte| *byte != 0)));
        }
    }

    #[test]
    fn what_was_given_away_is_forgotten() {
        let mut drawn = RandomPool { bytes: [0; DRAWN_BYTES], given: DRAWN_BYTES };
        drawn.fill(&mut [0; 32]);
        assert_eq!((&drawn.bytes[..32], drawn.given), (&[0; 32][..], 32));
        assert_ne!(drawn.bytes[32..64], [0; 32]);
    }
}
