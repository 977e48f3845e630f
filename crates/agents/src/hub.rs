//! A hub of agents elsewhere: what a protocol that can read one gives, and the list of agents that came of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{ContentMode, Glob, Handle, Skill, Timestamp};
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::backend::Context;
use crate::limits::SIGNED_BEFORE_MAX;

/// Hubs elsewhere, as one protocol reads them.
#[derive(Clone, Copy)]
pub struct HubKind {
    /// Opens the hub of a definition, without connecting to it. Fails with everything that is wrong with the address
    /// and the settings.
    pub open: OpenHub,
}

/// What opens a hub.
pub type OpenHub = fn(&HubDefinition<'_>, &Context) -> Result<Arc<dyn RemoteHub>, Problems>;

/// A hub as the operator defines it.
#[derive(Clone, Copy)]
pub struct HubDefinition<'a> {
    /// Where it is.
    pub address: &'a str,
    /// What has the key `address`: where problems with it stand.
    pub section: &'a Section,
    /// What the backends of its agents are built from, but for their kind and their place.
    pub backend: &'a Section,
}

/// A hub elsewhere.
pub trait RemoteHub: Send + Sync {
    /// The URL of its card. A list counts for the hub of this URL alone.
    fn url(&self) -> &str;

    /// Reads what it has. Of an agent that can't be read, or whose card is not to be believed, what `known` has of it
    /// stays, as long as the hub lists it and it is admitted. Ends within a bound of the protocol's.
    fn look<'a>(
        &'a self,
        choice: &'a HubChoice,
        known: Option<&'a HubList>,
    ) -> BoxFuture<'a, Result<HubLook, HubError>>;

    /// Whether an agent of a list is still one to front and to ask, by what the definition says now: its place, its
    /// signature, and the way to it. A list may be older than the definition.
    fn admits(&self, agent: &ListedAgent, choice: &HubChoice) -> bool;

    /// The section of the backend that passes messages on to an agent of it.
    fn backend(&self, agent: &ListedAgent) -> Section;
}

/// Which agents of a hub are fronted, and what they are called here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubChoice {
    /// What stands before the handles there.
    pub prefix: String,
    /// Handles there; all when empty.
    pub only: Vec<Glob>,
    /// Handles there that are left out, whatever `only` says.
    pub except: Vec<Glob>,
    /// Whether agents are taken that the hub itself passes on to others.
    pub takes_fronted: bool,
    /// Names of this host: an agent that leads back here is never taken.
    pub own_hosts: Vec<String>,
}

impl HubChoice {
    /// Whether an agent of this handle there is wanted.
    pub fn wants(&self, there: &Handle) -> bool {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(there.as_str()));
        (self.only.is_empty() || named(&self.only)) && !named(&self.except)
    }

    /// What an agent is called here. `None`: its handle with the prefix is none.
    pub fn handle_here(&self, there: &Handle) -> Option<Handle> {
        Handle::parse(&format!("{}{there}", self.prefix)).ok()
    }
}

/// The agents of a hub as they were seen last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HubList {
    /// The URL of the hub's card.
    pub hub: String,
    /// When the hub was seen to have them.
    pub seen_at: Timestamp,
    /// Whether the hub's card was signed by a key of its own origin.
    pub is_signed: bool,
    /// The agents, the hub's default agent first.
    pub agents: Vec<ListedAgent>,
    /// Handles there of agents that were signed when they were seen last and are not in `agents`, the last ones to go
    /// first: who comes back has to be signed still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_before: Vec<Handle>,
}

impl HubList {
    /// Whether it is the same but for when it was seen.
    pub fn differs_in_time_alone(&self, other: &Self) -> bool {
        let Self { hub, seen_at: _, is_signed, agents, signed_before } = self;
        *hub == other.hub
            && *is_signed == other.is_signed
            && *agents == other.agents
            && *signed_before == other.signed_before
    }

    /// Whether the agent of a handle there was signed when it was seen last.
    pub fn was_signed(&self, there: &Handle) -> bool {
        self.agents.iter().any(|agent| agent.is_signed && agent.handle == *there) || self.signed_before.contains(there)
    }

    /// Remembers which agents of the list `before` were signed.
    pub fn remember(&mut self, before: &Self) {
        let gone = before.agents.iter().filter(|agent| agent.is_signed).map(|agent| &agent.handle);
        let mut seen: HashSet<&Handle> = self.agents.iter().map(|agent| &agent.handle).collect();
        let all = gone.chain(&before.signed_before).chain(&self.signed_before);
        self.signed_before = all.filter(|handle| seen.insert(handle)).take(SIGNED_BEFORE_MAX).cloned().collect();
    }

    /// Leaves out the agents that `keeps` says no to. Which of them were signed is remembered.
    pub fn retain(&mut self, keeps: impl FnMut(&ListedAgent) -> bool) {
        let before = self.clone();
        self.agents.retain(keeps);
        self.remember(&before);
    }

    /// Whether it says the same of the same agents, whenever they were seen.
    pub fn has_same_agents(&self, other: &Self) -> bool {
        let same = |(one, other): (&ListedAgent, &ListedAgent)| one.says_same(other);
        self.is_signed == other.is_signed
            && self.agents.len() == other.agents.len()
            && self.agents.iter().zip(&other.agents).all(same)
    }
}

