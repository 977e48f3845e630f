//! Which web pages may connect: a browser names the origin of the page that makes a request.

use forecourt_core::Site;
use url::{Host, Url};

/// A web origin: scheme, host and port. RFC 6454.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    host: Host<String>,
    port: u16,
}

impl Origin {
    /// Reads `scheme://host[:port]`, for HTTP and HTTPS. `null` is no origin that anybody owns.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && !text.ends_with('/');
        let nobody = url.username().is_empty() && url.password().is_none();
        let web = matches!(url.scheme(), "http" | "https");
        let port = url.port_or_known_default()?;
        (bare && nobody && web).then_some(())?;
        Some(Self { scheme: url.scheme().to_owned(), host: url.host()?.to_owned(), port })
    }

    /// Whether its pages come from this machine.
    fn is_here(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }
}

/// The origins whose pages may connect.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    named: Vec<Origin>,
    /// Whether pages of this machine may, too.
    here: bool,
}

impl Origins {
    /// The host's own, those of `allowed`, and in development those of this machine.
    pub(crate) fn new(site: &Site, allowed: &[String]) -> Self {
        let all = std::iter::once(site.origin()).chain(allowed.iter().map(String::as_str));
        Self { named: all.filter_map(Origin::parse).collect(), here: site.domain.is_local() }
    }

    /// Whether a page of the origin `text` may connect.
    pub(crate) fn allow(&self, text: &str) -> bool {
        Origin::parse(text).is_some_and(|origin| self.named.contains(&origin) || (self.here && origin.is_here()))
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Domain;

    use super::*;

    fn origins(domain: &str, allowed: &[&str]) -> Origins {
        let domain = Domain::parse(domain).expect("a test's domain is valid");
        let site = Site { base: format!("https://{domain}"), name: domain.to_string(), domain };
        Origins::new(&site, &allowed.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn its_own_and_the_named_ones_may_connect_and_no_other() {
        let origins = origins("kitchen.example", &["https://app.example:8443"]);
        for good in ["https://kitchen.example", "https://kitchen.example:443", "https://app.example:8443"] {
            assert!(origins.allow(good), "{good}");
        }
        let bad = [
            "http://kitchen.example",
            "https://app.example",
            "https://kitchen.example.evil.example",
            "null",
            "",
            "http://localhost:6274",
            "https://kitchen.example@evil.example",
            "https://kitchen.example/",
        ];
        for bad in bad {
            assert!(!origins.allow(bad), "{bad}");
        }
    }

    #[test]
    fn in_development_pages_of_this_machine_may_connect() {
        let origins = origins("demo.localhost", &[]);
        for good in ["http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:3000", "https://demo.localhost"] {
            assert!(origins.allow(good), "{good}");
        }
        for bad in ["http://localhost.evil.example", "http://192.0.2.1", "file://localhost"] {
            assert!(!origins.allow(bad), "{bad}");
        }
    }
}
