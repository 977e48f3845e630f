//! This module describes the sender of a message to an agent, as far as issuances are concerned.

use forecourt_audit::RequestOrigin;
use forecourt_core::{AgentCard, Message, Task};

use crate::holder::{Holder, HolderKey};
use crate::issue::RefusedMessage;
use crate::record::IssuanceRecord;

/// The sender of a message to an agent: what it holds is looked for under its subject and its conversation.
pub struct Claimant<'a> {
    pub(crate) card: &'a AgentCard,
    pub(crate) holder: Holder,
    /// By what it may be known, the surest first.
    pub(crate) keys: Vec<HolderKey>,
    /// The browser that it sent it with, by which its consents hold that were given there; nothing else does.
    pub(crate) browser: Option<HolderKey>,
    /// The task that it goes on with.
    pub(crate) earlier: Option<&'a Task>,
    /// Whether a payment that it brings may be taken now.
    pub(crate) may_pay: bool,
    /// The request that it came by.
    pub(crate) origin: RequestOrigin,
}

impl<'a> Claimant<'a> {
    /// Whoever sent `message` to the agent of `card`, going on with the task `earlier`; `may_pay`: whether a payment
    /// that the message brings may be taken now.
    pub fn new(card: &'a AgentCard, message: &Message, earlier: Option<&'a Task>, may_pay: bool) -> Self {
        let holder = Holder::of(&message.sender, message.thread.as_ref());
        // Who is known has its own, wherever it is: a browser may be somebody else's, too.
        let browser = message.consents.as_ref().filter(|_| holder.subject.is_none()).map(HolderKey::of_browser);
        Self { card, keys: holder.keys(), browser, holder, earlier, may_pay, origin: RequestOrigin::of(message) }
    }

    /// What is kept of its message when it is refused.
    pub fn refused<'m>(&self, message: &'m Message) -> RefusedMessage<'m> {
        RefusedMessage {
            holder: Holder { thread: message.thread.clone(), ..self.holder.clone() },
            task: self.earlier.map(|task| task.id.clone()),
            parts: &message.parts,
            language: message.language.as_ref(),
            origin: self.origin.clone(),
        }
    }

    /// Whether an issuance is for this agent, and this claimant's to use. A subject's is its alone; any other belongs
    /// to its conversation. What an agent asked for that keeps no conversations is whose who knows its state.
    pub(crate) fn holds(&self, record: &IssuanceRecord) -> bool {
        let key = record.holder().key();
        record.agent == *self.card.handle() && key.is_none_or(|key| self.keys.contains(&key))
    }
}
