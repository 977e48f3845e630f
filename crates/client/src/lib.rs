//! This crate holds what the command-line clients of protocols share: how a command ends, what strangers'
//! words look like on a terminal, and the way to servers here and elsewhere. A client lives in the crate of
//! its protocol, in `commands/`, and joins the program by the registry.
//!
//! | module | holds |
//! |---|---|
//! | [`command`] | [`ClientCommand`], by which a protocol adds a command to the program |
//! | [`network`] | the way out to an address that somebody typed, and why nobody answered there |
//! | [`output`] | standard output and error, failures and exit codes |
//! | [`printable`] | text of strangers on a terminal |
//! | [`serving`] | the deployments that are served on this machine |

pub mod command;
pub mod network;
pub mod output;
pub mod printable;
pub mod serving;

pub use command::ClientCommand;
pub use output::{Failure, Outcome};
