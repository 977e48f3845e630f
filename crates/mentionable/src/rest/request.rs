//! What a request says before its body is read: which form of an answer, which language, from where.

use std::net::IpAddr;

use forecourt_core::Site;
use forecourt_core::{ClientAddr, Language};
use forecourt_surface::{BaseUrl, negotiate};
use http::HeaderMap;
use http::request::Parts;

use super::errors::Failure;
use super::media::Media;
use super::query;

/// The head of a request, as this site reads it.
#[derive(Clone, Copy)]
pub(crate) struct RequestHead<'a> {
    pub(crate) site: &'a Site,
    pub(crate) parts: &'a Parts,
    /// What it wants back. `None`: nothing that we have.
    pub(crate) media: Option<Media>,
}

impl<'a> RequestHead<'a> {
    /// A request to an agent, a page or an asset.
    pub(crate) fn of_agent(site: &'a Site, parts: &'a Parts) -> Self {
        Self { site, parts, media: Media::wanted(&parts.headers) }
    }

    /// A request about a task, whose errors are JSON unless something else is wanted.
    pub(crate) fn of_task(site: &'a Site, parts: &'a Parts) -> Self {
        Self { site, parts, media: Some(Media::wanted_of_task(&parts.headers)) }
    }

    /// What it wants back, or 406.
    pub(crate) fn media(&self) -> Result<Media, Failure> {
        self.media.ok_or_else(Failure::not_acceptable)
    }

    /// The headers of the request.
    pub(crate) fn headers(&self) -> &'a HeaderMap {
        &self.parts.headers
    }

    /// The query of its URL; empty where there is none.
    pub(crate) fn query(&self) -> &'a str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// The network address behind it, when a listener said so.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.parts.extensions.get::<ClientAddr>().map(|client| client.0)
    }

    /// The language that it asks for: that of its header, or of the parameter `lang` where the header names
    /// none. REST 3.1, companion decision C20.
    pub(crate) fn language(&self) -> Option<Language> {
        negotiate::language(self.headers()).or_else(|| query::language(self.parts.uri.query()?))
    }

    /// All languages that it asks for, the most wanted first.
    pub(crate) fn languages(&self) -> Vec<Language> {
        let wanted = negotiate::languages(self.headers());
        if wanted.is_empty() { self.language().into_iter().collect() } else { wanted }
    }

    /// What URLs begin with in its answer.
    pub(crate) fn base(&self) -> BaseUrl<'a> {
        BaseUrl::of(self.site, &self.parts.extensions)
    }

    /// Its absolute URL, from configuration or its listener and never from `Host`.
    pub(crate) fn url(&self) -> String {
        let target = self.parts.uri.path_and_query().map_or("/", |target| target.as_str());
        self.base().url(target)
    }

    /// What the query of its URL asks, for pages that say it.
    pub(crate) fn question(&self) -> String {
        query::questions(self.query()).join("\n")
    }
}
