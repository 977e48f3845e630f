//! The page of an agent that finds things: a question, what was found, and what narrows it down.
//!
//! | file | holds |
//! |---|---|
//! | `link.rs` | the URL that says a question and how it is narrowed down: every state of the page has one |
//! | `told.rs` | an answer into pieces of the page, as it comes |
//! | `facets.rs` | properties and values to click |
//! | `card.rs` | one item |
//!
//! The page is written from top to bottom and never changed afterwards, so that it can be sent as it
//! comes: a summary that is told again takes the place of the one before it by style alone. Results are an
//! answer, and have no script: everything on them is a link or a form that leads to another such page. The
//! page on which nothing was asked yet has one, which puts those pages into itself. There is one writer of
//! results, and it is here.

mod card;
mod facets;
mod link;
mod told;

use askama::Template;
use forecourt_core::{AgentCard, Language, SearchRefinement};

pub use told::SearchAnswer;

use crate::account::{Account, AccountView};
use crate::front::AgentView;
use crate::{asset, clean, escape};
use link::Place;

/// The page of an agent with [`AgentCard::finds`]. Send with [`crate::csp::FOUND`], or with
/// [`crate::csp::SEARCH`] when nothing was asked yet.
///
/// What [`Self::begin`] writes comes first, then what its [`SearchAnswer`] writes of each event, to the
/// end. A page on which nothing was asked yet ends at once.
pub struct SearchPage<'a> {
    /// The agent.
    pub card: &'a AgentCard,
    /// The URL of this very page, for `rel="alternate"`.
    pub url: &'a str,
    /// The language of the page.
    pub language: &'a Language,
    /// Where the form goes: a path of this origin, such as `/~chef`.
    pub path: &'a str,
    /// The absolute URL that takes `?user=…`; shown as a curl line.
    pub ask: Option<&'a str>,
    /// The name of the host, which leads back to `/`.
    pub host_name: &'a str,
    /// What was asked; empty when nothing was.
    pub question: &'a str,
    /// How it is narrowed down.
    pub narrowing: &'a SearchRefinement,
    /// Who is signed in.
    pub account: Account<'a>,
}

#[derive(Template)]
#[template(path = "search/begin.html")]
struct Begin {
    language: String,
    url: String,
    host_name: String,
    agent: AgentView,
    question: String,
    chosen: Vec<Chosen>,
    all: String,
    json_ld: Option<String>,
    account: AccountView,
    style: String,
    /// Empty: none.
    script: String,
}

/// A value that was chosen, and the page without it.
struct Chosen {
    value: String,
    url: String,
}

impl SearchPage<'_> {
    /// The page up to what was found.
    pub fn begin(&self) -> String {
        let place = self.place();
        crate::template::finish(&Begin {
            language: self.language.as_str().to_owned(),
            url: clean::text(self.url).into_owned(),
            host_name: clean::line(self.host_name),
            agent: self.agent(),
            question: clean::line(self.question),
            chosen: self.narrowing.exactly.iter().map(|(field, value)| chosen(&place, field, value)).collect(),
            all: place.widest(),
            json_ld: None,
            account: AccountView::new(&self.account),
            style: asset::versioned("/assets/forecourt.css"),
            script: if self.question.is_empty() { asset::versioned("/assets/forecourt.js") } else { String::new() },
        })
    }

    /// What writes the rest.
    pub fn answer(&self) -> SearchAnswer {
        SearchAnswer::new(self.place(), self.agent(), clean::line(&self.card.version))
    }

    /// The whole page, when nothing was asked yet.
    pub fn render(&self) -> String {
        self.begin() + &self.answer().end(None)
    }

    fn place(&self) -> Place {
        let path = clean::href(self.path).unwrap_or_default();
        Place { path, question: self.question.to_owned(), narrowing: self.narrowing.clone() }
    }

    fn agent(&self) -> AgentView {
        AgentView::new(self.card, self.path, self.ask)
    }
}

fn chosen(place: &Place, field: &str, value: &str) -> Chosen {
    Chosen { value: facets::said(value), url: place.toggled(field, value) }
}

/// The name of a query parameter that chooses a value of a property.
pub const FILTER_PREFIX: &str = "filter.";
/// The name of a query parameter that answers a question: what follows is the question.
pub const ANSWER_PREFIX: &str = "answer.";
/// The query parameter that says how many results to show.
pub const RESULTS: &str = "results";
/// The query parameter, with its value, that wants no question back.
pub const DECIDED: (&str, &str) = ("ask", "no");

/// A name and a value of a query.
fn pair(name: &str, value: &str) -> String {
    format!("{}={}", escape::query(name), escape::query(value))
}
