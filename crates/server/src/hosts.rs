//! The host names that are served, and the strict reading of an authority.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The names under which this server answers; requests for others are 421.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    names: Vec<String>,
    development: bool,
}

impl Hosts {
    /// `names` are A-labels without a port; `*.example.org` stands for one more label. In
    /// development, the names and addresses of the loopback interface are served too.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>, development: bool) -> Hosts {
        let names = names.into_iter().map(|name| name.into().trim_end_matches('.').to_ascii_lowercase());
        Hosts { names: names.collect(), development }
    }

    /// Whether `host`, without its port, is served. Letter case and one trailing dot do not matter.
    pub fn serves(&self, host: &str) -> bool {
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
        Some(parent) => host.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && same(parent, rest)),
        None => same(name, host),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn is_loopback(host: &str) -> bool {
    same(host, "localhost") || host == "127.0.0.1" || host == "[::1]"
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
    host.bytes().all(|b| b.is_ascii_digit() || b == b'.') && host.parse::<Ipv4Addr>().is_err()
}

fn is_port(port: &str) -> bool {
    port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let hosts = Hosts::new(["Demo.Example.", "*.demo.example"], false);
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
    fn loopback_is_served_in_development_only() {
        for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
            assert!(Hosts::new(["demo.localhost"], true).serves(host));
            assert!(!Hosts::new(["demo.localhost"], false).serves(host));
        }
    }
}
