//! The host names that are served, and the strict reading of an authority.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::metrics::DomainLabel;

/// The names of the loopback interface, as requests in development may call this host.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The origin at which a request was made to a plain listener in development, `http://host:port`: one of a
/// closed set, with the listener's own port. Listeners attach it to each such request, and documents that
/// are fetched there name it, so that a client needs neither a resolver nor our authority. Design 18.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlainOrigin(Arc<str>);

impl PlainOrigin {
    /// That of a host that is served, without a port, and the port of a listener.
    pub fn new(host: &str, port: u16) -> PlainOrigin {
        match port {
            // Without the port, as browsers write the origin (RFC 6454 6.2); otherwise comparisons of origins would
            // fail.
            80 => PlainOrigin(format!("http://{host}").into()),
            port => PlainOrigin(format!("http://{host}:{port}").into()),
        }
    }

    /// Its text, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The origins of one plain listener, by host.
#[derive(Debug, Default)]
pub(crate) struct PlainOrigins(Vec<(String, PlainOrigin)>);

impl PlainOrigins {
    /// The origin of a request for `host`, if documents there name it.
    pub(crate) fn of(&self, host: &str) -> Option<&PlainOrigin> {
        let host = host.strip_suffix('.').unwrap_or(host);
        self.0.iter().find(|(name, _)| same(name, host)).map(|(_, origin)| origin)
    }
}

/// The names under which this server answers; requests for others are 421.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHosts {
    names: Vec<String>,
    /// Whether every other name is served, too.
    any: bool,
    development: bool,
    names_plain: bool,
    /// What metrics call the domain of each name.
    labels: Arc<[(String, DomainLabel)]>,
}

impl AllowedHosts {
    /// `names` are A-labels without a port; `*.example.org` stands for one more label. In
    /// development, the names and addresses of the loopback interface are served too.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>, development: bool) -> AllowedHosts {
        let names = names.into_iter().map(|name| name.into().trim_end_matches('.').to_ascii_lowercase());
        AllowedHosts { names: names.collect(), any: false, development, names_plain: false, labels: Arc::default() }
    }

    /// Every name is served, and none is a domain's: for a listener whose callers know it by addresses.
    pub fn any() -> AllowedHosts {
        AllowedHosts { any: true, ..AllowedHosts::new([""; 0], false) }
    }

    /// The same, where documents fetched from a plain listener name the origin at which they were fetched.
    /// For development alone: behind a proxy, or off loopback, the published base is the configured one.
    #[must_use]
    pub fn naming_plain_origins(mut self) -> AllowedHosts {
        self.names_plain = self.development;
        self
    }

    /// The same, where metrics tell which domain a request was for: each name with what its domain is called. The names
    /// of loopback are the first one's.
    #[must_use]
    pub fn labelled(mut self, labels: impl IntoIterator<Item = (String, DomainLabel)>) -> AllowedHosts {
        self.labels = labels.into_iter().collect();
        self
    }

    /// What metrics call the domain of a host.
    pub(crate) fn label_of(&self, host: &str) -> &DomainLabel {
        let host = host.strip_suffix('.').unwrap_or(host);
        let named = self.labels.iter().find(|(name, _)| matches(name, host));
        let own = || self.labels.first().filter(|_| self.development && is_loopback(host));
        match named.or_else(own) {
            Some((_, label)) => label,
            None => DomainLabel::none(),
        }
    }

    /// The origins of a plain listener on this port: the names of loopback and those given at the start.
    pub(crate) fn plain_origins(&self, port: u16) -> PlainOrigins {
        if !self.names_plain {
            return PlainOrigins::default();
        }
        let names = LOOPBACK.into_iter().map(str::to_owned);
        let names = names.chain(self.names.iter().filter(|name| !name.starts_with("*.")).cloned());
        PlainOrigins(names.map(|name| (name.clone(), PlainOrigin::new(&name, port))).collect())
    }

    /// Whether `host`, without its port, is served. Letter case and one trailing dot do not matter.
    pub fn serves(&self, host: &str) -> bool {
        // A dot at the end is the same name (RFC 1034 3.1).
        let host = host.strip_suffix('.').unwrap_or(host);
        self.any || self.names_one(host)
    }

    /// Whether `host` is one of the names that are served: where every other one is, too, those are no names of ours.
    pub(crate) fn names_one(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        self.names.iter().any(|name| matches(name, host)) || (self.development && is_loopback(host))
    }

    /// The names given at the start.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

fn matches(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        // One label alone, as in certificates (RFC 6125 6.4.3).
        Some(parent) => host.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && same(parent, rest)),
        None => same(name, host),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn is_loopback(host: &str) -> bool {
    LOOPBACK.iter().any(|name| same(name, host))
}

