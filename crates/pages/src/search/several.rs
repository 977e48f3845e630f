//! The page of a question that several agents were asked at once: what each found, under its name, with a link that asks
//! that one alone.
//!
//! As a page of results it is written from top to bottom and has no script. An agent that refuses or fails has one line.

use askama::Template;
use forecourt_core::{AgentCard, CollectedReply, Ending, Language, Part, SearchRefinement};
use forecourt_sentences::Sentences;

use super::card::{CardWords, card};
use super::link::Place;
use super::told::grouped;
use crate::branding::{BrandView, Branding, OpenGraph};
use crate::highlight::Words;
use crate::item::{self, ItemView};
use crate::limits::{GROUP_CHARS_SHOWN, GROUP_RESULTS_SHOWN, NOTES_MAX};
use crate::refusal::{Action, RefusalView};
use crate::reply::failure;
use crate::template::{self, page_title, words_in};
use crate::visitor::{Account, AccountView};
use crate::{clean, markdown, robots, script_words};

/// The page of a question to several agents. Send with [`Branding::found_policy`].
///
/// What [`Self::begin`] writes comes first, then what its [`GroupWriter`] writes of each agent, to the end.
pub struct SeveralPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The name of the host.
    pub name: &'a str,
    /// The URL of this page.
    pub url: &'a str,
    /// The language of the page.
    pub language: &'a Language,
    /// What was asked.
    pub question: &'a str,
    /// Who was asked, in the order to show.
    pub agents: &'a [AskedAgent<'a>],
    /// Who is signed in.
    pub account: Account<'a>,
}

/// One of several agents that were asked.
#[derive(Debug, Clone, Copy)]
pub struct AskedAgent<'a> {
    /// The agent.
    pub card: &'a AgentCard,
    /// The path of its own page on this origin, such as `/~chef`.
    pub path: &'a str,
}

/// What came of asking one of several agents.
#[derive(Debug)]
pub enum GroupAnswer {
    /// It ended, in whatever way.
    Reply(Box<CollectedReply>),
    /// It wants a consent or a payment first, which a question to several does not ask for.
    NeedsOwnQuestion,
    /// It took longer than an agent beside others may take.
    Late,
    /// It could not be asked, for this reason.
    Failed(String),
}

#[derive(Template)]
#[template(path = "search/several.html")]
struct Begin {
    robots: &'static str,
    language: String,
    /// Empty: programs get no other form of this page.
    url: String,
    title: String,
    say: Sentences,
    words: &'static str,
    name: String,
    question: String,
    agents: Vec<AgentLink>,
    json_ld: Option<String>,
    account: AccountView,
    brand: BrandView,
    shared: OpenGraph,
    has_script: bool,
}

/// A link to the answer of one agent.
struct AgentLink {
    handle: String,
    name: String,
}

#[derive(Template)]
#[template(path = "search/group.html")]
struct Group {
    handle: String,
    name: String,
    /// The page that asks this agent alone.
    url: String,
    say: Sentences,
    count: Option<String>,
    /// The answer in words, as far as it has room here.
    said: String,
    not_understood: Vec<String>,
    /// The number of its first result on the page.
    from: usize,
    cards_html: String,
    line: Option<GroupLine>,
}

/// The one line of an agent without results.
#[derive(Default)]
struct GroupLine {
    words: String,
    action: Option<Action>,
    is_warning: bool,
}

#[derive(Template)]
#[template(path = "search/several_end.html")]
struct End {
    say: Sentences,
    brand: BrandView,
}

impl SeveralPage<'_> {
    /// The page up to the first answer.
    pub fn begin(&self) -> String {
        let question = clean::line(self.question);
        let agents = self
            .agents
            .iter()
            .map(|agent| AgentLink { handle: agent.card.handle().to_string(), name: clean::line(&agent.card.name) });
        template::finish(&Begin {
            robots: robots::of(false),
            language: self.language.as_str().to_owned(),
            url: String::new(),
            title: page_title(&[&question, self.name]),
            say: words_in(self.language),
            words: script_words::of(words_in(self.language)),
            name: clean::line(self.name),
            agents: agents.collect(),
            json_ld: None,
            account: AccountView::new(&self.account),
            brand: self.brand.view(),
            shared: OpenGraph::new(&question, "", self.name, self.url),
            has_script: false,
            question,
        })
    }

    /// What writes the rest.
    pub fn groups(&self) -> GroupWriter {
        GroupWriter {
            brand: self.brand.view(),
            say: words_in(self.language),
            language: self.language.clone(),
            question: self.question.to_owned(),
            words: Words::of(std::iter::once(self.question)),
            shown: 0,
        }
    }
}

