//! The front page of the host: who lives here and how to reach them. Design 5.

use std::fmt::Write;

use askama::Template;
use forecourt_core::agent::ContentMode;
use forecourt_core::{AgentCard, Domain, Endpoint, Language, Skill};
use forecourt_sentences::Sentences;

use crate::branding::{BrandView, Branding, OpenGraph};
use crate::limits::EXAMPLES_MAX;
use crate::template::words_in;
use crate::visitor::{Account, AccountView};
use crate::{clean, escape, script_words, template};

/// The host and its agents. Send with [`crate::csp::PAGE`].
pub struct FrontPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The host's name from its configuration.
    pub name: &'a str,
    /// The agent that the box of this page asks.
    pub ask: Option<&'a AgentListItem<'a>>,
    /// Whether its box asks several agents, unless one is chosen beside it.
    pub asks_several: bool,
    /// Its domain.
    pub domain: &'a Domain,
    /// The URL of this page.
    pub url: &'a str,
    /// The language of the page.
    pub language: &'a Language,
    /// The agents of this page, in the order to show.
    pub agents: &'a [AgentListItem<'a>],
    /// A JSON-LD document about all of this.
    pub json_ld: Option<&'a str>,
    /// Where the manual is.
    pub manual_url: Option<&'a str>,
    /// Where the agents before these are; `None` on the first page.
    pub previous_page: Option<&'a str>,
    /// Where the agents behind these are; `None` on the last page.
    pub next_page: Option<&'a str>,
    /// Who is signed in.
    pub account: Account<'a>,
}

/// An agent on the front page.
pub struct AgentListItem<'a> {
    /// The agent.
    pub card: &'a AgentCard,
    /// The path of its own page on this origin, such as `/~chef`.
    pub page: &'a str,
    /// The URL that takes `?user=…` and answers in the negotiated type; shown as a curl line.
    pub ask: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "front.html")]
struct FrontTemplate {
    language: String,
    title: String,
    robots: &'static str,
    say: Sentences,
    words: &'static str,
    name: String,
    description: Option<String>,
    domain: String,
    ask: Option<AgentView>,
    asks_several: bool,
    /// Questions to try, of the agents in turn.
    examples: Vec<Example>,
    url: String,
    agents: Vec<AgentView>,
    json_ld: Option<String>,
    manual: Option<String>,
    previous_page: Option<String>,
    next_page: Option<String>,
    account: AccountView,
    brand: BrandView,
    shared: OpenGraph,
    /// Whether it has a script.
    has_script: bool,
}

/// An agent as the host's own pages show it.
pub(crate) struct AgentView {
    pub(crate) handle: String,
    pub(crate) name: String,
    pub(crate) monogram: String,
    pub(crate) address: String,
    pub(crate) description: String,
    pub(crate) page: String,
    pub(crate) skills: Vec<SkillView>,
    pub(crate) examples: Vec<Example>,
    pub(crate) endpoints: Vec<EndpointView>,
    pub(crate) curl: Option<String>,
    /// Whether it takes files.
    pub(crate) takes_files: bool,
    /// Whether it finds things.
    pub(crate) finds: bool,
    pub(crate) homepage: Option<String>,
}

/// One thing that an agent can do.
pub(crate) struct SkillView {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// A question to suggest, and the link that asks it.
pub(crate) struct Example {
    pub(crate) text: String,
    pub(crate) url: String,
}

/// One way to reach an agent.
pub(crate) struct EndpointView {
    pub(crate) protocol: String,
    pub(crate) url: String,
}

impl AgentView {
    pub(crate) fn new(card: &AgentCard, page: &str, ask: Option<&str>) -> Self {
        Self {
            handle: card.handle().to_string(),
            name: clean::line(&card.name),
            monogram: template::monogram(&card.name),
            address: card.address.to_string(),
            description: clean::line(&card.description),
            page: clean::href(page).unwrap_or_default(),
            skills: card.skills.iter().map(SkillView::new).collect(),
            examples: examples(card, page),
            endpoints: card.endpoints.iter().map(EndpointView::new).collect(),
            curl: ask.map(|url| curl(url, card)),
            takes_files: card.input_modes.iter().any(|mode| matches!(mode, ContentMode::File { .. })),
            finds: card.finds,
            homepage: card.homepage.as_deref().and_then(clean::href),
        }
    }

    fn markdown(&self) -> String {
        let mut text = format!("`{}`", self.address);
        if !self.description.is_empty() {
            let _ = write!(text, "\n\n{}", escape::markdown(&self.description));
        }
        push_list(&mut text, "It can", self.skills.iter().map(SkillView::markdown));
        push_list(&mut text, "Ask, for example", self.examples.iter().map(|e| escape::markdown(&e.text)));
        push_list(&mut text, "Reach it over", self.endpoints.iter().map(EndpointView::markdown));
        if let Some(curl) = &self.curl {
            let _ = write!(text, "\n\n```sh\n{curl}\n```");
        }
        text
    }
}

impl SkillView {
    fn new(skill: &Skill) -> Self {
        Self { name: clean::line(&skill.name), description: clean::line(&skill.description) }
    }

    fn markdown(&self) -> String {
        match self.description.is_empty() {
            true => escape::markdown(&self.name),
            false => format!("**{}**: {}", escape::markdown(&self.name), escape::markdown(&self.description)),
        }
    }
}

impl EndpointView {
    fn new(endpoint: &Endpoint) -> Self {
        Self { protocol: clean::line(endpoint.protocol), url: clean::line(&endpoint.url) }
    }

