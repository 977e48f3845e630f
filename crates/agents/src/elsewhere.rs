//! Agents of other domains, and the way to ask one of them: by whichever protocol set that up.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Address, CollectedReply, Domain, Handle, Language};
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::{ELSEWHERE_CALLS_MAX, ELSEWHERE_DOMAINS_MAX};
use crate::settings::{count, seconds};

/// `[backend.ask]`: agents of other domains that a model may ask by their addresses. Nobody unless they are named
/// here.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskSettings {
    /// The domains whose agents it may ask, such as `["other.example"]`, at most 50; with a port where that is not
    /// 443.
    pub domains: Vec<String>,
    /// How many questions it may ask them for one answer, at most 32.
    #[serde(default = "calls")]
    pub calls: usize,
    /// Seconds that one of them may take for its answer.
    #[serde(default = "wait")]
    pub seconds: u64,
}

fn calls() -> usize {
    3
}

fn wait() -> u64 {
    60
}

/// The same, checked.
#[derive(Debug, Clone)]
pub struct AllowedDomains {
    /// Each with its port.
    pub domains: Vec<(Domain, u16)>,
    /// Questions for one answer.
    pub calls: usize,
    /// For one question.
    pub time_max: Duration,
}

impl AllowedDomains {
    /// Reads and checks the settings, which stand in `section`.
    pub fn read(section: &Section, settings: &AskSettings, problems: &mut Problems) -> Self {
        count(section, "calls", settings.calls, 1, ELSEWHERE_CALLS_MAX, problems);
        count(section, "domains", settings.domains.len(), 1, ELSEWHERE_DOMAINS_MAX, problems);
        let mut domains = Vec::new();
        for text in &settings.domains {
            let (name, port) = match text.rsplit_once(':') {
                Some((name, port)) => (name, port.parse().ok()),
                None => (text.as_str(), Some(443)),
            };
            match (Domain::parse(name), port) {
                (Ok(domain), Some(port)) => domains.push((domain, port)),
                _ => {
                    let problem = section.problem(Some("domains"), format!("`{text}` is not a domain"));
                    problems.push(problem.hint("write it as \"other.example\", or \"other.example:8443\""));
                }
            }
        }
        Self { domains, calls: settings.calls, time_max: seconds(section, "seconds", settings.seconds, problems) }
    }

    /// The port at which agents of a domain are asked. `None`: they are not.
    pub fn port_of(&self, domain: &Domain) -> Option<u16> {
        self.domains.iter().find(|(allowed, _)| allowed == domain).map(|(_, port)| *port)
    }
}

/// A question to an agent of another domain.
#[derive(Debug, Clone, Copy)]
pub struct RemoteQuestion<'a> {
    /// The agent of this host that asks.
    pub from: &'a Handle,
    /// Whom it asks.
    pub to: &'a Address,
    /// The port of its domain.
    pub port: u16,
    /// What it asks, in plain words.
    pub words: &'a str,
    /// Names the conversation of ours that it is asked in, so that the other side knows it when it goes on.
    pub conversation: Option<&'a str>,
    /// The language of the answer.
    pub language: Option<&'a Language>,
    /// How many agents stand in line before the one that asks.
    pub hop: u32,
    /// How long the answer may take.
    pub time_max: Duration,
}

/// Why an agent of another domain gave no answer. Its own refusals are answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Nobody lives at that address, or not so that we could ask.
    #[error("is not there, or can't be asked over the web")]
    Unknown,
    /// Its domain can't be reached, or failed.
    #[error("can't be reached at the moment")]
    Away,
    /// It took too long.
    #[error("took too long")]
    Late,
    /// It said something that is no answer.
    #[error("gave an answer that could not be read")]
    Unreadable,
    /// It said too much.
    #[error("gave an answer that is too large")]
    TooLarge,
    /// We talk to too many others at the moment.
    #[error("was not asked, since this host asks too many others at the moment")]
    Busy,
}

/// Asks agents of other domains.
pub trait AskElsewhere: Send + Sync + 'static {
    /// Puts the question, signed as the agent that asks, and waits for the whole answer. A refusal of the other side
    /// is an ending, worded so that an agent of this host may give it.
    fn ask<'a>(&'a self, question: RemoteQuestion<'a>) -> BoxFuture<'a, Result<CollectedReply, RemoteError>>;
}

/// What asks agents of other domains, as a protocol set it up: found by this type among the services of the host.
pub struct ElsewhereService(pub Arc<dyn AskElsewhere>);
