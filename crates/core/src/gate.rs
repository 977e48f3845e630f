//! This module has the gate before agents: it asks ordered rules, and makes the only value that an agent takes.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::card::AgentCard;
use crate::journal::WorkJournal;
use crate::maybe_boxed::{MaybeBoxed, at_once, in_time};
use crate::mention::behind_mention;
use crate::message::{Message, RECEIPT};
use crate::part::Part;
use crate::policy::{Objection, PolicyPart, PolicyResolution, Requirement};
use crate::stop::StopSign;
use crate::usage::UsageMeter;

/// A rule's decision: `Ok` lets the message pass, an [`Objection`] stops it.
pub type RuleVerdict = Result<(), Objection>;

/// The gate's decision: the admitted message, or the message again with the objection, to be held against the gate once
/// more when the requirement was met.
pub type GateVerdict = Result<Admitted, (Box<Message>, Objection)>;

/// One rule of the gate. Rules are asked in order; the first objection stands.
pub trait Rule: Send + Sync + 'static {
    /// Lets `message` pass to the agent of `card`, refuses it, or says what is required first. Must have no effect, as
    /// it is asked any number of times, and must say the same whether or not the requirement was met: only the host
    /// knows that.
    fn judge<'a>(&'a self, card: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict>;

    /// Counts `message` against the rule's limit, if it has one. Called once for each message that the rule let pass,
    /// however often the message comes to the gate.
    fn count(&self, _card: &AgentCard, _message: &Message) -> RuleVerdict {
        Ok(())
    }

    /// The name of the payment that it requires, where that is the same for each message until the operator changes it;
    /// `None` where it requires none, or another one of this message than of that.
    fn fixed_payment(&self) -> Option<String> {
        None
    }
}

/// The names by which payments stay good when the operator changes their price: those that one rule alone has, whose
/// payment is fixed. By a name that several have, what was paid for a cheap one would open a dear one.
pub fn lasting_payments<'a>(rules: impl IntoIterator<Item = &'a Arc<dyn Rule>>) -> Arc<[String]> {
    let names: Vec<String> = rules.into_iter().filter_map(|rule| rule.fixed_payment()).collect();
    let is_alone = |name: &&String| names.iter().filter(|other| other == name).count() == 1;
    names.iter().filter(is_alone).cloned().collect()
}

/// The rules before an agent, in the order in which they are asked.
///
/// There is no default one: whoever lets everybody in says so with an empty list.
#[derive(Clone)]
pub struct Policy {
    rules: Vec<Arc<dyn Rule>>,
    lasting: Arc<[String]>,
}

impl Policy {
    /// A gate of these rules. Put cheap and broad ones first: limits, then identity, then the rest.
    pub fn new(rules: Vec<Arc<dyn Rule>>) -> Self {
        let lasting = lasting_payments(&rules);
        Self::of_some(rules, lasting)
    }

    /// A gate of some of the rules before an agent; `lasting` are the [`lasting_payments`] of all of them.
    pub fn of_some(rules: Vec<Arc<dyn Rule>>, lasting: Arc<[String]>) -> Self {
        Self { rules, lasting }
    }

    /// The [`lasting_payments`] before the agent.
    pub fn lasting(&self) -> &[String] {
        &self.lasting
    }

