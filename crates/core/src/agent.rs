//! What answers messages: the trait every backend implements.

use crate::gate::Admitted;
use crate::language::Language;
use crate::reply::EventStream;

pub use crate::card::{AgentCard, ContentMode, Endpoint, EndpointDescription, Icon, Skill};

/// Something that answers messages.
pub trait Agent: Send + Sync + 'static {
    /// Begins to answer. Work happens as the stream is polled and stops when it is dropped; the
    /// last event is an [`crate::Ending`]. A backend that does not stream returns a stream of one.
    ///
    /// Takes [`Admitted`], so that no agent can be reached around the gate.
    fn handle(&self, admitted: Admitted) -> EventStream;

    /// Whether items of this host of the web are among what it finds. Looked up in what it has, never
    /// asked of the host itself.
    fn has_host(&self, _host: &str) -> bool {
        false
    }

    /// The language in which it would answer somebody who asks for `wanted`, when its own language is `own`.
    fn answer_language(&self, _wanted: Option<&Language>, own: &Language) -> Language {
        own.clone()
    }
}
