//! How many connections are open, in all and from one place.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use forecourt_core::network::Network;
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
    by_address: HashMap<Network, usize>,
}

/// The bound on connections that is reached, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// That of one address.
    Address(usize),
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
        Arc::new(Connections { max, per_address_max, open: Mutex::default() })
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
            let count = open.by_address.entry(bucket).or_default();
            if *count >= self.per_address_max {
                return Err(Full::Address(self.per_address_max));
            }
            *count += 1;
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
        if let Some(count) = open.by_address.get_mut(&bucket) {
            *count -= 1;
            if *count == 0 {
                // Without this the map would keep an entry for every network that ever came.
                open.by_address.remove(&bucket);
            }
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
        let connections = Connections::new(10, 2);
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