    /// Asks each rule about `message`, without counting it. Requirements that are in `met` are not required again.
    pub fn judge<'a>(
        &'a self,
        card: &'a AgentCard,
        message: &'a Message,
        met: &'a [Requirement],
    ) -> MaybeBoxed<'a, RuleVerdict> {
        if self.rules.is_empty() {
            return at_once(Ok(()));
        }
        in_time(|| async move {
            for rule in &self.rules {
                match rule.judge(card, message).await {
                    // Equal as a whole: other terms are another requirement, which was not met.
                    Err(Objection::Required(required)) if met.contains(&required) => {}
                    verdict => verdict?,
                }
            }
            Ok(())
        })
    }

    /// Asks each rule about `message` and counts it: the only way to an [`Admitted`]. For the host, which knows which
    /// requirements are `met`. On an objection the message is given back: when it comes again, only rules that have not
    /// counted it yet do.
    pub fn admit<'a>(
        &'a self,
        card: Arc<AgentCard>,
        message: impl Into<Box<Message>>,
        met: &'a [Requirement],
    ) -> MaybeBoxed<'a, GateVerdict> {
        let message = message.into();
        match self.rules.is_empty() {
            // Most agents have no rules: their messages get no future and no allocation here.
            true => at_once(Ok(Admitted { card, message })),
            false => in_time(|| self.held(card, message, met)),
        }
    }

    /// Admits once more a message that was admitted before, for work on it that begins anew. The rules are asked again,
    /// since one may refuse its sender by now; nothing is counted, and what a rule requires was met when the message
    /// came. Gives the refusal otherwise.
    pub fn readmit(
        &self,
        card: Arc<AgentCard>,
        message: impl Into<Box<Message>>,
    ) -> MaybeBoxed<'_, Result<Admitted, Box<PolicyPart>>> {
        let message = message.into();
        match self.rules.is_empty() {
            true => at_once(Ok(Admitted { card, message })),
            false => in_time(|| async move {
                for rule in &self.rules {
                    if let Err(Objection::Refused(refusal)) = rule.judge(&card, &message).await {
                        return Err(refusal);
                    }
                }
                Ok(Admitted { card, message })
            }),
        }
    }

    async fn held(&self, card: Arc<AgentCard>, mut message: Box<Message>, met: &[Requirement]) -> GateVerdict {
        for (index, rule) in self.rules.iter().enumerate() {
            let mut verdict = match rule.judge(&card, &message).await {
                Err(Objection::Required(required)) if met.contains(&required) => Ok(()),
                verdict => verdict,
            };
            // The order matters: a message that is refused before a limit is not counted by it, one refused behind it
            // is. A message that comes back with a payment was counted by the rules before the one that wanted it, and
            // is not again.
            if verdict.is_ok() && index >= message.gate.counted {
                message.gate.counted = index + 1;
                verdict = rule.count(&card, &message);
            }
            if let Err(objection) = verdict {
                return Err((message, objection));
            }
        }
        Ok(Admitted { card, message })
    }
}

/// A message that passed the gate. Proof by construction: only [`Policy::admit`] makes one, and [`Policy::readmit`] of a
/// message that the host has kept.
#[derive(Debug, Clone)]
pub struct Admitted {
    card: Arc<AgentCard>,
    /// On the heap: it is handed on many times, and large.
    message: Box<Message>,
}

impl Admitted {
    /// The agent it was admitted to.
    pub fn card(&self) -> &AgentCard {
        &self.card
    }

    /// The message.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The same admission with other parts: attachments named by address become bytes after the
    /// gate, so that nothing is fetched for a message that is refused.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<Part>) -> Self {
        self.message.parts = parts;
        self
    }

    /// The same admission without the mention of its agent that its words may begin with, which says whom the host
    /// was to give them to and nothing to the agent. A message that is nothing else stays as it is.
    #[must_use]
    pub fn without_mention(mut self) -> Self {
        let recipient = &self.message.recipient;
        let mut parts = self.message.parts.iter().enumerate();
        let first =
            parts.find_map(|(at, part)| Some((at, part.as_text()?)).filter(|(_, text)| !text.trim().is_empty()));
        let Some((at, text)) = first else { return self };
        let words = behind_mention(text, recipient);
        if words.len() == text.len() || (words.is_empty() && self.message.parts.len() == 1) {
            return self;
        }
        let words = words.to_owned();
        match &mut self.message.parts[at] {
            // With other parts beside it, words that are none would be an empty part.
            Part::Text(_) if words.is_empty() => drop(self.message.parts.remove(at)),
            Part::Text(text) => text.content = words,
            _ => {}
        }
        self
    }

    /// The same admission with what was done about an earlier refusal: known once it was used up, after the gate.
    #[must_use]
    pub fn with_resolution(mut self, resolution: Option<Box<PolicyResolution>>) -> Self {
        self.message.policy_resolution = resolution;
        self
    }

    /// The same admission with the receipt of the payment by which it passes, which is kept with its turn.
    #[must_use]
    pub fn with_receipt(mut self, receipt: Option<&Map<String, Value>>) -> Self {
        if let Some(receipt) = receipt {
            self.message.annotations.insert(RECEIPT.to_owned(), Value::Object(receipt.clone()));
        }
        self
    }

    /// The same admission with a place where its agent says what models used for the answer.
    #[must_use]
    pub fn with_usage(mut self, usage: UsageMeter) -> Self {
        self.message.usage = usage;
        self
    }

    /// The same admission with a journal in which its agent notes how far its work has come.
    #[must_use]
    pub fn with_journal(mut self, journal: WorkJournal) -> Self {
        self.message.journal = journal;
        self
    }

    /// The same admission with a sign by which its agent learns why it is stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSign) -> Self {
        self.message.stop = stop;
        self
    }

    /// The message, for an agent that needs to keep it.
    pub fn into_message(self) -> Message {
        *self.message
    }
}
