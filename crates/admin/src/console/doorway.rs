//! What is shown to who is not logged in: the ways in, why one is closed, and what leads on.

use askama::Template;
use http::{HeaderMap, StatusCode, header};

use super::assets;
use super::view::sentence;
use crate::api_error::ApiError;
use crate::entrance::Entrance;

/// The field of the form by which the provider is to ask who somebody is once more.
pub(super) const ANEW: &str = "anew";

/// The ways in, as one browser has them.
pub(super) struct Doorway<'a> {
    takes_token: bool,
    provider: Option<&'a str>,
    /// The origin at which the provider can be gone to, where the browser is at another one.
    elsewhere: Option<&'a str>,
}

impl<'a> Doorway<'a> {
    /// The ways in for whoever sends these. `is_here`: they were led to this address, whatever it is called on the way.
    pub(super) fn new(entrance: &'a Entrance, headers: &HeaderMap, is_here: bool) -> Self {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let is_there = is_here || host.is_some_and(|host| host.eq_ignore_ascii_case(entrance.url.authority()));
        Self {
            takes_token: entrance.token().is_some(),
            provider: entrance.provider.as_ref().map(|provider| provider.name()),
            elsewhere: (!is_there).then(|| entrance.url.origin()),
        }
    }

    /// The page, with what went wrong before.
    pub(super) fn render(&self, next: &str, error: Option<&ApiError>) -> String {
        let elsewhere = self
            .elsewhere
            .map(|origin| format!("{origin}/console/login?here=1&next={}", forecourt_pages::escape::query(next)));
        let page = Page {
            style: assets::versioned("console.css"),
            title: "Log in",
            alert: error.map(|error| sentence(&error.message)),
            hint: error.and_then(|error| error.hint.as_deref()).map(sentence),
            next,
            takes_token: self.takes_token,
            provider: self.provider,
            elsewhere,
            anew: error.filter(|error| error.status == StatusCode::FORBIDDEN).map(|_| ANEW),
            leads_to: None,
        };
        page.render().unwrap_or_default()
    }
}

/// What is said to who can't come in.
pub(super) fn closed(error: &ApiError) -> String {
    let page = Page {
        alert: Some(sentence(&error.message)),
        hint: error.hint.as_deref().map(sentence),
        ..Page::bare("Closed")
    };
    page.render().unwrap_or_default()
}

/// A page that goes on to `url` by itself; `words` is the link for browsers that don't.
pub(super) fn leading(url: &str, words: &str) -> String {
    Page { leads_to: Some((url, words)), ..Page::bare("One moment") }.render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "login.html")]
struct Page<'a> {
    style: String,
    title: &'a str,
    alert: Option<String>,
    hint: Option<String>,
    next: &'a str,
    takes_token: bool,
    provider: Option<&'a str>,
    elsewhere: Option<String>,
    anew: Option<&'a str>,
    leads_to: Option<(&'a str, &'a str)>,
}

impl<'a> Page<'a> {
    fn bare(title: &'a str) -> Self {
        Self {
            style: assets::versioned("console.css"),
            title,
            alert: None,
            hint: None,
            next: "/console",
            takes_token: false,
            provider: None,
            elsewhere: None,
            anew: None,
            leads_to: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_on_is_text_of_an_address_and_nothing_more() {
        let page = leading("https://login.example/a?x=1&y=\"><script>alert(1)</script>", "Go on to <b>");
        assert!(!page.contains("<script>alert") && !page.contains("<b>"), "{page}");
        assert!(page.contains("http-equiv=\"refresh\""), "{page}");
    }
}
