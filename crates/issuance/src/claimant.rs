//! This module describes the sender of a message to an agent, as far as issuances are concerned.

use forecourt_audit::RequestOrigin;
use forecourt_core::policy::{Demand, Requirement};
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
    /// The names of payments of the agent's rules that stay good when their price changes.
    pub(crate) lasting: &'a [String],
}

impl<'a> Claimant<'a> {
    /// Whoever sent `message` to the agent of `card`, going on with the task `earlier`; `may_pay`: whether a payment
    /// that the message brings may be taken now.
    pub fn new(card: &'a AgentCard, message: &Message, earlier: Option<&'a Task>, may_pay: bool) -> Self {
        let holder = Holder::of(&message.sender, message.thread.as_ref());
        // Who is known has its own, wherever it is: a browser may be somebody else's, too.
        let browser = message.consents.as_ref().filter(|_| holder.subject.is_none()).map(HolderKey::of_browser);
        let origin = RequestOrigin::of(message);
        Self { card, keys: holder.keys(), browser, holder, earlier, may_pay, origin, lasting: &[] }
    }

    /// The same before rules whose payments of these names stay good when their price changes:
    /// [`forecourt_core::gate::lasting_payments`].
    #[must_use]
    pub fn lasting(self, lasting: &'a [String]) -> Self {
        Self { lasting, ..self }
    }

    /// What is kept of its message when it is refused.
    pub fn refused<'m>(&self, message: &'m Message) -> RefusedMessage<'m>
    where
        'a: 'm,
    {
        RefusedMessage {
            holder: Holder { thread: message.thread.clone(), ..self.holder.clone() },
            task: self.earlier.map(|task| task.id.clone()),
            parts: &message.parts,
            language: message.language.as_ref(),
            origin: self.origin.clone(),
            lasting: self.lasting,
        }
    }

    /// Whether `requirement`, whose terms hash to `terms`, is met by what is done about an issuance. A consent is one to
    /// its terms, and others are agreed to anew. A payment was offered by a rule: when that has another price by now, the
    /// offer stays good as it was made, where the rule is the only one of its name now and was then.
    pub(crate) fn is_met_by(&self, record: &IssuanceRecord, requirement: &Requirement, terms: &str) -> bool {
        let is_of_rule = record.is_lasting && record.requirement.rule == requirement.rule;
        record.terms == terms || is_of_rule && self.has_lasting(requirement)
    }

    /// Whether payments for `requirement` stay good when its price changes.
    pub(crate) fn has_lasting(&self, requirement: &Requirement) -> bool {
        matches!(requirement.demand, Demand::Payment(_)) && self.lasting.contains(&requirement.rule)
    }

    /// Whether an issuance is for this agent, and this claimant's to use. A subject's is its alone; any other belongs
    /// to its conversation. What an agent asked for that keeps no conversations is whose who knows its state.
    pub(crate) fn holds(&self, record: &IssuanceRecord) -> bool {
        let key = record.holder().key();
        record.agent == *self.card.handle() && key.is_none_or(|key| self.keys.contains(&key))
    }
}
