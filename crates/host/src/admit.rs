//! The gate, held against what was done: rules say what is required, and the ledger whether it was met.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::gate::Admitted;
use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{AgentCard, Error, Message, Policy, PolicyPart, Task, ThreadId};

use crate::directory::HostedAgent;
use crate::host::Host;
use forecourt_issuance::{
    Claimant, Finding, REQUIREMENTS_MAX, RequirementUse, SubmittedIssuance, Unmet, UsedUp, waits_for, with_fault,
};

/// The context in which a message is admitted: its agent, its task, and whether it will be answered.
pub(crate) struct Passage<'a> {
    /// What its agent says of itself: what is issued is issued for it.
    pub(crate) card: &'a Arc<AgentCard>,
    /// The gate before it.
    pub(crate) policy: &'a Policy,
    /// The task that it goes on with.
    pub(crate) earlier: Option<&'a Task>,
    /// The conversation that it came with, where nothing is kept of it.
    pub(crate) unknown: Option<ThreadId>,
    /// Whether it comes to an answer, so that it may be paid for and what was done may be used up.
    pub(crate) is_answered: bool,
    /// How long its answer may take.
    pub(crate) time_max: Duration,
}

/// A message that the rules let pass, and what it is to use up for that.
pub(crate) struct PassedMessage {
    pub(crate) admitted: Admitted,
    /// The consents, payments, grants and deductions by which it passes, to be used up.
    pub(crate) uses: Vec<RequirementUse>,
}

/// A message that the rules turned away, with its refusal.
pub(crate) struct AdmissionRefusal {
    pub(crate) message: Box<Message>,
    pub(crate) refusal: Box<PolicyPart>,
    /// Whether it is told by its conversation when it comes back.
    pub(crate) is_issued: bool,
    /// Whether the task that it goes on with waits on as it did: a payment for it is on its way, and whoever made that
    /// must find it.
    pub(crate) leaves_task: bool,
}

impl<'a> Passage<'a> {
    /// That of a message to an agent of this host.
    pub(crate) fn to(resident: &'a HostedAgent, earlier: Option<&'a Task>, unknown: Option<ThreadId>) -> Self {
        let time_max = resident.time_max;
        Self { card: &resident.card, policy: &resident.policy, earlier, unknown, is_answered: true, time_max }
    }
}

impl Host {
    /// Holds a message against its agent's rules, and what they require against what was done.
    pub(crate) async fn admit(
        &self,
        passage: &Passage<'_>,
        message: Box<Message>,
    ) -> Result<Result<PassedMessage, Box<AdmissionRefusal>>, Error> {
        if message.search.is_tentative() || message.sender.allowance.is_tried_out() {
            // On the heap, since most messages are whole questions to one agent.
            return Box::pin(self.admit_unspent(passage, message)).await;
        }
        let resumes = message.submission.is_some() || passage.earlier.is_some_and(|task| waits_for(task).is_some());
        if resumes {
            return Box::pin(self.meet(passage, message)).await;
        }
        // First as if nothing was done: most messages need nothing, and for those no ledger is read.
        match passage.policy.admit(passage.card.clone(), message, &[]).await {
            Ok(admitted) => Ok(Ok(PassedMessage { admitted, uses: Vec::new() })),
            Err((message, Objection::Refused(refusal))) => Ok(Err(self.refuse_for_good(passage, message, refusal))),
            // On the heap, since most messages need nothing of it.
            Err((message, Objection::Required(_))) => Box::pin(self.meet(passage, message)).await,
        }
    }

