//! Where a request came from: the peer, or what a trusted proxy says.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use forecourt_core::ClientAddr;
use http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;
use parking_lot::Mutex;

use crate::limits::FORWARDED_ENTRIES_MAX;
use crate::metrics::DomainLabel;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose word about the client's address is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Trusts every address of `networks`.
    pub fn new(networks: Vec<IpNet>) -> TrustedProxies {
        TrustedProxies(networks)
    }

    /// Whether `address` is one of them. Mapped addresses count as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The right-most address that is no trusted proxy. Text that is no address, and two headers
    /// that disagree, leave the peer: nobody gets a fresh bucket by writing nonsense.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddr {
        let peer = peer.to_canonical();
        // Only a proxy's own connection makes these headers evidence; anybody else can write them.
        if self.0.is_empty() || !self.contains(peer) {
            return ClientAddr(peer);
        }
        let x_forwarded_for = self.right_most(headers, &X_FORWARDED_FOR, |entry| Some(entry));
        let forwarded = self.right_most(headers, &header::FORWARDED, forwarded_for);
        ClientAddr(match (x_forwarded_for, forwarded) {
            (Chain::Client(a), Chain::Client(b)) if a == b => a,
            (Chain::Client(address), Chain::Absent) | (Chain::Absent, Chain::Client(address)) => address,
            _ => peer,
        })
    }

    /// Tells the operator, once for each domain while the program runs, of a proxy that names no client.
    pub(crate) fn tell_if_silent(&self, peer: IpAddr, headers: &HeaderMap, domain: &DomainLabel) {
        // A label is of a closed set, and so this one is bounded.
        static TOLD: LazyLock<Mutex<HashSet<DomainLabel>>> = LazyLock::new(Mutex::default);
        if self.is_silent(peer, headers) && is_first(&TOLD, domain) {
            tracing::warn!(
                domain = domain.as_str(),
                proxy = %peer,
                "a request came from an address in `trusted_proxies` without `X-Forwarded-For` and `Forwarded`: its caller \
                 is taken to be the proxy, and all that come so share one rate limit and one part of every other bound; \
                 have the proxy set `X-Forwarded-For` to the address of its client, unless it was the proxy's own health \
                 check"
            );
        }
    }

    /// Whether a request of a trusted proxy says nothing of its client.
    fn is_silent(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let says_nothing = || !headers.contains_key(X_FORWARDED_FOR) && !headers.contains_key(header::FORWARDED);
        !self.0.is_empty() && self.contains(peer) && says_nothing()
    }

    fn right_most(&self, headers: &HeaderMap, name: &HeaderName, part: fn(&str) -> Option<&str>) -> Chain {
        let mut chain = Chain::Absent;
        let lines = headers.get_all(name).iter().rev();
        // From the right: each proxy appends, so only the right end was written by one that is trusted.
        let entries = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        for entry in entries.take(FORWARDED_ENTRIES_MAX) {
            match part(entry.trim()).and_then(address) {
                // A proxy behind a proxy. If there is nothing but proxies, the left-most one is the client: a health
                // check, say.
                Some(address) if self.contains(address) => chain = Chain::Client(address),
                Some(address) => return Chain::Client(address),
                None => return Chain::Garbage,
            }
        }
        chain
    }
}

/// Whether a domain is not among those that were told of, and is from here on.
fn is_first(told: &Mutex<HashSet<DomainLabel>>, domain: &DomainLabel) -> bool {
    let mut told = told.lock();
    !told.contains(domain) && told.insert(domain.clone())
}

/// What `X-Forwarded-For` or `Forwarded` says about the client.
enum Chain {
    Absent,
    Garbage,
    Client(IpAddr),
}

/// The `for` parameter of one element, without quotes. RFC 7239 section 4.
fn forwarded_for(element: &str) -> Option<&str> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case("for").then(|| value.trim_matches('"'))
    })
}

