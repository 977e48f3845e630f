//! What answers messages: the backends of agents, a module each, called as its `kind`.
//!
//! Where a new backend goes:
//! - The client of a protocol lies with that protocol, in `backend.rs` of its crate.
//! - Every other is a module of this crate.
//!
//! Either has one `BACKEND`, and one line in the registry of `forecourt`. What a backend is given and what it gives
//! back is [`forecourt_agents::backend`]. A backend knows no protocol: a message goes in, a stream of events comes
//! out, and dropping that stream cancels the work. The host guards time, size and panics.
//!
//! | module | holds |
//! |---|---|
//! | [`search`] | answers from indexed content |
//! | [`model`] | a language model with tools, search among them |
//! | [`http`], [`command`] | somebody else's program, over a webhook or over its standard streams |
//! | `answer`, `program` | the JSON in which such programs answer, and what they are told, the same for both |
//! | [`tools`] | what models and programs may call |
//! | [`script`], [`echo`] | scripted events for demonstrations and tests, and repetition |
//! | [`limits`] | every bound of these, with its unit |

mod answer;
pub mod command;
pub mod echo;
pub mod http;
pub mod limits;
pub mod model;
mod program;
pub mod script;
pub mod search;
pub mod tools;
