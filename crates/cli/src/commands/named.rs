//! What people write to name an agent or a domain.

use forecourt_core::Domain;
use url::Url;

use crate::output::Failure;
use forecourt::registry::discovery::Acct;

/// Something that was named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NamedTarget {
    /// The URL of an endpoint or a page.
    Url(Url),
    /// An agent by its address. Design 8: a port may follow.
    Agent(Acct, Option<u16>),
    /// A domain. A port may follow.
    Domain(Domain, Option<u16>),
}

impl NamedTarget {
    /// Reads what somebody wrote.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        if is_url(text) {
            return Url::parse(text).map(Self::Url).map_err(|error| Failure::usage(format!("{text}: {error}")));
        }
        let (name, port) = split_port(text);
        if name.contains('@') {
            let acct = Acct::parse(name).map(|acct| Self::Agent(acct, port));
            return acct.map_err(|_| {
                Failure::usage(format!("`{text}` is not the address of an agent"))
                    .hint("addresses look like @chef@demo.localhost, with a port if need be: @chef@demo.localhost:8443")
            });
        }
        let domain = Domain::parse(name).map(|domain| Self::Domain(domain, port));
        domain.map_err(|_| {
            Failure::usage(format!("`{text}` is neither an address, nor a domain, nor a URL"))
                .hint("try @chef@demo.localhost, demo.localhost or https://demo.localhost/~chef")
        })
    }
}

fn is_url(text: &str) -> bool {
    ["https://", "http://"]
        .iter()
        .any(|scheme| text.split_at_checked(scheme.len()).is_some_and(|(head, _)| head.eq_ignore_ascii_case(scheme)))
}

/// The port behind the last colon, if that is what stands there; `acct:` is none.
fn split_port(text: &str) -> (&str, Option<u16>) {
    let split = text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse::<u16>().ok()?)));
    match split {
        // Port 0 means "any free one" and can't be asked.
        Some((name, port)) if port > 0 => (name, Some(port)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acct(text: &str) -> Acct {
        Acct::parse(text).unwrap()
    }

    #[test]
    fn addresses_domains_and_urls_are_told_apart() {
        let read = |text: &str| NamedTarget::parse(text).unwrap();
        let chef = acct("@chef@demo.localhost");
        assert_eq!(read("@chef@demo.localhost"), NamedTarget::Agent(chef.clone(), None));
        assert_eq!(read("chef@demo.localhost:8443"), NamedTarget::Agent(chef.clone(), Some(8443)));
        assert_eq!(read("acct:Chef@Demo.Localhost"), NamedTarget::Agent(chef, None));
        let domain = Domain::parse("demo.localhost").unwrap();
        assert_eq!(read("demo.localhost"), NamedTarget::Domain(domain.clone(), None));
        assert_eq!(read("demo.localhost:1"), NamedTarget::Domain(domain, Some(1)));
        assert!(matches!(read("HTTPS://demo.localhost:8443/~chef"), NamedTarget::Url(_)));
        assert!(matches!(read("http://127.0.0.1/~chef"), NamedTarget::Url(_)));
    }

    #[test]
    fn what_is_none_of_these_is_said() {
        for text in
            ["", "chef", "@chef", "@@x.y", "a@b@c.d", "demo.localhost:0", "demo.localhost:65536", "http://", "::"]
        {
            assert!(NamedTarget::parse(text).is_err(), "{text}");
        }
    }
}
