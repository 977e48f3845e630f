//! Whose an issuance, a consent or a credit is.

use forecourt_core::{Account, ConsentToken, Sender, ThreadId};
use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;

/// The holder of an issuance, a consent or a credit: a proven subject, or whoever has the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The proven subject, if there is one: then it is its alone, in whatever conversation.
    pub subject: Option<String>,
    /// The conversation.
    pub thread: Option<ThreadId>,
    /// Whose stored bytes it counts towards.
    pub account: Account,
}

/// By what a holder is known: its proven subject, its conversation, or, for its consents alone, its browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HolderKey(String);

impl HolderKey {
    /// That of a proven subject.
    pub(crate) fn of_subject(subject: &str) -> Self {
        Self(format!("subject:{subject}"))
    }

    /// That of whoever has a conversation.
    pub(crate) fn of_thread(thread: &ThreadId) -> Self {
        Self(format!("thread:{}", thread.key()))
    }

    /// That of a browser without an account, for its consents alone. By a hash: who reads the store holds nothing.
    pub(crate) fn of_browser(token: &ConsentToken) -> Self {
        Self(format!("browser:{}", sha256_hex(token.expose().as_bytes())))
    }

    pub(crate) fn is_thread(&self) -> bool {
        self.0.starts_with("thread:")
    }

    pub(crate) fn is_subject(&self) -> bool {
        self.0.starts_with("subject:")
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Holder {
    /// A sender in a conversation.
    pub fn of(sender: &Sender, thread: Option<&ThreadId>) -> Self {
        Self { subject: sender.owner().map(str::to_owned), thread: thread.cloned(), account: sender.account() }
    }

    /// By what it is known; `None` for nobody in no conversation.
    pub(crate) fn key(&self) -> Option<HolderKey> {
        self.keys().into_iter().next()
    }

    /// By what it may be known, the surest first: what its conversation did holds for its subject too.
    pub(crate) fn keys(&self) -> Vec<HolderKey> {
        // A network holds nothing: others may come from it.
        let by_subject = self.subject.as_deref().map(HolderKey::of_subject);
        by_subject.into_iter().chain(self.thread.as_ref().map(HolderKey::of_thread)).collect()
    }
}
