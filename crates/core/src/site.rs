//! What the outside calls a place.

use std::borrow::Cow;

use crate::address::{Address, Domain, Handle};

/// What the outside calls this place. Comes from configuration, never from a request.
#[derive(Debug, Clone)]
pub struct Site {
    /// The domain of every address here; its name is the canonical host.
    pub domain: Domain,
    /// A name to show.
    pub name: String,
    /// The base of every published URL, `https://host[:port]` and the path of the host where it has one, without a
    /// trailing slash.
    pub base: String,
}

impl Site {
    /// Scheme, host and port, as browsers write the origin of its pages.
    pub fn origin(&self) -> &str {
        &self.base[..self.base.len() - self.prefix().len()]
    }

    /// The path that the paths of this host are published below: empty, or `/path` without a trailing slash. Requests
    /// are known without it.
    pub fn prefix(&self) -> &str {
        // Each request asks: the two schemes are compared, which is less work than to look for `://`.
        let rest =
            ["https://", "http://"].iter().find_map(|scheme| self.base.strip_prefix(scheme)).unwrap_or(&self.base);
        rest.find('/').map_or("", |at| &rest[at..])
    }

    /// The canonical host with its port, when that is not 443: what URLs of refusals are bound to.
    pub fn canonical_host(&self) -> &str {
        let origin = self.origin();
        origin.strip_prefix("https://").unwrap_or(origin)
    }

    /// The address of an agent here.
    pub fn address(&self, handle: &Handle) -> Address {
        Address::new(handle.clone(), self.domain.clone())
    }

    /// An absolute URL for a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// A path that begins with a slash, as pages of this host link to it.
    pub fn path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match self.prefix() {
            "" => Cow::Borrowed(path),
            prefix => Cow::Owned(format!("{prefix}{path}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(base: &str) -> Site {
        Site { domain: Domain::parse("demo.localhost").unwrap(), name: String::new(), base: base.to_owned() }
    }

    #[test]
    fn a_base_is_an_origin_and_perhaps_a_path() {
        for (base, origin, prefix, host) in [
            ("https://demo.localhost", "https://demo.localhost", "", "demo.localhost"),
            ("https://demo.localhost:8443", "https://demo.localhost:8443", "", "demo.localhost:8443"),
            ("https://example.com/agents", "https://example.com", "/agents", "example.com"),
            ("https://example.com:9/a/b", "https://example.com:9", "/a/b", "example.com:9"),
        ] {
            let site = site(base);
            assert_eq!((site.origin(), site.prefix(), site.canonical_host()), (origin, prefix, host), "{base}");
            assert_eq!(site.url("/x"), format!("{base}/x"));
            assert_eq!(site.path("/x"), format!("{prefix}/x"));
        }
    }
}
