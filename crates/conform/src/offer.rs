//! This module says what it is to have found a protocol: a value that only looking for it gives, and that its checks take.
//! A rule of what a server does not offer can't be called broken.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::check::Check;

/// Why nothing of a protocol is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The server does not offer it: what was asked, and what answered, in a sentence.
    NotOffered(String),
    /// Whether it offers it can't be told by this caller, and why.
    Untold(String),
    /// Nobody answered the question.
    Silent(String),
}

/// The proof that a protocol was found at a server: whatever its checks need to know. Made by [`OfferedProtocol::find`] alone.
pub trait OfferedProtocol: Sized + Send + Sync + 'static {
    /// The server, of which nothing is known yet.
    type Target: Send + Sync;
    /// The protocol's name, as people say it.
    const NAME: &'static str;
    /// Its checks.
    const CHECKS: &'static [&'static [Check<Self>]];

    /// Whether it only carries others: a server that offers nothing else offers nothing.
    const IS_CARRIER: bool = false;

    /// Looks for the protocol.
    fn find(server: Arc<Self::Target>) -> BoxFuture<'static, Result<Self, Absence>>;

    /// What was learnt on the way that holds for all checks, in sentences.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
