//! A fault as a page. Design 7, item 13: errors are negotiated too.

use askama::Template;
use forecourt_core::{Address, Language};

use crate::clean;
use crate::template::{self, Head};

/// What went wrong, and what would be right. Send with [`crate::csp::answer`].
pub struct ErrorPage<'a> {
    /// The agent that was addressed, or the default one; `None` where the host has none.
    pub address: Option<&'a Address>,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The language of the words below.
    pub language: &'a Language,
    /// A few words, such as `No such agent`.
    pub title: &'a str,
    /// A sentence about what was wrong.
    pub message: &'a str,
    /// What would be right; lines are kept, so a request may be shown as it should look.
    pub hint: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorTemplate {
    head: Head,
    title: String,
    message: String,
    hint: Option<String>,
}

impl ErrorPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let address = self.address.map_or_else(|| "Forecourt".to_owned(), Address::to_string);
        template::finish(&ErrorTemplate {
            head: Head::new(&address, self.url, self.language),
            title: clean::line(self.title),
            message: clean::text(self.message).into_owned(),
            hint: self.hint.map(|hint| clean::text(hint).into_owned()),
        })
    }
}
