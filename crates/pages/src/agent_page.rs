//! The page of one agent, with a box to talk to it. Design 5 and 7, item 1.

use askama::Template;
use forecourt_core::{AgentCard, Language};
use forecourt_sentences::Sentences;

use crate::branding::{BrandView, Branding, OpenGraph};
use crate::front::{self, AgentView};
use crate::template::{page_title, words_in};
use crate::visitor::{Account, AccountView};
use crate::{clean, escape, script_words, template};

/// One agent and a chat box. Send with [`crate::csp::PAGE`].
///
/// The box is a plain form that works without a script; the script streams the answer into the
/// page instead. It asks `action`, reads `X-Mentionable-Session` from the answer and takes a
/// conversation to go on with from `#session=…`, which never reaches the server by itself.
pub struct AgentPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The agent.
    pub card: &'a AgentCard,
    /// The URL of this page, for `rel="alternate"`.
    pub url: &'a str,
    /// The language of the page.
    pub language: &'a Language,
    /// Where the form goes: a path of this origin, such as `/~chef`, so that the page also works
    /// under another name of the host.
    pub action: &'a str,
    /// The absolute URL that takes `?user=…`; shown as a curl line.
    pub ask: Option<&'a str>,
    /// The name of the host, which leads back to `/`.
    pub host_name: &'a str,
    /// A conversation to go on with.
    pub session: Option<&'a str>,
    /// A JSON-LD document about the agent.
    pub json_ld: Option<&'a str>,
    /// Who is signed in.
    pub account: Account<'a>,
}

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentTemplate {
    robots: &'static str,
    language: String,
    url: String,
    title: String,
    say: Sentences,
    words: &'static str,
    agent: AgentView,
    session: Option<String>,
    json_ld: Option<String>,
    account: AccountView,
    brand: BrandView,
    shared: OpenGraph,
    /// Whether it has the script of the chat.
    has_script: bool,
}

impl AgentPage<'_> {
    /// The page as HTML.
    pub fn render(&self) -> String {
        template::finish(&AgentTemplate {
            language: self.language.as_str().to_owned(),
            url: clean::text(self.url).into_owned(),
            robots: self.brand.robots(),
            title: page_title(&[&self.card.name, self.host_name]),
            say: words_in(self.language),
            words: script_words::of(words_in(self.language)),
            agent: AgentView::new(self.card, self.action, self.ask),
            session: self.session.map(clean::line),
            json_ld: self.json_ld.map(escape::json),
            account: AccountView::new(&self.account),
            brand: self.brand.view(),
            shared: front::shared(self.card, self.host_name, self.url),
            has_script: true,
        })
    }

    /// The same for readers of markdown.
    pub fn render_markdown(&self) -> String {
        front::agent_markdown(self.card, self.action, self.ask)
    }
}
