//! This module chooses the base of the URLs in an answer: the configured one, or in development the plain origin at
//! which the document was fetched (design 18). It is never taken from a header: the listener knows its own few names.

use std::borrow::Cow;

use forecourt_core::{AgentCard, PolicyPart, Site};
pub use forecourt_server::PlainOrigin;
use http::Extensions;

/// The base under which one answer names this host: an origin, and the path of the host where it has one.
#[derive(Debug, Clone, Copy)]
pub struct BaseUrl<'a> {
    site: &'a Site,
    plain: Option<&'a PlainOrigin>,
}

impl<'a> BaseUrl<'a> {
    /// The configured base, for what is not an answer to a request.
    pub fn configured(site: &'a Site) -> Self {
        Self::at(site, None)
    }

    /// The base for the answer to a request with these extensions, as its listener attached it.
    pub fn of(site: &'a Site, extensions: &'a Extensions) -> Self {
        Self::at(site, extensions.get::<PlainOrigin>())
    }

    /// The configured base, or the plain origin where there is one.
    pub fn at(site: &'a Site, plain: Option<&'a PlainOrigin>) -> Self {
        Self { site, plain }
    }

    /// The base, without a slash at the end.
    pub fn as_str(self) -> &'a str {
        self.plain.map_or(&self.site.base, PlainOrigin::as_str)
    }

    /// Its origin, as browsers write that of its pages.
    pub fn origin(self) -> &'a str {
        self.plain.map_or(self.site.origin(), PlainOrigin::as_str)
    }

    /// A path that begins with a slash, as pages under this base link to it.
    pub fn path(self, path: &str) -> Cow<'_, str> {
        match self.plain {
            Some(_) => Cow::Borrowed(path),
            None => self.site.path(path),
        }
    }

    /// The plain origin of development, if the request came to a plain listener.
    pub fn plain(self) -> Option<&'a PlainOrigin> {
        self.plain
    }

    /// The host of the origin, with the port unless the scheme implies it.
    pub fn authority(self) -> &'a str {
        let origin = self.origin();
        origin.split_once("://").map_or(origin, |(_, authority)| authority)
    }

    /// An absolute URL for a path that begins with a slash.
    pub fn url(self, path: &str) -> String {
        format!("{}{path}", self.as_str())
    }

    /// The site with this base, for code that renders more than one URL.
    pub fn site(self) -> Cow<'a, Site> {
        match self.plain {
            None => Cow::Borrowed(self.site),
            Some(plain) => Cow::Owned(Site { base: plain.as_str().to_owned(), ..self.site.clone() }),
        }
    }

    /// A card whose endpoints are under this origin.
    pub fn card<'c>(self, card: &'c AgentCard) -> Cow<'c, AgentCard> {
        if self.plain.is_none() {
            return Cow::Borrowed(card);
        }
        let mut card = card.clone();
        for endpoint in &mut card.endpoints {
            endpoint.url = self.rebase(&endpoint.url).into_owned();
            if let Some(description) = &mut endpoint.description {
                description.url = self.rebase(&description.url).into_owned();
            }
        }
        Cow::Owned(card)
    }

    /// A refusal as a page shows it: its button leads to where its reader is already. The part that programs are given
    /// keeps the address of the canonical host. PolicyPart 3.2.
    pub fn refusal(self, part: &PolicyPart) -> PolicyPart {
        let url = part.url.as_deref().map(|url| self.rebase(url).into_owned());
        PolicyPart { url, ..part.clone() }
    }

    /// A published URL as this answer names it: one of this host under its origin, any other as it is.
    pub fn rebase(self, url: &str) -> Cow<'_, str> {
        let Some(plain) = self.plain else { return Cow::Borrowed(url) };
        match url.strip_prefix(&self.site.base) {
            // The origin must end there: `https://demo.localhost:84430` and `https://demo.localhost:8443.evil.example`
            // begin with it too.
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '?', '#']) => {
                Cow::Owned(format!("{}{rest}", plain.as_str()))
            }
            _ => Cow::Borrowed(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Domain;

    use super::*;

    fn site() -> Site {
        let domain = Domain::parse("demo.localhost").unwrap();
        Site { domain, name: "Demo".to_owned(), base: "https://demo.localhost:8443".to_owned() }
    }

    #[test]
    fn without_a_plain_origin_everything_is_as_configured() {
        let (site, extensions) = (site(), Extensions::new());
        for base in [BaseUrl::configured(&site), BaseUrl::of(&site, &extensions)] {
            assert_eq!(base.url("/a2a"), "https://demo.localhost:8443/a2a");
            assert_eq!(base.authority(), "demo.localhost:8443");
            assert_eq!(base.rebase("https://demo.localhost:8443/~chef"), "https://demo.localhost:8443/~chef");
        }
    }

    #[test]
    fn a_plain_origin_is_named_in_urls_of_this_host_alone() {
        let (site, mut extensions) = (site(), Extensions::new());
        extensions.insert(PlainOrigin::new("127.0.0.1", 8080));
        let base = BaseUrl::of(&site, &extensions);
        assert_eq!((base.url("/a2a").as_str(), base.authority()), ("http://127.0.0.1:8080/a2a", "127.0.0.1:8080"));
        for (published, named) in [
            ("https://demo.localhost:8443", "http://127.0.0.1:8080"),
            ("https://demo.localhost:8443/~chef?x", "http://127.0.0.1:8080/~chef?x"),
            ("https://demo.localhost:84430/", "https://demo.localhost:84430/"),
            ("https://demo.localhost:8443.evil.example/", "https://demo.localhost:8443.evil.example/"),
            ("agtp://demo.localhost:4480/", "agtp://demo.localhost:4480/"),
            ("https://elsewhere.example/", "https://elsewhere.example/"),
        ] {
            assert_eq!(base.rebase(published), named);
            let part = PolicyPart::new(forecourt_core::policy::RefusalKind::Forbidden, "No.");
            let part = base.refusal(&PolicyPart { url: Some(published.to_owned()), ..part });
            assert_eq!(part.url.as_deref(), Some(named));
        }
    }
}
