//! This module says which requests are traced: once, where a request comes in, and everything below keeps to it.

use std::sync::OnceLock;

use crate::w3c::RemoteParent;

/// Whose word is taken on whether a trace is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampledFlag {
    /// Nobody's: the share alone decides.
    Nobody,
    /// That of trusted proxies.
    Proxies,
    /// Everybody's. Strangers can have everything recorded, or nothing.
    Everybody,
}

/// Which requests are traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePolicy {
    /// The share of requests that are recorded, 0 to 1, where nobody's word is taken.
    pub share: f64,
    /// Whose word is taken.
    pub flag: SampledFlag,
}

static POLICY: OnceLock<TracePolicy> = OnceLock::new();

/// From here on requests are traced, by the subscriber that was installed. Said once, as the subscriber is; of two,
/// the first counts.
pub fn start(policy: TracePolicy) {
    let _ = POLICY.set(policy);
}

/// The policy that [`start`] was given; `None` while nobody traces.
pub fn policy() -> Option<&'static TracePolicy> {
    POLICY.get()
}

/// Whether anybody traces.
pub fn is_on() -> bool {
    policy().is_some()
}

impl TracePolicy {
    /// Whether a request is recorded. `random` is asked where the share decides.
    pub fn is_sampled(&self, parent: Option<&RemoteParent>, is_from_proxy: bool, random: impl FnOnce() -> u64) -> bool {
        let is_believed = match self.flag {
            SampledFlag::Nobody => false,
            SampledFlag::Proxies => is_from_proxy,
            SampledFlag::Everybody => true,
        };
        match parent.filter(|_| is_believed) {
            Some(parent) => parent.is_sampled,
            // Not left to the comparison below: the highest random number is not below itself.
            None if self.share >= 1.0 => true,
            // Not by the id of the trace, which a stranger may have chosen.
            None => (random() as f64) < self.share * (u64::MAX as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent(flag: &str) -> RemoteParent {
        let text = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flag}");
        RemoteParent::parse(&text, None).unwrap()
    }

    #[test]
    fn the_word_of_a_stranger_decides_nothing() {
        let policy = TracePolicy { share: 0.5, flag: SampledFlag::Proxies };
        for flag in ["00", "01"] {
            let stranger = |random| policy.is_sampled(Some(&parent(flag)), false, || random);
            assert!(stranger(0) && !stranger(u64::MAX));
        }
        assert!(policy.is_sampled(Some(&parent("01")), true, || u64::MAX));
        assert!(!policy.is_sampled(Some(&parent("00")), true, || 0));
        let open = TracePolicy { flag: SampledFlag::Everybody, ..policy };
        assert!(open.is_sampled(Some(&parent("01")), false, || u64::MAX));
        let closed = TracePolicy { flag: SampledFlag::Nobody, ..policy };
        assert!(!closed.is_sampled(Some(&parent("01")), true, || u64::MAX));
    }

    #[test]
    fn the_share_is_none_all_and_in_between() {
        let sampled =
            |share, random| TracePolicy { share, flag: SampledFlag::Nobody }.is_sampled(None, false, || random);
        assert!(!sampled(0.0, 0) && !sampled(0.0, u64::MAX));
        assert!(sampled(1.0, u64::MAX));
        assert!(sampled(0.1, u64::MAX / 11) && !sampled(0.1, u64::MAX / 9));
    }
}
