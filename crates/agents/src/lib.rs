//! What a backend is given and what it gives back, and what several backends share. The backends themselves are in
//! `backends`, and those that are clients of a protocol in that protocol's crate.
//!
//! A backend reads its own section of an agent's file and builds something that implements
//! [`forecourt_core::Agent`].
//!
//! | module | holds |
//! |---|---|
//! | [`backend`] | what a backend is given, and what it gives back |
//! | [`usage`], [`budget`] | who is told what models use, and how much an agent may, as its file has it |
//! | [`tool`] | what a model may call |
//! | [`siblings`], [`elsewhere`] | the other agents of the host, and those of other domains, and the way to ask them |
//! | [`upstream`] | services that the operator named: their deadlines, and how they fail |
//! | [`declined`], [`relay`] | what services behind an agent say no with, as callers are told |
//! | [`hub`] | a hub of agents elsewhere, and the list of agents that came of it |
//! | [`on_behalf_of`] | asking a service in the name of a caller, with a token of its own |
//! | [`settings`] | what sections of several backends share |
//! | [`sse_reader`] | server-sent events, decoded as their bytes arrive |
//! | [`limits`] | every bound of these, with its unit |

pub mod backend;
pub mod budget;
pub mod declined;
pub mod elsewhere;
pub mod hub;
pub mod limits;
pub mod on_behalf_of;
pub mod relay;
pub mod settings;
pub mod siblings;
pub mod sse_reader;
pub mod tool;
pub mod upstream;
pub mod usage;

pub use backend::{
    Backend, BuiltAgent, ContentFileError, Context, DiagnosedItem, EmbeddingProgress, FetchSummary, FoundItem,
    IndexReport, IndexedContent, IndexedKind, IndexingError, ItemDiagnosis, JudgedCorpus, LimitCheck,
    QuestionExplanation, QuestionRanker, QuestionWay, RankExplanation,
};