/// The host of `host[:port]`, with brackets kept around an IPv6 address. `None` when it is anything
/// else: user information, a path, an empty name, a port that is no number. RFC 9110 section 7.2.
pub(crate) fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (&authority[..address.len() + 2], after.strip_prefix(':').or(after.is_empty().then_some("0")))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (is_name(host).then_some(host)?, Some(port)),
            None => (is_name(authority).then_some(authority)?, Some("0")),
        },
    };
    is_port(port?).then_some(host)
}

fn is_name(host: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    (1..=254).contains(&host.len()) && !host.starts_with('.') && host.bytes().all(legal) && !looks_like_bad_v4(host)
}

/// All digits and dots, but no address: `1.2.3`, `0127.0.0.1`.
fn looks_like_bad_v4(host: &str) -> bool {
    // Lenient readers take these as addresses (`127.1` is loopback), so two parsers would see two hosts.
    host.bytes().all(|b| b.is_ascii_digit() || b == b'.') && host.parse::<Ipv4Addr>().is_err()
}

fn is_port(port: &str) -> bool {
    port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_every_name_is_served_none_is_a_domain() {
        let hosts = AllowedHosts::any();
        for host in ["10.0.0.7", "[fd00::7]", "demo.localhost", "forecourt.svc.cluster.local."] {
            assert!(hosts.serves(host) && hosts.label_of(host).as_str() == "none", "{host}");
        }
        assert!(hosts.names().is_empty());
    }

    #[test]
    fn metrics_know_domains_by_configured_names_alone() {
        let labels = ["a.example", "b.example"].map(|name| (name.to_owned(), DomainLabel::named(name)));
        let hosts = AllowedHosts::new(["a.example", "b.example"], true).labelled(labels);
        for (host, label) in [
            ("a.example", "a.example"),
            ("B.Example.", "b.example"),
            ("127.0.0.1", "a.example"),
            ("c.example", "none"),
            ("made.up.b.example", "none"),
        ] {
            assert_eq!(hosts.label_of(host).as_str(), label, "{host}");
        }
        assert_eq!(AllowedHosts::new(["a.example"], true).label_of("a.example").as_str(), "none");
    }

    #[test]
    fn an_authority_is_a_host_and_perhaps_a_port() {
        for (authority, host) in [
            ("demo.localhost", "demo.localhost"),
            ("demo.localhost:8443", "demo.localhost"),
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::1]:8080", "[::1]"),
            ("demo.localhost.", "demo.localhost."),
        ] {
            assert_eq!(host_of(authority), Some(host), "{authority}");
        }
        for authority in [
            "",
            ":80",
            "a@b",
            "a/b",
            "a b",
            "a:b",
            "a:",
            "a:65536",
            "a:1:2",
            "[::1",
            "[::1]x",
            "[a]",
            "ä",
            "a\\b",
            ".a",
            "1.2.3",
            "0127.0.0.1",
            "a,b",
            "a%41",
            "a?b",
            "a#b",
        ] {
            assert_eq!(host_of(authority), None, "{authority}");
        }
    }

    #[test]
    fn only_served_names_match() {
        let hosts = AllowedHosts::new(["Demo.Example.", "*.demo.example"], false);
        for host in ["demo.example", "DEMO.EXAMPLE", "demo.example.", "a.demo.example"] {
            assert!(hosts.serves(host), "{host}");
        }
        for host in
            ["evil.example", "xdemo.example", "demo.example.evil", "a.b.demo.example", ".demo.example", "localhost"]
        {
            assert!(!hosts.serves(host), "{host}");
        }
    }

    #[test]
    fn plain_origins_are_a_closed_set_with_the_port_of_the_listener() {
        let hosts = || AllowedHosts::new(["demo.localhost", "*.demo.localhost"], true);
        let origins = hosts().naming_plain_origins().plain_origins(8080);
        for (host, origin) in [
            ("127.0.0.1", "http://127.0.0.1:8080"),
            ("LOCALHOST", "http://localhost:8080"),
            ("[::1]", "http://[::1]:8080"),
            ("Demo.localhost.", "http://demo.localhost:8080"),
        ] {
            assert_eq!(origins.of(host).map(PlainOrigin::as_str), Some(origin), "{host}");
        }
        for host in ["evil.example", "a.demo.localhost", "", "127.0.0.2"] {
            assert_eq!(origins.of(host), None, "{host}");
        }
        assert_eq!(hosts().plain_origins(8080).of("127.0.0.1"), None, "only where that was asked for");
        let public = AllowedHosts::new(["demo.example"], false).naming_plain_origins();
        assert_eq!(public.plain_origins(8080).of("demo.example"), None, "in development only");
    }

    #[test]
    fn loopback_is_served_in_development_only() {
        for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
            assert!(AllowedHosts::new(["demo.localhost"], true).serves(host));
            assert!(!AllowedHosts::new(["demo.localhost"], false).serves(host));
        }
    }
}
