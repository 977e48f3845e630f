//! Where a remote agent is, as an operator writes it: a URL, the address of an agent, or a domain.

use forecourt_core::{Address, Domain};

use crate::card::names::HUB_PATH;

/// The port of the plain listener of a host under `.localhost`, unless another one is written: where Forecourt listens by
/// default.
const LOCAL_PORT: u16 = 8080;

/// The URL that was written, or that an address or a domain stands for. `None` for what is none of these.
///
/// An agent is asked at its own endpoint, a domain at its hub. Hub card 2.3, 4. Names under `.localhost` are asked in the
/// clear, since nobody else's program knows the authority of their certificate.
pub(crate) fn url_of(text: &str) -> Option<String> {
    if text.contains("://") {
        return Some(text.to_owned());
    }
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port.parse::<u16>().ok().filter(|port| *port > 0)?)),
        None => (text, None),
    };
    let (domain, path) = match name.contains('@') {
        true => {
            let address = Address::parse(name).ok()?;
            (address.domain().clone(), format!("{HUB_PATH}/{}", address.local()))
        }
        false => (Domain::parse(name).ok()?, "/".to_owned()),
    };
    let port = port.or_else(|| domain.is_local().then_some(LOCAL_PORT)).map(|port| format!(":{port}"));
    let scheme = if domain.is_local() { "http" } else { "https" };
    Some(format!("{scheme}://{}{}{path}", domain.as_str(), port.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_and_domains_stand_for_urls() {
        for (written, url) in [
            ("@chef@example.com", "https://example.com/a2a/chef"),
            ("Chef@Example.com", "https://example.com/a2a/chef"),
            ("@chef@example.com:8443", "https://example.com:8443/a2a/chef"),
            ("@chef@demo.localhost", "http://demo.localhost:8080/a2a/chef"),
            ("@chef@demo.localhost:8081", "http://demo.localhost:8081/a2a/chef"),
            ("example.com", "https://example.com/"),
            ("demo.localhost:8081", "http://demo.localhost:8081/"),
            ("https://example.com/card.json", "https://example.com/card.json"),
            ("http://127.0.0.1:9000/a2a", "http://127.0.0.1:9000/a2a"),
        ] {
            assert_eq!(url_of(written).as_deref(), Some(url), "{written}");
        }
        for wrong in ["", "chef", "@chef", "@chef@", "a@b@c.example", "example.com:0", "example.com:x", "example.com/a"]
        {
            assert_eq!(url_of(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_a_url(text in "[@a-z0-9.:/-]{0,30}|\\PC{0,20}") {
            if let Some(url) = url_of(&text).filter(|_| !text.contains("://")) {
                prop_assert!(url::Url::parse(&url).is_ok_and(|url| url.has_host()), "{} {}", text, url);
            }
        }
    }
}
