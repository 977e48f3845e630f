//! This module has the trait that every backend implements.

use crate::gate::Admitted;
use crate::language::Language;
use crate::reply::EventStream;

pub use crate::card::{AgentCard, ContentMode, Endpoint, EndpointDescription, Icon, Skill};

/// How an agent is given a file that a message names by its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressedFiles {
    /// As bytes. A message whose file can't be fetched is refused.
    Fetched,
    /// As bytes, or by its address where it can't be fetched.
    FetchedIfReachable,
    /// By its address: nothing is fetched.
    Passed,
}

/// A backend that answers messages: a search, a language model, another server.
pub trait Agent: Send + Sync + 'static {
    /// Begins to answer. Work happens as the stream is polled and stops when it is dropped; the
    /// last event is an [`crate::Ending`]. A backend that does not stream returns a stream of one.
    ///
    /// Takes [`Admitted`], so that no agent can be reached around the gate.
    fn handle(&self, admitted: Admitted) -> EventStream;

    /// Whether its index has items whose URLs are on the web host `_host`. Looks at the index alone, and never connects
    /// to that host: a caller can name any. NLWeb's `site`.
    fn has_host(&self, _host: &str) -> bool {
        false
    }

    /// How the agent is given files that a message names by their address. By default as bytes.
    fn addressed_files(&self) -> AddressedFiles {
        AddressedFiles::Fetched
    }

    /// The language in which the agent would answer a caller who asks for `wanted`; `own` is that of its card. By
    /// default an agent answers in its own language, whatever is wanted.
    fn answer_language(&self, _wanted: Option<&Language>, own: &Language) -> Language {
        own.clone()
    }
}
