//! What nodes tell each other of what they gave out: five numbers.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::Pace;

/// A message on the bus: how many requests a node let pass from one bucket since its last word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GivenOut {
    pub(super) node: u64,
    pub(super) key: u64,
    pub(super) pace: Pace,
    pub(super) count: u64,
}

impl GivenOut {
    const BYTES: usize = 5 * size_of::<u64>();

    pub(super) fn write(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(Self::BYTES);
        for number in [self.node, self.key, self.pace.every, self.pace.burst, self.count] {
            out.put_u64(number);
        }
        out.freeze()
    }

    pub(super) fn read(mut message: &[u8]) -> Option<Self> {
        if message.len() != Self::BYTES {
            return None;
        }
        let [node, key, every, burst, count] = std::array::from_fn(|_| message.get_u64());
        // What comes over the bus is not trusted to be a pace that this host would set: none is zero or without end.
        let pace = Pace { every: every.max(1), burst: burst.clamp(1, u64::from(u32::MAX)) };
        Some(Self { node, key, pace, count: count.min(pace.burst) })
    }
}
