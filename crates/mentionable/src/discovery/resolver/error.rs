//! Why an agent elsewhere was not found, in words for whoever asked.

use forecourt_egress::{EgressError, Refusal};

use super::super::acct::Acct;
use super::super::validate::CardProblem;

/// Why an agent elsewhere was not found.
///
/// The words are for the person who asked, or for our log. They say more than strangers may learn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Its domain does not know it.
    #[error("{0} is not known there")]
    Unknown(Acct),
    /// A document could not be had.
    #[error("{what} can't be had from {url}: {obstacle}")]
    Unavailable {
        /// Which one.
        what: ResolveSource,
        /// Where it should be.
        url: String,
        /// What was in the way.
        obstacle: Obstacle,
    },
    /// A document is something else than it should be.
    #[error("{what} at {url} is not the JSON document that it should be")]
    Unreadable {
        /// Which one.
        what: ResolveSource,
        /// Where it is.
        url: String,
    },
    /// WebFinger speaks of someone else.
    #[error("WebFinger answered about another address")]
    OtherSubject,
    /// WebFinger names no card.
    #[error("WebFinger names no agent card, so this address is no agent")]
    NoCard,
    /// WebFinger names a card that could be tampered with on the way.
    #[error("WebFinger names an agent card that is not at an https URL")]
    NotHttps,
    /// The card breaks rules.
    #[error("the agent card is malformed: {}", first(problems))]
    Malformed {
        /// Which ones, at least one.
        problems: Vec<CardProblem>,
    },
}

/// The document that was fetched on the way to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolveSource {
    /// An answer of WebFinger.
    WebFinger,
    /// An agent card.
    Card,
    /// A directory.
    Directory,
    /// Any other document of a domain.
    Document,
}

/// What was in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// Nobody answers there.
    #[error("no connection ({0})")]
    Unconnected(String),
    /// The name of the server has no address.
    #[error("its name does not resolve")]
    Unresolved,
    /// The server said something else than success.
    #[error("it answered with status {0}")]
    Status(u16),
    /// Anything else, such as a rule of ours, or a broken or slow answer.
    #[error("{0}")]
    Other(String),
}

impl std::fmt::Display for ResolveSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::WebFinger => "the WebFinger answer",
            Self::Card => "the agent card",
            Self::Directory => "the directory of agents",
            Self::Document => "the document",
        })
    }
}

impl ResolveError {
    pub(super) fn unavailable(what: ResolveSource, url: &str, error: EgressError) -> Self {
        let obstacle = match error {
            EgressError::Unconnected(reason) => Obstacle::Unconnected(reason),
            EgressError::Refused(Refusal::Unresolved) => Obstacle::Unresolved,
            EgressError::Status(status) => Obstacle::Status(status.as_u16()),
            other => Obstacle::Other(other.log_reason()),
        };
        Self::Unavailable { what, url: url.to_owned(), obstacle }
    }

    /// A WebFinger server that has nothing on an address says 404 (RFC 7033 4.2), or 410.
    pub(super) fn or_unknown(self, acct: &Acct) -> Self {
        match self {
            Self::Unavailable { obstacle: Obstacle::Status(404 | 410), .. } => Self::Unknown(acct.clone()),
            other => other,
        }
    }

    /// Whether trying again later may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable { obstacle: Obstacle::Status(status), .. } => *status == 429 || *status >= 500,
            Self::Unavailable { .. } => true,
            _ => false,
        }
    }
}

fn first(problems: &[CardProblem]) -> String {
    let rest = match problems.len() {
        0 | 1 => String::new(),
        more => format!(" (and {} more)", more - 1),
    };
    problems.first().map(|problem| format!("{problem}{rest}")).unwrap_or_default()
}
