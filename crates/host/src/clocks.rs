//! Whether the clocks of all nodes agree. Leases do not depend on it; when things expire does.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How far clocks of two nodes may be apart before it is said.
const CLOCKS_APART_MAX: Duration = Duration::from_secs(10);
/// Nodes whose clocks are remembered.
const CLOCKS_MAX: usize = 256;

/// A node's message with each beat: its name, and what its clock says.
#[derive(Serialize, Deserialize)]
pub(crate) struct NodeGreeting {
    pub(crate) name: String,
    pub(crate) at: Timestamp,
}

/// How far the clocks of other nodes are from this one's, as far as they said so.
#[derive(Default)]
pub(crate) struct Clocks(Mutex<HashMap<String, Duration>>);

impl Clocks {
    /// Takes notice of what another clock says.
    pub(crate) fn take(&self, greeting: NodeGreeting, now: Timestamp) {
        let apart = now.duration_since(greeting.at).unsigned_abs();
        let mut known = self.0.lock();
        if apart <= CLOCKS_APART_MAX {
            known.remove(&greeting.name);
        // Names come over the bus, so they are bounded here.
        } else if known.len() < CLOCKS_MAX && known.insert(greeting.name.clone(), apart).is_none() {
            let (node, seconds) = (greeting.name, apart.as_secs());
            tracing::warn!(node, seconds, "the clock of another node is far from this one's: set both by NTP");
        }
    }

    /// The node whose clock is farthest away, where that is too far.
    pub(crate) fn farthest(&self) -> Option<(String, Duration)> {
        let known = self.0.lock();
        known.iter().max_by_key(|(_, apart)| **apart).map(|(node, apart)| (node.clone(), *apart))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_far_off_is_named_until_it_is_right() {
        let (clocks, now) = (Clocks::default(), Timestamp::from_second(1_000_000).unwrap());
        let says = |name: &str, apart: i64| {
            let at = Timestamp::from_second(1_000_000 + apart).unwrap();
            clocks.take(NodeGreeting { name: name.to_owned(), at }, now);
        };
        says("a", 10);
        assert_eq!(clocks.farthest(), None);
        says("a", -11);
        says("b", 3_600);
        assert_eq!(clocks.farthest(), Some(("b".to_owned(), Duration::from_secs(3_600))));
        says("b", 0);
        assert_eq!(clocks.farthest(), Some(("a".to_owned(), Duration::from_secs(11))));
    }
}
