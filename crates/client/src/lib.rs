//! This crate holds what the command-line clients of protocols share: how a command ends, what strangers'
//! words look like on a terminal, and the way to servers here and elsewhere. A client lives in its
//! protocol's crates: a way of `ask` in `ask.rs`, which its `PROTOCOL` names; commands of its own in `commands/`, which
//! the registry names.
//!
//! | module | holds |
//! |---|---|
//! | [`ask`] | [`AskClient`](ask::AskClient), by which a protocol joins `ask`, and what its clients share |
//! | [`command`] | [`ClientCommand`], by which a protocol adds a command to the program |
//! | [`form`] | questions that a person answers, and what an answer means |
//! | [`network`] | the way out to an address that somebody typed, and why nobody answered there |
//! | [`output`] | standard output and error, failures and exit codes |
//! | [`printable`] | text of strangers on a terminal |
//! | [`refusal`] | what an agent declined with, and what to do next |
//! | [`serving`] | the deployments that are served on this machine |
//! | [`terminal`] | the person at the terminal |

pub mod ask;
pub mod command;
pub mod form;
mod markdown;
pub mod network;
pub mod output;
pub mod printable;
pub mod refusal;
pub mod serving;
pub mod terminal;

pub use command::ClientCommand;
pub use output::{Failure, Outcome};