    fn markdown(&self) -> String {
        format!("{}: `{}`", escape::markdown(&self.protocol), self.url.replace('`', "%60"))
    }
}

impl FrontPage<'_> {
    /// The page as HTML.
    pub fn render(&self) -> String {
        template::finish(&FrontTemplate {
            language: self.language.as_str().to_owned(),
            title: clean::line(self.name),
            robots: self.brand.robots(),
            say: words_in(self.language),
            words: script_words::of(words_in(self.language)),
            name: clean::line(self.name),
            description: self.description().map(clean::line),
            ask: self.ask.map(|listed| AgentView::new(listed.card, listed.page, listed.ask)),
            asks_several: self.asks_several,
            examples: self.examples(),
            domain: self.domain.to_string(),
            url: clean::text(self.url).into_owned(),
            agents: self.views(),
            json_ld: self.json_ld.map(escape::json),
            manual: self.manual_url.and_then(clean::href),
            previous_page: self.previous_page.and_then(clean::href),
            next_page: self.next_page.and_then(clean::href),
            account: AccountView::new(&self.account),
            brand: self.brand.view(),
            shared: OpenGraph::new(self.name, self.description().unwrap_or_default(), self.name, self.url),
            has_script: true,
        })
    }

    /// The same for readers of markdown.
    pub fn render_markdown(&self) -> String {
        let mut text = format!("# {}\n", escape::markdown(self.name));
        if let Some(description) = self.description() {
            let _ = write!(text, "\n{}\n", escape::markdown(description));
        }
        for (view, listed) in self.views().iter().zip(self.agents) {
            let _ = write!(text, "\n## {}\n\n{}\n", escape::markdown(&listed.card.name), view.markdown());
        }
        if let Some(next) = self.next_page.and_then(clean::href) {
            let _ = write!(text, "\nMore agents: <{next}>\n");
        }
        if let Some(manual) = self.manual_url.and_then(clean::href) {
            let _ = write!(text, "\nManual: <{manual}>\n");
        }
        text
    }

    /// What the site is, in the words of its operator, else of the agent that its box asks.
    fn description(&self) -> Option<&str> {
        let of_agent = || self.ask.map(|listed| listed.card.description.as_str());
        self.brand.description().or_else(of_agent).filter(|text| !text.is_empty())
    }

    /// Questions that the agents behind the box answer: one of each in turn, at most [`EXAMPLES_MAX`].
    fn examples(&self) -> Vec<Example> {
        let Some(ask) = self.ask else { return Vec::new() };
        let beside = self.agents.iter().filter(|_| self.asks_several).filter(|listed| listed.card.finds);
        let others = beside.filter(|listed| listed.card.address != ask.card.address);
        let mut own: Vec<_> =
            std::iter::once(ask).chain(others).map(|listed| examples(listed.card, listed.page).into_iter()).collect();
        let mut told: Vec<Example> = Vec::new();
        while told.len() < EXAMPLES_MAX {
            let round: Vec<Example> = own.iter_mut().filter_map(Iterator::next).collect();
            if round.is_empty() {
                break;
            }
            for example in round {
                if told.len() < EXAMPLES_MAX && told.iter().all(|known| known.text != example.text) {
                    told.push(example);
                }
            }
        }
        told
    }

    fn views(&self) -> Vec<AgentView> {
        self.agents.iter().map(|listed| AgentView::new(listed.card, listed.page, listed.ask)).collect()
    }
}

/// What is shown of an agent where a link to it is shared.
pub(crate) fn shared(card: &AgentCard, site: &str, url: &str) -> OpenGraph {
    let image = card.icon.as_ref().map(|icon| icon.url.as_str());
    OpenGraph::new(&card.name, &card.description, site, url).with_image(image)
}

/// One agent for readers of markdown.
pub(crate) fn agent_markdown(card: &AgentCard, page: &str, ask: Option<&str>) -> String {
    format!("# {}\n\n{}\n", escape::markdown(&card.name), AgentView::new(card, page, ask).markdown())
}

/// The card's own examples, then those of its skills, each once.
fn examples(card: &AgentCard, page: &str) -> Vec<Example> {
    let skills = card.skills.iter().flat_map(|skill| &skill.examples);
    let mut examples: Vec<Example> = Vec::new();
    for text in card.examples.iter().chain(skills).map(|text| clean::line(text)) {
        let known = examples.iter().any(|example| example.text == text);
        if !text.is_empty() && !known && examples.len() < EXAMPLES_MAX {
            let url = format!("{page}?user={}", escape::query(&text));
            examples.push(Example { text, url });
        }
    }
    examples
}

/// A line for a shell that asks the first example, or says hello.
fn curl(url: &str, card: &AgentCard) -> String {
    let question = examples(card, "").into_iter().next().map_or_else(|| "hello".to_owned(), |e| e.text);
    // The line is pasted into a shell, in single quotes.
    let url = clean::line(url).replace('\'', "%27");
    format!("curl -H 'Accept: text/markdown' '{url}?user={}'", escape::query(&question))
}

fn push_list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        let lead = if index == 0 { format!("\n\n{title}:\n") } else { String::new() };
        let _ = write!(text, "{lead}\n- {item}");
    }
}
