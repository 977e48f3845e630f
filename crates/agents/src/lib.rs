//! What answers messages: the backends of agents, a file each and one registration line each.
//!
//! A backend reads its own section of an agent's file and builds something that implements
//! [`forecourt_core::Agent`]. It knows no protocol: a message goes in, a stream of events comes out,
//! and dropping that stream cancels the work. The host guards time, size and panics.
//!
//! | module | holds |
//! |---|---|
//! | [`backend`] | what a backend is given, and what it gives back |
//! | [`content_watcher`] | the content of all agents, kept up to date |
//! | [`echo`], [`script`] | repetition, and scripted events for demonstrations and tests |
//! | [`http`], [`command`] | somebody else's program, over a webhook or over its standard streams |
//! | [`answer`] | the JSON in which such programs answer, the same for both |
//! | [`provider`] | a chat completions API, for the backends that ask one |
//! | [`metering`], [`usage`], [`budget`] | what models use and cost, who is told, and how much they may |
//! | [`upstream`] | services that the operator named: their deadlines, and how they fail |
//! | [`tool`] | what a model may call |
//! | [`siblings`], [`elsewhere`] | the other agents of the host, and those of other domains, and the way to ask them |
//! | [`declined`], [`relay`] | what services behind an agent say no with, as callers are told |
//! | [`on_behalf_of`] | asking a service in the name of a caller, with a token of its own |
//! | [`settings`] | what sections of several backends share |
//! | [`sse_reader`] | server-sent events, decoded as their bytes arrive |
//! | [`limits`] | every bound of these, with its unit |

pub mod answer;
pub mod backend;
pub mod budget;
pub mod command;
pub mod content_watcher;
pub mod declined;
pub mod echo;
pub mod elsewhere;
pub mod endpoints;
pub mod http;
pub mod limits;
pub mod metering;
pub mod on_behalf_of;
pub mod provider;
pub mod relay;
pub mod script;
pub mod settings;
pub mod siblings;
pub mod sse_reader;
pub mod tool;
pub mod upstream;
pub mod usage;

pub use backend::{
    Backend, BuiltAgent, Context, EmbeddingProgress, FetchSummary, IndexReport, IndexedContent, IndexedKind,
    IndexingError, JudgedCorpus, QuestionRanker, RankExplanation,
};
pub use forecourt_index::{
    Error as ContentError, FollowedItem, FollowedRevision, LoadProgress, PushedItem, PutOutcome, RemoveOutcome,
};

/// All backends of this crate, in the order of the reference.
pub const BACKENDS: &[Backend] = &[http::BACKEND, command::BACKEND, script::BACKEND, echo::BACKEND];