/// An address with or without a port, IPv6 with or without brackets.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parsed = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    parsed.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::Value;

    use super::*;

    fn client(peer: &str, trusted: &[&str], headers: &[(&'static str, &str)]) -> String {
        let networks = trusted.iter().filter_map(|network| network.parse().ok()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).expect("legal"));
        }
        TrustedProxies::new(networks).client(peer.parse().expect("an address"), &map).0.to_string()
    }

    #[test]
    fn s12_vectors_of_forwarded_addresses() {
        let Some(bytes) = forecourt_testkit::vectors("headers/forwarded-for.json") else { return };
        let cases: Vec<Value> = serde_json::from_slice(&bytes).expect("JSON");
        for case in cases {
            let (Some(expected), Some(peer)) = (case["client_ip"].as_str(), case["peer"].as_str()) else { continue };
            let trusted: Vec<&str> =
                case["trusted"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let mut map = HeaderMap::new();
            for (name, value) in case["headers"].as_object().into_iter().flatten() {
                let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
                map.append(name, value.as_str().unwrap_or_default().parse().expect("a value"));
            }
            let networks = trusted.iter().filter_map(|network| network.parse().ok()).collect();
            let found = TrustedProxies::new(networks).client(peer.parse().expect("an address"), &map);
            assert_eq!(found.0.to_string(), expected, "{}", case["id"]);
        }
    }

    #[test]
    fn a_proxy_is_silent_that_is_trusted_and_names_no_client() {
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().expect("a network")]);
        let with =
            |name: &'static str| HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("?"))]);
        let peer = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert!(proxies.is_silent(peer("10.1.2.3"), &HeaderMap::new()));
        assert!(proxies.is_silent(peer("::ffff:10.1.2.3"), &with("x-real-ip")));
        for name in ["x-forwarded-for", "forwarded"] {
            assert!(!proxies.is_silent(peer("10.1.2.3"), &with(name)), "{name}: what it says is another matter");
        }
        assert!(!proxies.is_silent(peer("192.0.2.1"), &HeaderMap::new()), "nobody trusts it");
        assert!(!TrustedProxies::default().is_silent(peer("10.1.2.3"), &HeaderMap::new()));
    }

    #[test]
    fn each_domain_is_told_of_once() {
        let told = Mutex::default();
        let [a, b] = ["a.example", "b.example"].map(DomainLabel::named);
        assert_eq!([is_first(&told, &a), is_first(&told, &a), is_first(&told, &b)], [true, false, true]);
    }

    #[test]
    fn addresses_come_with_ports_brackets_and_quotes() {
        for value in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &[("x-forwarded-for", value)]), "2001:db8::1");
            let forwarded = format!("proto=https;For=\"{value}\"");
            assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &[("forwarded", &forwarded)]), "2001:db8::1");
        }
        assert_eq!(client("::ffff:127.0.0.1", &["127.0.0.1/32"], &[("x-forwarded-for", "::ffff:9.9.9.9")]), "9.9.9.9");
    }

    #[test]
    fn what_can_not_be_read_is_the_peer() {
        for value in ["unknown", "", "1.2.3.4, ", "_hidden", "1.2.3.4 5.6.7.8", "999.1.1.1"] {
            assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &[("x-forwarded-for", value)]), "127.0.0.1", "{value}");
        }
        assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &[("forwarded", "host=a")]), "127.0.0.1");
    }

    #[test]
    fn headers_that_disagree_are_not_believed() {
        let headers = [("x-forwarded-for", "1.1.1.1"), ("forwarded", "for=2.2.2.2")];
        assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &headers), "127.0.0.1");
        let headers = [("x-forwarded-for", "1.1.1.1"), ("forwarded", "for=1.1.1.1")];
        assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &headers), "1.1.1.1");
    }

    #[test]
    fn later_lines_are_further_right() {
        let headers = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "2.2.2.2")];
        assert_eq!(client("127.0.0.1", &["127.0.0.1/32"], &headers), "2.2.2.2");
    }

    #[test]
    fn no_more_entries_than_the_cap_are_walked() {
        let proxies = |count: usize| format!("9.9.9.9, {}", vec!["10.0.0.1"; count].join(", "));
        let trusted = &["127.0.0.1/32", "10.0.0.0/8"];
        let read = |count| client("127.0.0.1", trusted, &[("x-forwarded-for", &proxies(count))]);
        assert_eq!(read(FORWARDED_ENTRIES_MAX - 1), "9.9.9.9");
        assert_eq!(read(FORWARDED_ENTRIES_MAX), "10.0.0.1");
    }
}
