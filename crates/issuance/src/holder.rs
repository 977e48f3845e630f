//! Whose an issuance, a consent or a credit is.

use forecourt_core::{Account, CallerKey, Sender, ThreadId};

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

/// By what a holder is known: its proven subject, or its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HolderKey(String);

impl HolderKey {
    /// That of a caller. A network holds nothing: others may come from it.
    pub(crate) fn of(caller: &CallerKey<'_>) -> Option<Self> {
        match caller {
            CallerKey::Subject(subject) => Some(Self(format!("subject:{subject}"))),
            CallerKey::Conversation { key, .. } => Some(Self(format!("thread:{key}"))),
            CallerKey::Network(_) | CallerKey::Local => None,
        }
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
        HolderKey::of(&CallerKey::of(self.subject.as_deref(), self.thread.as_ref().map(ThreadId::key), None))
    }

    /// By what it may be known, the surest first: what its conversation did holds for its subject too.
    pub(crate) fn keys(&self) -> Vec<HolderKey> {
        let by_subject = CallerKey::of(self.subject.as_deref(), None, None);
        let by_thread = CallerKey::of(None, self.thread.as_ref().map(ThreadId::key), None);
        [by_subject, by_thread].iter().filter_map(HolderKey::of).collect()
    }
}
