//! Where browsers find the console. Nothing of that is taken from what a request says.

use std::net::SocketAddr;

use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// How a browser reaches the console: this decides the name of its cookie and whether it is `Secure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// Over https, as far as anybody can tell.
    Secure,
    /// Over http, within one machine.
    Plain,
}

impl Way {
    pub(crate) const ALL: [Self; 2] = [Self::Secure, Self::Plain];

    /// How the browser came that sends a form of its own, which says whose page that is on.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        // A proxy on the same machine may speak http to us and https to the browser; its page's origin tells.
        let is_https = origin.is_some_and(|origin| origin.starts_with("https://"));
        match is_within_machine(headers) && !is_https {
            true => Self::Plain,
            false => Self::Secure,
        }
    }

    /// The ways in which whoever sends these can have come: most requests say only to which host.
    pub(crate) fn possible(headers: &HeaderMap) -> &'static [Self] {
        if is_within_machine(headers) { &Self::ALL } else { &[Self::Secure] }
    }
}

/// The console's origin as browsers see it: where a provider sends people back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleUrl {
    origin: String,
    host: String,
}

impl ConsoleUrl {
    /// Reads one: `https://host[:port]`, and `http://` on this machine alone.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let right = "must be `https://host` with an optional port, and nothing more; `http://` is for this machine";
        let url = Url::parse(text).map_err(|_| right.to_owned())?;
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && url.host().is_some_and(is_this_machine));
        match url.host_str().filter(|_| is_bare && is_safe) {
            Some(host) => Ok(Self { origin: url.origin().ascii_serialization(), host: host.to_owned() }),
            None => Err(right.to_owned()),
        }
    }

    /// That of the operator's listener, where nobody says otherwise.
    pub fn of_listener(address: SocketAddr) -> Self {
        let host = match address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        };
        Self { origin: format!("http://{address}"), host }
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The name or the address, without a port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host with its port, as browsers send it.
    pub(crate) fn authority(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, authority)| authority)
    }

    /// An absolute URL.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// How browsers come there.
    pub(crate) fn way(&self) -> Way {
        if self.origin.starts_with("http://") { Way::Plain } else { Way::Secure }
    }
}

fn is_within_machine(headers: &HeaderMap) -> bool {
    headers.get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(names_this_machine)
}

/// Whether `host[:port]` is a name of the machine on which its browser runs.
fn names_this_machine(authority: &str) -> bool {
    let url = Url::parse(&format!("http://{authority}"));
    url.is_ok_and(|url| url.host().is_some_and(is_this_machine) && url.username().is_empty())
}

fn is_this_machine(host: Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
        // RFC 6761 6.3: names under `.localhost` are loopback as well.
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_browser_comes_plainly_within_one_machine_alone() {
        for host in ["127.0.0.1:9080", "localhost:9080", "localhost", "[::1]:9080", "demo.localhost:9080"] {
            assert_eq!(Way::of(&headers(&[(header::HOST, host)])), Way::Plain, "{host}");
            let behind = headers(&[(header::HOST, host), (header::ORIGIN, "https://console.example")]);
            assert_eq!(Way::of(&behind), Way::Secure, "{host} behind a proxy");
        }
        for host in ["console.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1:9080", ""] {
            assert_eq!(Way::of(&headers(&[(header::HOST, host)])), Way::Secure, "{host}");
        }
        assert_eq!(Way::of(&HeaderMap::new()), Way::Secure);
    }

    #[test]
    fn an_address_is_https_or_on_this_machine_and_nothing_more() {
        for (text, origin) in [
            ("https://console.example.com", "https://console.example.com"),
            ("https://console.example.com:8443/", "https://console.example.com:8443"),
            ("http://localhost:9080", "http://localhost:9080"),
            ("http://[::1]:9080", "http://[::1]:9080"),
        ] {
            let read = ConsoleUrl::parse(text).unwrap();
            assert_eq!((read.origin(), read.at("/console")), (origin, format!("{origin}/console")));
        }
        for wrong in [
            "http://console.example.com",
            "https://console.example.com/admin",
            "https://u:p@console.example.com",
            "https://console.example.com?x=1",
            "https://console.example.com#x",
            "ftp://localhost",
            "console.example.com",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "",
        ] {
            assert!(ConsoleUrl::parse(wrong).is_err(), "{wrong}");
        }
        let own = ConsoleUrl::of_listener("[::1]:9080".parse().unwrap());
        assert_eq!((own.origin(), own.host(), own.authority()), ("http://[::1]:9080", "[::1]", "[::1]:9080"));
        assert_eq!(own.way(), Way::Plain);
    }
}