/// Writes the answers of several agents, one behind the other.
pub struct GroupWriter {
    brand: BrandView,
    say: Sentences,
    language: Language,
    question: String,
    words: Words,
    /// Results on the page.
    shown: usize,
}

impl GroupWriter {
    /// The group of an agent.
    pub fn group(&mut self, agent: AskedAgent<'_>, answer: &GroupAnswer) -> String {
        let place = Place {
            path: clean::href(agent.path).unwrap_or_default(),
            question: self.question.clone(),
            earlier: Vec::new(),
            narrowing: SearchRefinement::default(),
        };
        let mut group = Group {
            handle: agent.card.handle().to_string(),
            name: clean::line(&agent.card.name),
            url: place.widest(),
            say: self.say,
            count: None,
            said: String::new(),
            not_understood: Vec::new(),
            from: self.shown + 1,
            cards_html: String::new(),
            line: None,
        };
        match answer {
            GroupAnswer::Reply(reply) => self.tell(&mut group, reply, &place),
            GroupAnswer::NeedsOwnQuestion => {
                group.line = Some(warning(self.say.page_needs_own_question(&group.name)));
            }
            GroupAnswer::Late => group.line = Some(warning(self.say.page_too_slow(&group.name))),
            GroupAnswer::Failed(why) => group.line = Some(warning(clean::line(why))),
        }
        template::finish(&group)
    }

    /// The end of the page.
    pub fn end(self) -> String {
        template::finish(&End { say: self.say, brand: self.brand })
    }

    fn tell(&mut self, group: &mut Group, reply: &CollectedReply, place: &Place) {
        group.line = self.line(reply, &group.name);
        if group.line.is_some() {
            return;
        }
        let shown = self.cards(group, reply, place);
        match &reply.findings {
            Some(findings) => {
                let total = findings.total.filter(|total| *total > shown);
                group.count = (shown > 0).then(|| match total {
                    Some(total) => self.say.page_results_of(&shown, &grouped(total)),
                    None => self.say.page_results_count(&shown),
                });
                group.said = if shown > 0 { brief(&findings.summary) } else { String::new() };
                group.not_understood =
                    findings.not_understood.iter().take(NOTES_MAX).map(|limit| clean::line(limit)).collect();
            }
            None => group.said = brief(&reply.text()),
        }
        if shown == 0 && group.said.is_empty() {
            group.line = Some(GroupLine { words: self.say.page_nothing_found(), ..GroupLine::default() });
        }
    }

    /// The first results as cards, and how many these are.
    fn cards(&mut self, group: &mut Group, reply: &CollectedReply, place: &Place) -> usize {
        let findings = reply.findings.as_deref();
        let data = reply.parts.iter().filter_map(|part| match part {
            Part::Data(data) => Some(&data.data),
            _ => None,
        });
        let items = data.flat_map(|data| item::views(data, self.say)).filter_map(|view| match view {
            ItemView::Item(item) => Some(item),
            ItemView::Json(_) => None,
        });
        let marking = CardWords { words: &self.words, say: self.say, counts_clicks: self.brand.is_rated };
        let mut shown = 0;
        for (at, item) in items.take(GROUP_RESULTS_SHOWN).enumerate() {
            let reason = findings.and_then(|findings| findings.items.get(at)?.reason.as_ref());
            let number = group.from + at;
            // No limits are told above the cards, so that each says which it keeps.
            group.cards_html.push_str(&card(number, &item, reason, place, &[], marking));
            shown = at + 1;
        }
        self.shown += shown;
        shown
    }

    /// The line of an agent that gave no answer. `None`: it gave one.
    fn line(&self, reply: &CollectedReply, name: &str) -> Option<GroupLine> {
        match &reply.ending {
            Ending::Refused(part) => {
                let RefusalView { message, action, .. } = RefusalView::new(part, Some(&self.language), self.say);
                Some(GroupLine { words: clean::line(&message), action, is_warning: true })
            }
            ending if ending.question().is_some() => {
                Some(GroupLine { words: self.say.page_asks_first(name), ..GroupLine::default() })
            }
            ending => failure(ending, self.say).map(warning),
        }
    }
}

/// The first words of an answer that is markdown, on one line. The whole of it is where that agent is asked alone.
fn brief(answer: &str) -> String {
    clean::clip(&clean::line(&markdown::to_plain(answer)), GROUP_CHARS_SHOWN)
}

fn warning(words: String) -> GroupLine {
    GroupLine { words, action: None, is_warning: true }
}