    /// Holds the beginning of a question, one that is asked of several agents, or one that an operator tries out against
    /// the rules. No caller has asked this agent yet, so nothing is used up, paid, or asked for: it passes where the
    /// rules want nothing, or what was granted for a time.
    async fn admit_unspent(
        &self,
        passage: &Passage<'_>,
        mut message: Box<Message>,
    ) -> Result<Result<PassedMessage, Box<AdmissionRefusal>>, Error> {
        message.submission = None;
        self.recall_thread(passage, &mut message).await?;
        let mut met = Vec::new();
        while met.len() <= REQUIREMENTS_MAX {
            match passage.policy.admit(passage.card.clone(), message, &met).await {
                Ok(admitted) => return Ok(Ok(PassedMessage { admitted, uses: Vec::new() })),
                Err((message, Objection::Refused(refusal))) => {
                    return Ok(Err(self.refuse_for_good(passage, message, refusal)));
                }
                Err((refused, Objection::Required(requirement))) => {
                    let is_met = refused.sender.allowance.is_as_if_met()
                        || self.records.issuances.is_granted_to(&claimant(passage, &refused), &requirement).await?;
                    if !is_met {
                        let refusal = Box::new(match refused.sender.allowance.is_tried_out() {
                            true => self.records.issuances.without_state(&requirement, passage.card.handle()),
                            false => needs_own_question(&refused),
                        });
                        return Ok(Err(Box::new(AdmissionRefusal {
                            message: refused,
                            refusal,
                            is_issued: false,
                            leaves_task: false,
                        })));
                    }
                    message = refused;
                    met.push(*requirement);
                }
            }
        }
        Err(Error::internal("rules that want ever new things"))
    }

    /// Asks the rules again and again, each time with what is met, until they let the message pass or want
    /// something that was not done.
    async fn meet(
        &self,
        passage: &Passage<'_>,
        mut message: Box<Message>,
    ) -> Result<Result<PassedMessage, Box<AdmissionRefusal>>, Error> {
        self.find_thread(passage, &mut message).await?;
        let submitted = self.records.issuances.submitted(&claimant(passage, &message), &message).await?;
        let (mut met, mut uses) = (Vec::new(), Vec::new());
        // The rules name one requirement at a time, and are asked from the start with all that are met by then.
        while met.len() <= REQUIREMENTS_MAX {
            let verdict = passage.policy.admit(passage.card.clone(), message, &met).await;
            let (refused, requirement) = match verdict {
                Ok(admitted) => return self.resume(passage, submitted, PassedMessage { admitted, uses }).await,
                Err((message, Objection::Refused(refusal))) => {
                    return Ok(Err(self.refuse_for_good(passage, message, refusal)));
                }
                Err((message, Objection::Required(requirement))) => (message, requirement),
            };
            message = refused;
            let claimant = claimant(passage, &message);
            match self.records.issuances.meet(&requirement, &claimant, submitted.as_ref(), &mut message).await? {
                Finding::Met(one) => {
                    // Before the rules are asked again, so that they judge the words that the agent will get.
                    put_back(&mut message, &one);
                    uses.push(*one);
                    met.push(*requirement);
                }
                Finding::Unmet(unmet) => return self.refuse_unmet(passage, message, unmet).await.map(Err),
            }
        }
        Err(Error::internal("rules that want ever new things"))
    }

    /// What was done is told to the agent, even where no rule wants it: what the agent asked for itself, say.
    async fn resume(
        &self,
        passage: &Passage<'_>,
        submitted: Option<SubmittedIssuance>,
        mut passed: PassedMessage,
    ) -> Result<Result<PassedMessage, Box<AdmissionRefusal>>, Error> {
        let message = passed.admitted.message();
        if passed.uses.iter().any(|one| one.asked().is_some()) {
            return Ok(Ok(passed));
        }
        let Some(submitted) = submitted else { return Ok(Ok(passed)) };
        match self.records.issuances.resume(&claimant(passage, message), &submitted, message).await? {
            None => Ok(Ok(passed)),
            Some(Finding::Met(one)) => {
                if let Some(asked) = one.asked().filter(|_| message.parts.is_empty()) {
                    passed.admitted = passed.admitted.with_parts(asked.to_vec());
                }
                passed.uses.push(*one);
                Ok(Ok(passed))
            }
            Some(Finding::Unmet(unmet)) => {
                let message = Box::new(passed.admitted.into_message());
                self.refuse_unmet(passage, message, unmet).await.map(Err)
            }
        }
    }

    /// The conversation by which its caller is known. Who has none gets one, so that it is known when it comes back.
    async fn find_thread(&self, passage: &Passage<'_>, message: &mut Message) -> Result<(), Error> {
        self.recall_thread(passage, message).await?;
        message.thread.get_or_insert_with(|| ThreadId::mint(&*self.entropy));
        Ok(())
    }

