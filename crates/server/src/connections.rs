//! How many connections are open, in all and from one place.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts open connections against their caps.
#[derive(Debug)]
pub(crate) struct Connections {
    max: usize,
    per_address_max: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// An open connection. Counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    connections: Arc<Connections>,
    bucket: Option<IpAddr>,
}

impl Connections {
    pub(crate) fn new(max: usize, per_address_max: usize) -> Arc<Connections> {
        Arc::new(Connections { max, per_address_max, open: Mutex::default() })
    }

    /// Room for one more from `peer`, if there is any. `exempt` counts in all only.
    pub(crate) fn admit(self: &Arc<Connections>, peer: IpAddr, exempt: bool) -> Option<Counted> {
        let bucket = (!exempt).then(|| bucket(peer));
        let mut open = self.open.lock();
        if open.all >= self.max {
            return None;
        }
        if let Some(bucket) = bucket {
            let count = open.by_address.entry(bucket).or_default();
            if *count >= self.per_address_max {
                return None;
            }
            *count += 1;
        }
        open.all += 1;
        Some(Counted { connections: Arc::clone(self), bucket })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        open.all -= 1;
        let Some(bucket) = self.bucket else { return };
        if let Some(count) = open.by_address.get_mut(&bucket) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&bucket);
            }
        }
    }
}

/// An IPv4 address, or the /64 of an IPv6 one.
fn bucket(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn one_address_gets_its_share_and_no_more() {
        let connections = Connections::new(10, 2);
        let first = connections.admit(ip("1.1.1.1"), false);
        let second = connections.admit(ip("::ffff:1.1.1.1"), false);
        assert!(first.is_some() && second.is_some());
        assert!(connections.admit(ip("1.1.1.1"), false).is_none());
        assert!(connections.admit(ip("1.1.1.2"), false).is_some());
        drop(first);
        assert!(connections.admit(ip("1.1.1.1"), false).is_some());
    }

    #[test]
    fn a_slash_64_is_one_address() {
        let connections = Connections::new(10, 1);
        let _open = connections.admit(ip("2001:db8:1:2::1"), false);
        assert!(connections.admit(ip("2001:db8:1:2:ffff::1"), false).is_none());
        assert!(connections.admit(ip("2001:db8:1:3::1"), false).is_some());
    }

    #[test]
    fn the_cap_in_all_holds_for_the_exempt_too() {
        let connections = Connections::new(2, 1);
        let open = [connections.admit(ip("1.1.1.1"), true), connections.admit(ip("1.1.1.1"), true)];
        assert!(open.iter().all(Option::is_some));
        assert!(connections.admit(ip("2.2.2.2"), false).is_none());
        drop(open);
        assert!(connections.open.lock().by_address.is_empty());
        assert!(connections.admit(ip("2.2.2.2"), false).is_some());
    }
}
