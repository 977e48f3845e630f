//! This module has the trait by which an agent of this host asks an agent of another domain. A protocol crate
//! implements it.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Address, CollectedReply, Handle, Language};
use futures::future::BoxFuture;

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
    /// How many agents the chain of calls has before the one that asks; the host bounds it, so that loops end.
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
    /// Its answer can't be decoded.
    #[error("gave an answer that could not be read")]
    Unreadable,
    /// Its answer has more than `ELSEWHERE_ANSWER_BYTES_MAX` bytes.
    #[error("gave an answer that is too large")]
    TooLarge,
    /// The bound on outgoing questions at once is reached; nothing was sent.
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
