//! The domains whose agents a model may ask, as its section has them.

use std::time::Duration;

use forecourt_agents::settings::{count, seconds};
use forecourt_core::Domain;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use super::limits::{ELSEWHERE_CALLS_MAX, ELSEWHERE_DOMAINS_MAX};

/// `[backend.ask]`: agents of other domains that a model may ask by their addresses. Nobody unless they are named
/// here.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskSettings {
    /// The domains whose agents it may ask, such as `["other.example"]`, at most 50; with a port where that is not
    /// 443.
    pub(crate) domains: Vec<String>,
    /// How many questions it may ask them for one answer, at most 32.
    #[serde(default = "calls")]
    pub(crate) calls: usize,
    /// Seconds that one of them may take for its answer.
    #[serde(default = "wait")]
    pub(crate) seconds: u64,
}

fn calls() -> usize {
    3
}

fn wait() -> u64 {
    60
}

/// The checked settings.
#[derive(Debug, Clone)]
pub(crate) struct AllowedDomains {
    /// Each with its port.
    pub(crate) domains: Vec<(Domain, u16)>,
    /// Questions for one answer.
    pub(crate) calls: usize,
    /// For one question.
    pub(crate) time_max: Duration,
}

impl AllowedDomains {
    /// Reads and checks the settings, which stand in `section`.
    pub(crate) fn read(section: &Section, settings: &AskSettings, problems: &mut Problems) -> Self {
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
    pub(crate) fn port_of(&self, domain: &Domain) -> Option<u16> {
        self.domains.iter().find(|(allowed, _)| allowed == domain).map(|(_, port)| *port)
    }
}
