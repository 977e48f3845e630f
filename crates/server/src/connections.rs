//! How many connections are open, in all and from one place.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use forecourt_core::network::{Network, WideNetwork};
use parking_lot::Mutex;

/// The part of all connections, one in so many, that the networks around an address may have: an IPv4 /24 or an IPv6
/// /56, and a /20 or a /48.
const NETWORK_PARTS: [usize; 2] = [4, 2];

/// Counts open connections against their caps.
#[derive(Debug)]
pub(crate) struct Connections {
    max: usize,
    per_address_max: usize,
    /// Of the networks around an address, from narrow to wide.
    per_network_max: [usize; 2],
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_address: HashMap<Network, usize>,
    by_network: HashMap<WideNetwork, usize>,
}

/// Counts one less, and keeps no entry for whoever has none: the map would grow with every network that ever came.
fn count_down<K: Eq + Hash>(open: &mut HashMap<K, usize>, of: &K) {
    if let Some(count) = open.get_mut(of) {
        *count -= 1;
        if *count == 0 {
            open.remove(of);
        }
    }
}

/// The bound on connections that is reached, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// That of one address.
    Address(usize),
    /// That of a network around it.
    Network {
        /// Bits of an address that all of it have alike.
        prefix: u8,
        max: usize,
    },
    /// That of all together.
    All(usize),
}

impl Full {
    /// What a client is told on a plain connection, whole.
    pub(crate) fn answer(self) -> String {
        let (status, text) = match self {
            Self::Address(max) => (
                "429 Too Many Requests",
                format!(
                    "This host takes {max} connections from one address at once (http.connections_per_address_max).\n"
                ),
            ),
            Self::Network { prefix, max } => (
                "429 Too Many Requests",
                format!(
                    "This host takes {max} connections from one network (a /{prefix}) at once (a part of http.connections_max).\n"
                ),
            ),
            Self::All(max) => (
                "503 Service Unavailable",
                format!("This host takes {max} connections at once (http.connections_max).\n"),
            ),
        };
        format!(
            "HTTP/1.1 {status}\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Language: en\r\nCache-Control: no-store\r\nX-Robots-Tag: noindex, nofollow, noarchive\r\n\
             Content-Length: {}\r\n\r\n{text}",
            text.len()
        )
    }
}

/// An open connection. Counted until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionGuard {
    connections: Arc<Connections>,
    bucket: Option<Network>,
}

impl Connections {
    pub(crate) fn new(max: usize, per_address_max: usize) -> Arc<Connections> {
        // So that no line with many addresses takes all of them; and never less than one address may have.
        let per_network_max = NETWORK_PARTS.map(|part| per_address_max.max(max / part));
        Arc::new(Connections { max, per_address_max, per_network_max, open: Mutex::default() })
    }

    /// Room for one more from `peer`, or which bound is met. `exempt` counts in all only.
    pub(crate) fn admit(self: &Arc<Connections>, peer: IpAddr, exempt: bool) -> Result<ConnectionGuard, Full> {
        // A trusted proxy carries everybody's connections, so the bound of one address would shut all out.
        let bucket = (!exempt).then(|| Network::of(peer));
        let mut open = self.open.lock();
        // In all first: over that bound nobody's own count is worth an entry in the map.
        if open.all >= self.max {
            return Err(Full::All(self.max));
        }
        if let Some(bucket) = bucket {
            // All are looked at before any is counted.
            if open.by_address.get(&bucket).is_some_and(|count| *count >= self.per_address_max) {
                return Err(Full::Address(self.per_address_max));
            }
            for (network, max) in bucket.around().into_iter().zip(self.per_network_max) {
                if open.by_network.get(&network).is_some_and(|count| *count >= max) {
                    return Err(Full::Network { prefix: network.prefix(), max });
                }
            }
            *open.by_address.entry(bucket).or_default() += 1;
            for network in bucket.around() {
                *open.by_network.entry(network).or_default() += 1;
            }
        }
        open.all += 1;
        Ok(ConnectionGuard { connections: Arc::clone(self), bucket })
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        open.all -= 1;
        let Some(bucket) = self.bucket else { return };
        count_down(&mut open.by_address, &bucket);
        for network in bucket.around() {
            count_down(&mut open.by_network, &network);
        }
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
        let connections = Connections::new(12, 2);
        let first = connections.admit(ip("1.1.1.1"), false);
        let second = connections.admit(ip("::ffff:1.1.1.1"), false);
        assert!(first.is_ok() && second.is_ok());
        assert!(connections.admit(ip("1.1.1.1"), false).is_err());
        assert!(connections.admit(ip("1.1.1.2"), false).is_ok());
        drop(first);
        assert!(connections.admit(ip("1.1.1.1"), false).is_ok());
    }

    #[test]
    fn a_slash_64_is_one_address() {
        let connections = Connections::new(10, 1);
        let _open = connections.admit(ip("2001:db8:1:2::1"), false);
        assert!(connections.admit(ip("2001:db8:1:2:ffff::1"), false).is_err());
        assert!(connections.admit(ip("2001:db8:1:3::1"), false).is_ok());
    }

    #[test]
    fn each_network_around_an_address_has_its_share() {
        for (inside, outside) in [
            (["2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"], "2001:db8:0:100::1"),
            (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "192.0.3.1"),
        ] {
            // Two of eight for the narrow one, and four for the wide one.
            let connections = Connections::new(8, 1);
            let admit = |address: &str| connections.admit(ip(address), false);
            let mut open: Vec<_> = inside[..2].iter().map(|address| admit(address).expect("a place")).collect();
            let Err(Full::Network { prefix, max: 2 }) = admit(inside[2]) else { panic!("{inside:?}") };
            assert!(Full::Network { prefix, max: 2 }.answer().contains(&format!("a /{prefix}")));
            open.push(admit(outside).expect("another one"));
            drop(open.remove(0));
            open.push(admit(inside[2]).expect("a place came free"));
            drop(open);
            assert!(connections.open.lock().by_network.is_empty());
        }
        let connections = Connections::new(8, 1);
        let open: Vec<_> = (0..5).map(|n| connections.admit(ip(&format!("2001:db8:0:{n}00::1")), false)).collect();
        assert_eq!(open[4].as_ref().err(), Some(&Full::Network { prefix: 48, max: 4 }));
        assert!(open[..4].iter().all(Result::is_ok));
        assert!(connections.admit(ip("2001:db9::1"), false).is_ok());
    }

    #[test]
    fn the_cap_in_all_holds_for_the_exempt_too() {
        let connections = Connections::new(2, 1);
        let open = [connections.admit(ip("1.1.1.1"), true), connections.admit(ip("1.1.1.1"), true)];
        assert!(open.iter().all(Result::is_ok));
        assert!(connections.admit(ip("2.2.2.2"), false).is_err());
        drop(open);
        assert!(connections.open.lock().by_address.is_empty());
        assert!(connections.admit(ip("2.2.2.2"), false).is_ok());
    }
}