/// An agent of a hub, as its card describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedAgent {
    /// Its handle there.
    pub handle: Handle,
    /// What the backend is told of where it is: the URL of its card, or its endpoint where it has none.
    pub url: String,
    /// A name to show.
    pub name: String,
    /// What it is for; may be empty.
    #[serde(default)]
    pub description: String,
    /// Its version; empty when it does not say.
    #[serde(default)]
    pub version: String,
    /// A picture, https.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// A page about it, https.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Skill>,
    /// What it takes; empty when it does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<ContentMode>,
    /// What it gives; empty when it does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<ContentMode>,
    /// Whether its card was signed by a key of its own origin.
    #[serde(default)]
    pub is_signed: bool,
    /// The hosts that it is passed on to from the hub, the next one first; empty for an agent that lives there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// What its server calls this state of its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

impl ListedAgent {
    fn says_same(&self, other: &Self) -> bool {
        Self { etag: None, ..self.clone() } == Self { etag: None, ..other.clone() }
    }
}

/// What a look at a hub found.
#[derive(Debug, Clone, PartialEq)]
pub struct HubLook {
    /// What a name for the hub can be made of: what it calls itself.
    pub name: String,
    /// The agents that are taken.
    pub list: HubList,
    /// Agents of the hub that are not, or not as their cards are now.
    pub left_out: Vec<LeftOutAgent>,
}

/// Why an agent of a hub is not taken, or not as its card is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutAgent {
    /// Its handle as the hub writes it, cut short.
    pub handle: String,
    /// Why, behind the handle.
    pub why: String,
}

/// Why a hub was not read, in words that go behind "the hub", for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct HubError {
    /// What went wrong.
    pub words: String,
    /// How long the hub wants to be left alone.
    pub wait: Option<Duration>,
}

impl HubError {
    /// One that may be tried again at any time.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), wait: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(only: &[&str], except: &[&str]) -> HubChoice {
        let globs = |list: &[&str]| list.iter().map(|glob| glob.parse().expect("a pattern")).collect();
        let (only, except) = (globs(only), globs(except));
        HubChoice { prefix: "far-".to_owned(), only, except, takes_fronted: false, own_hosts: Vec::new() }
    }

    fn handle(text: &str) -> Handle {
        text.parse().expect("a handle")
    }

    fn list(agents: impl IntoIterator<Item = (String, bool)>) -> HubList {
        let agents = agents.into_iter().map(|(handle, is_signed)| {
            let agent = json!({"handle": handle, "name": handle, "url": "https://far.example", "is_signed": is_signed});
            serde_json::from_value(agent).expect("an agent")
        });
        HubList {
            hub: "https://far.example".to_owned(),
            seen_at: Timestamp::UNIX_EPOCH,
            is_signed: false,
            agents: agents.collect(),
            signed_before: Vec::new(),
        }
    }

    #[test]
    fn that_an_agent_was_signed_outlasts_its_absence_until_it_is_seen_without() {
        let mut signed = list([("chef".to_owned(), true), ("cook".to_owned(), false)]);
        signed.retain(|agent| agent.handle.as_str() != "chef");
        assert!(signed.was_signed(&handle("chef")) && !signed.was_signed(&handle("cook")));
        let mut next = list([("waiter".to_owned(), true)]);
        next.remember(&signed);
        assert!(next.was_signed(&handle("chef")) && next.was_signed(&handle("waiter")));
        let mut back = list([("chef".to_owned(), false)]);
        back.remember(&next);
        assert!(!back.was_signed(&handle("chef")), "the operator has waived it");
        assert_eq!(back.signed_before, [handle("waiter")]);
    }

    #[test]
    fn so_many_agents_that_were_signed_are_remembered_and_the_first_to_go_is_forgotten() {
        let named = |from: usize, to: usize| (from..to).map(|n| (format!("a{n}"), true));
        for (more, is_remembered) in [(0, true), (1, false)] {
            let mut first = list(named(0, 1));
            first.retain(|_| false);
            let mut others = list(named(1, SIGNED_BEFORE_MAX + more));
            others.remember(&first);
            others.retain(|_| false);
            assert_eq!(others.signed_before.len(), SIGNED_BEFORE_MAX);
            assert_eq!(others.was_signed(&handle("a0")), is_remembered, "{more}");
        }
    }

    #[test]
    fn agents_are_chosen_by_their_handles_there() {
        assert!(choice(&[], &[]).wants(&handle("chef")));
        assert!(!choice(&["*"], &["ch*"]).wants(&handle("chef")));
        assert!(choice(&["c*"], &["cook"]).wants(&handle("chef")) && !choice(&["c*"], &[]).wants(&handle("waiter")));
    }

    #[test]
    fn a_handle_that_is_too_long_with_its_prefix_is_none() {
        let longest = "x".repeat(forecourt_core::limits::HANDLE_CHARS_MAX - 4);
        let here = choice(&[], &[]).handle_here(&handle(&longest));
        assert_eq!(here.map(|here| here.to_string()), Some(format!("far-{longest}")));
        assert_eq!(choice(&[], &[]).handle_here(&handle(&format!("{longest}x"))), None);
    }
}
