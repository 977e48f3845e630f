//! The page of an agent that finds things: a question, what was found, and what narrows it down.
//!
//! | file | holds |
//! |---|---|
//! | `link.rs` | the URL that says a question and how it is narrowed down: every state of the page has one |
//! | `told.rs` | an answer into pieces of the page, as it comes |
//! | `facets.rs` | properties and values to click |
//! | `card.rs` | one item |
//! | `citation.rs` | numbers in an answer that lead to the results they name |
//! | `limits_told.rs` | the limits that hold, and those that don't |
//! | `several.rs` | a question to several agents, whose answers are grouped |
//! | `without.rs` | a question without one of its limits |
//!
//! The page is written from top to bottom and never changed afterwards, so that it can be sent as it
//! comes: a summary that is told again takes the place of the one before it by style alone. Results are an
//! answer, and have no script: everything on them is a link or a form that leads to another such page. The
//! page on which nothing was asked yet has one, which puts those pages into itself. There is one writer of
//! results, and it is here.

mod card;
mod citation;
mod facets;
mod limits_told;
mod link;
mod several;
mod told;
mod without;

use askama::Template;
use forecourt_core::{AgentCard, Language, SearchRefinement};
use forecourt_sentences::Sentences;

pub use several::{AskedAgent, GroupAnswer, GroupWriter, SeveralPage};
pub use told::SearchAnswer;
pub use without::questions_without;

use crate::branding::{BrandView, Branding, OpenGraph};
use crate::front::{self, AgentView};
use crate::highlight::Words;
use crate::limits::EARLIER_MAX;
use crate::template::{page_title, words_in};
use crate::visitor::{Account, AccountView};
use crate::{clean, escape, robots, script_words};
use link::Place;
use told::AnswerPage;

/// The page of an agent with [`AgentCard::finds`]. Send with [`Branding::found_policy`], or with
/// [`crate::csp::SEARCH`] when nothing was asked yet.
///
/// What [`Self::begin`] writes comes first, then what its [`SearchAnswer`] writes of each event, to the
/// end. A page on which nothing was asked yet ends at once.
pub struct SearchPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
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
    /// What was asked before it, the oldest first: it goes on with that.
    pub earlier: &'a [String],
    /// How it is narrowed down.
    pub narrowing: &'a SearchRefinement,
    /// Who is signed in.
    pub account: Account<'a>,
}

#[derive(Template)]
#[template(path = "search/begin.html")]
struct Begin {
    robots: &'static str,
    language: String,
    url: String,
    title: String,
    say: Sentences,
    words: &'static str,
    agent: AgentView,
    question: String,
    trail: Vec<Earlier>,
    /// What the box goes on with.
    along: Vec<String>,
    chosen: Vec<ChosenValue>,
    all: String,
    json_ld: Option<String>,
    account: AccountView,
    brand: BrandView,
    shared: OpenGraph,
    has_script: bool,
}

/// An earlier question, and its page.
struct Earlier {
    question: String,
    url: String,
}

/// A value that was chosen, and the page without it.
struct ChosenValue {
    value: String,
    url: String,
}

impl SearchPage<'_> {
    /// The page up to what was found.
    pub fn begin(&self) -> String {
        let place = self.place();
        let (asked, say) = (clean::line(self.question), words_in(self.language));
        let shared = front::shared(self.card, self.host_name, self.url);
        crate::template::finish(&Begin {
            language: self.language.as_str().to_owned(),
            url: clean::text(self.url).into_owned(),
            // A page with results is an answer, and answers are never listed.
            robots: robots::of(self.brand.is_indexed() && asked.is_empty()),
            title: self.title(&asked),
            say,
            words: script_words::of(say),
            agent: self.agent(),
            question: asked.clone(),
            trail: place
                .trail()
                .into_iter()
                .map(|(question, url)| Earlier { question: clean::line(question), url })
                .collect(),
            along: place.going_on().map(clean::line).collect(),
            chosen: self.narrowing.exactly.iter().map(|one| chosen(&place, one, say)).collect(),
            all: place.widest(),
            json_ld: None,
            account: AccountView::new(&self.account),
            brand: self.brand.view(),
            shared: if asked.is_empty() { shared } else { OpenGraph { title: asked, ..shared } },
            // Results show what items say, so their page may run no script ([`Branding::found_policy`]).
            has_script: self.question.is_empty(),
        })
    }

    /// What writes the rest.
    pub fn answer(&self) -> SearchAnswer {
        let words = Words::of(self.earlier.iter().map(String::as_str).chain([self.question]));
        let page = AnswerPage { brand: self.brand.view(), say: words_in(self.language), words };
        SearchAnswer::new(self.place(), self.agent(), page)
    }

    /// The whole page, when nothing was asked yet.
    pub fn render(&self) -> String {
        self.begin() + &self.answer().end(None)
    }

    /// An answer names its agent's address, as Mentionable REST 4.1 wants it.
    fn title(&self, asked: &str) -> String {
        match asked {
            "" => page_title(&[&self.card.name, self.host_name]),
            asked => page_title(&[asked, self.host_name, &self.card.address.to_string()]),
        }
    }

    fn place(&self) -> Place {
        let path = clean::href(self.path).unwrap_or_default();
        let earlier = self.earlier.iter().take(EARLIER_MAX).cloned().collect();
        Place { path, question: self.question.to_owned(), earlier, narrowing: self.narrowing.clone() }
    }

    fn agent(&self) -> AgentView {
        AgentView::new(self.card, self.path, self.ask)
    }
}

fn chosen(place: &Place, (field, value): &(String, String), say: Sentences) -> ChosenValue {
    // Which properties are told as ranges is heard with the answer, so what was chosen goes by how it is written.
    ChosenValue { value: facets::range_label(value, say), url: place.left(field, value) }
}

/// A name and a value of a query.
fn pair(name: &str, value: &str) -> String {
    format!("{}={}", escape::query(name), escape::query(value))
}
