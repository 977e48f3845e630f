//! One request of a browser, whatever it wants.

use std::net::IpAddr;

use forecourt_core::{ClientAddr, Entropy, Language, Site, Timestamp};
use forecourt_host::Host;
use forecourt_identity::Person;
use forecourt_identity::sessions::{BrowserRequest, Sessions};
use forecourt_pages::Branding;
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_surface::BaseUrl;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::negotiate;
use forecourt_surface::refusal::add_fields;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

use crate::SignIn;
use crate::error::SignInError;
use crate::provider::PeopleProvider;

/// One request of a browser.
pub(crate) struct Visit<'a> {
    sign_in: &'a SignIn,
    pub(crate) head: &'a Parts,
    now: Timestamp,
}

impl<'a> Visit<'a> {
    /// A request that arrives now.
    pub(crate) fn new(sign_in: &'a SignIn, head: &'a Parts) -> Self {
        Self { sign_in, head, now: sign_in.host.clock().now() }
    }

    /// The answer to what is of no such method, or comes from a caller over its limits. `None`: it is taken.
    pub(crate) fn turned_away(&self, methods: &[Method]) -> Option<HttpAnswer> {
        let allow = match methods {
            [Method::GET] => "GET, OPTIONS",
            [Method::POST] => "POST, OPTIONS",
            _ => "GET, POST, OPTIONS",
        };
        if self.head.method == Method::OPTIONS {
            return Some(HttpAnswer::options(allow));
        }
        if !methods.contains(&self.head.method) {
            return Some(HttpAnswer::empty(StatusCode::METHOD_NOT_ALLOWED, HeaderMap::new()).allowing(allow));
        }
        // Each sign-in that is begun writes to the store, and each callback asks the provider.
        let part = self.sign_in.host.meter(self.peer()).err()?;
        let mut head = HeaderMap::new();
        add_fields(&mut head, &part, self.site().canonical_host());
        Some(HttpAnswer::whole(StatusCode::TOO_MANY_REQUESTS, head, part.message.clone()))
    }

    /// The host that it is for.
    pub(crate) fn sign_in_host(&self) -> &'a Host {
        &self.sign_in.host
    }

    /// The provider and the sessions, where people sign in.
    pub(crate) fn parts(&self) -> Result<(&'a PeopleProvider, &'a Sessions), SignInError> {
        let provider = self.sign_in.provider.as_ref().ok_or(SignInError::NotOffered)?;
        Ok((provider, self.sign_in.verifier.sessions().ok_or(SignInError::NotOffered)?))
    }

    /// What its cookies say.
    pub(crate) fn browser(&self) -> BrowserRequest<'a> {
        BrowserRequest { method: &self.head.method, headers: &self.head.headers, origin: self.base().origin() }
    }

    fn base(&self) -> BaseUrl<'a> {
        BaseUrl::of(self.sign_in.host.site(), &self.head.extensions)
    }

    /// Who is signed in already.
    pub(crate) async fn person(&self) -> Result<Option<Person>, SignInError> {
        let agent = &self.sign_in.host.directory().default_agent().card.address;
        let (now, entropy) = self.ambient();
        Ok(self.sign_in.verifier.person(self.browser(), agent, now, entropy).await?)
    }

    /// An absolute URL of this host.
    pub(crate) fn url(&self, path: &str) -> String {
        self.base().url(path)
    }

    /// How pages look.
    pub(crate) fn brand(&self) -> &'a Branding {
        &self.sign_in.pages.branding
    }

    /// What the outside calls this host.
    pub(crate) fn site(&self) -> &'a Site {
        self.sign_in.host.site()
    }

    /// The words of pages, in the language that the browser asks for.
    pub(crate) fn say(&self) -> Sentences {
        let wanted = negotiate::languages(&self.head.headers);
        let spoken = wanted.iter().find_map(SpokenLanguage::of);
        Sentences::in_language(spoken.unwrap_or(SpokenLanguage::English))
    }

    /// The language of [`Self::say`].
    pub(crate) fn language(&self) -> Language {
        Language::parse(self.say().language().code()).unwrap_or_else(Language::english)
    }

    /// When it arrived.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The time and the randomness.
    pub(crate) fn ambient(&self) -> (Timestamp, &'a dyn Entropy) {
        (self.now, &**self.sign_in.host.entropy())
    }

    /// The network address behind it, when a listener said so.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.head.extensions.get::<ClientAddr>().map(|client| client.0)
    }
}