    /// Takes a token that nothing is kept of back where a refusal gave it.
    async fn recall_thread(&self, passage: &Passage<'_>, message: &mut Message) -> Result<(), Error> {
        if let Some(thread) = &passage.unknown
            && self.records.issuances.knows(thread, passage.card.handle()).await?
        {
            message.thread = Some(thread.clone());
            message.gate.set_continues(true);
        }
        Ok(())
    }

    fn refuse_for_good(
        &self,
        passage: &Passage<'_>,
        message: Box<Message>,
        refusal: Box<PolicyPart>,
    ) -> Box<AdmissionRefusal> {
        self.records.note_refused(passage.card.handle(), &message, &refusal);
        Box::new(AdmissionRefusal { message, refusal, is_issued: false, leaves_task: false })
    }

    async fn refuse_unmet(
        &self,
        passage: &Passage<'_>,
        message: Box<Message>,
        unmet: Unmet,
    ) -> Result<Box<AdmissionRefusal>, Error> {
        let leaves_task = passage.earlier.is_some() && matches!(unmet, Unmet::Refused(_));
        let refusal = match unmet {
            Unmet::Refused(refusal) => refusal,
            Unmet::Ask(requirement, fault) => {
                let claimant = claimant(passage, &message);
                let refused = claimant.refused(&message);
                let refusal = self.records.issuances.issue(&requirement, passage.card, refused).await?;
                Box::new(with_fault(refusal, fault))
            }
        };
        Ok(Box::new(AdmissionRefusal { message, refusal, is_issued: true, leaves_task }))
    }

    /// Uses up what lets a message pass, right before its agent is asked. Whoever loses a race for it is asked for
    /// it anew.
    pub(crate) async fn use_up(
        &self,
        passage: &Passage<'_>,
        passed: PassedMessage,
    ) -> Result<Result<(Admitted, Option<UsedUp>), Box<AdmissionRefusal>>, Error> {
        let PassedMessage { admitted, uses } = passed;
        if uses.is_empty() {
            return Ok(Ok((admitted, None)));
        }
        match self.records.issuances.use_up(uses, admitted.message(), passage.time_max).await? {
            Ok(mut used) => {
                let admitted = admitted.with_receipt(used.receipt.get());
                Ok(Ok((admitted.with_resolution(used.resolution.take()), Some(used))))
            }
            Err(unmet) => {
                let message = Box::new(admitted.into_message());
                Ok(Err(self.refuse_unmet(passage, message, unmet).await?))
            }
        }
    }
}

fn claimant<'a>(passage: &Passage<'a>, message: &Message) -> Claimant<'a> {
    Claimant::new(passage.card, message, passage.earlier, passage.is_answered).lasting(passage.policy.lasting())
}

/// The code of the refusal of a question that is asked of several agents, where this one wants a consent or a payment
/// first: [`forecourt_core::SearchOptions::asks_several`].
pub const OWN_QUESTION_NEEDED: &str = "mentionable:own_question_needed";

/// The refusal where a whole question to this agent alone would be asked for something, or use something up.
fn needs_own_question(message: &Message) -> PolicyPart {
    let (code, words) = match message.search.asks_several {
        true => (
            OWN_QUESTION_NEEDED,
            "A question to this agent needs a consent or a payment first. Ask it alone to be asked for it.",
        ),
        false => (
            "mentionable:whole_question_needed",
            "Nothing is suggested here while you type: a question to this agent needs a consent or a payment first. \
             Send the whole question to be asked for it.",
        ),
    };
    PolicyPart { code: Some(code.to_owned()), ..PolicyPart::new(RefusalKind::Forbidden, words) }
}

/// What was said before it was asked for something, where the message brings no words of its own.
fn put_back(message: &mut Message, one: &RequirementUse) {
    let Some(asked) = one.asked() else { return };
    if message.parts.is_empty() {
        message.parts = asked.to_vec();
        if message.language.is_none() {
            message.language = one.language().cloned();
        }
    }
}
