//! Renders the pages about signing in itself. Mentionable REST 7.2.

use askama::Template;
use forecourt_core::Language;

use crate::branding::Branding;
use crate::template::{self, Head};
use crate::{clean, escape};

/// Where people sign in; a path of this origin.
pub const SIGN_IN: &str = "/sign-in";
/// Where they sign out, by POST.
pub const SIGN_OUT: &str = "/sign-out";

/// The path that has a person sign in and come back to `return_to`, a path of this origin with its query.
pub fn sign_in_path(return_to: &str) -> String {
    format!("{SIGN_IN}?return_to={}", escape::query(return_to))
}

/// A page about signing in: that somebody is, that it did not work, that it is over. Send with
/// [`Branding::asking_policy`].
pub struct AccountPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The name of the host.
    pub host_name: &'a str,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The language of what it says.
    pub language: &'a Language,
    /// A few words.
    pub title: &'a str,
    /// What there is to say.
    pub message: &'a str,
    /// Where to go from here: a URL and its words. The first one stands out.
    pub links: &'a [(&'a str, &'a str)],
    /// What a button posts to, and its words.
    pub posts: Option<(&'a str, &'a str)>,
    /// Whether there is a button to sign out.
    pub signs_out: bool,
    /// Where the browser goes on by itself.
    pub goes_on_to: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "account_page.html")]
struct AccountTemplate {
    head: Head,
    host_name: String,
    title: String,
    message: String,
    links: Vec<(String, String)>,
    posts: Option<(String, String)>,
    signs_out: bool,
    goes_on_to: Option<String>,
}

impl AccountPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let here = |url: &str| if url.starts_with('/') { self.brand.path(url) } else { url.to_owned() };
        let links = self.links.iter().filter_map(|(url, words)| Some((clean::href(&here(url))?, clean::line(words))));
        template::finish(&AccountTemplate {
            head: Head::new(None, self.url, self.language, self.brand, self.title, self.message),
            host_name: clean::line(self.host_name),
            title: clean::line(self.title),
            message: clean::text(self.message).into_owned(),
            links: links.collect(),
            posts: self.posts.and_then(|(url, words)| Some((clean::href(&here(url))?, clean::line(words)))),
            signs_out: self.signs_out,
            goes_on_to: self.goes_on_to.and_then(clean::href),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest8_2_words_of_others_are_escaped() {
        let page = AccountPage {
            brand: &Branding::default(),
            host_name: "<b>Us",
            url: "https://demo.example/sign-in?\"><script>",
            language: &Language::english(),
            title: "Hello <i>you",
            message: "<script>alert(1)</script>",
            links: &[("javascript:alert(1)", "no"), ("/~chef?user=\"><x", "<on>")],
            posts: Some(("javascript:alert(1)", "<on>")),
            signs_out: true,
            goes_on_to: Some("javascript:alert(1)"),
        };
        let html = page.render();
        for never in ["<script", "<b>Us", "<i>you", "javascript:", "\"><x", "<on>", "http-equiv"] {
            assert!(!html.contains(never), "{never} in {html}");
        }
        assert!(html.contains("action=\"/sign-out\""));
        assert_eq!(sign_in_path("/~a?user=x&y=//z"), "/sign-in?return_to=%2F~a%3Fuser%3Dx%26y%3D%2F%2Fz");
    }
}
