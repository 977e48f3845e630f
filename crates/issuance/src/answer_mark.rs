//! An answer comes to its end, and with it what it was let through by: charged for, used, or given back.

use std::sync::Arc;

use forecourt_core::policy::PolicyResolution;
use forecourt_core::{Ending, PaymentReceipt, StateToken};
use forecourt_telemetry::going_on;
use futures::future::BoxFuture;

use crate::charge::ChargeOutcome;
use crate::deduction::Deduction;
use crate::finding::UsedState;
use crate::streams::Issuances;

/// What is told behind a failure's own words where nothing was taken.
const NOT_CHARGED: &str = "Nothing was charged.";
/// The same where it was paid before.
const GIVEN_BACK: &str = "What you paid is given back.";
/// The same where it is kept.
const OWED: &str =
    "What you paid is kept: send the message again with the same state, or the same payment, to be answered.";

/// Follows an answer to its end, so that what it was let through by is charged for and known to be answered: after
/// that there is nothing left to use. What never reached its agent, and what was paid for an answer that did not come,
/// is given back; what a crash cuts off, the next run finds.
pub struct AnswerMark {
    /// What was used; taken out once it is settled.
    used: Option<UsedThings>,
    has_begun: bool,
    has_failed: bool,
    receipt: PaymentReceipt,
}

/// What one answer used. Nothing happens when it is dropped.
pub(crate) struct UsedThings {
    issuances: Arc<Issuances>,
    pub(crate) states: Vec<UsedState>,
    pub(crate) deductions: Vec<Deduction>,
}

/// How an answer ended, as far as what it used is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerEnd {
    /// The agent never heard of the message.
    Unheard,
    /// The agent heard of it, and there is no answer.
    Unanswered,
    /// There is a complete answer, or a question back.
    Answered,
    /// Its caller left, or the host gave it up.
    Left,
}

impl AnswerMark {
    pub(crate) fn new(used: UsedThings, receipt: PaymentReceipt) -> Self {
        Self { used: Some(used), has_begun: false, has_failed: false, receipt }
    }

    /// The agent has heard of it: from here on, it is used.
    pub fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Whether something was used that is good for one answer. A consent or a period that holds for a time is not.
    pub fn is_for_one_answer(&self) -> bool {
        self.used.as_ref().is_some_and(|used| !used.states.is_empty() || !used.deductions.is_empty())
    }

    /// Whoever heard of it turned it away and did nothing: it counts as not begun.
    pub fn take_back(&mut self) {
        self.has_begun = false;
    }

    /// Whatever the ending says, there was no answer to be charged for.
    pub fn fail(&mut self) {
        self.has_failed = true;
    }

    /// The answer has come to its end: a complete one, or a question back, is charged for now. Gives the ending that is
    /// to be told: another one where the payment was refused, so that the answer is withheld.
    pub fn ended(mut self, ending: Ending) -> BoxFuture<'static, Ending> {
        Box::pin(async move {
            let Some(used) = self.used.take() else { return ending };
            let end = match self.has_begun {
                false => AnswerEnd::Unheard,
                true if is_answer(&ending) && !self.has_failed => AnswerEnd::Answered,
                true => AnswerEnd::Unanswered,
            };
            let receipt = self.receipt.clone();
            // On its own: whoever leaves in the middle does not stop what has begun.
            let ended = tokio::spawn(going_on(used.end(end, ending, receipt)));
            ended.await.unwrap_or_else(|_| Ending::failed("The answer could not be charged for, and is withheld."))
        })
    }
}

/// Whether an ending is something to pay for: a complete answer, or a question back.
fn is_answer(ending: &Ending) -> bool {
    match ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) => true,
        Ending::SignIn(_) | Ending::Refused(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled => {
            false
        }
    }
}

impl UsedThings {
    pub(crate) fn none(issuances: Arc<Issuances>) -> Self {
        Self { issuances, states: Vec::new(), deductions: Vec::new() }
    }

    /// What the agent is told was done: for the state that the message brings, else the first of all.
    pub(crate) fn resolution(&self, submitted: Option<&StateToken>) -> Option<Box<PolicyResolution>> {
        let mut told = self.states.iter().filter_map(|state| state.record.resolution.as_ref());
        let first = told.clone().next();
        told.find(|resolution| Some(&resolution.in_reply_to_state) == submitted).or(first).cloned().map(Box::new)
    }

    /// The receipt of what was paid, or the place for that of what is paid at the end.
    pub(crate) fn receipt(&self) -> PaymentReceipt {
        match self.states.iter().find_map(|state| state.record.receipt.clone()) {
            Some(receipt) => PaymentReceipt::known(receipt),
            None if self.states.iter().any(|state| state.record.is_reserved()) => PaymentReceipt::at_the_end(),
            None => PaymentReceipt::default(),
        }
    }

    pub(crate) async fn give_back(self) {
        self.settle(AnswerEnd::Unheard).await;
    }

    /// Charges for an answer, then writes down what became of everything that it used.
    async fn end(mut self, mut end: AnswerEnd, mut ending: Ending, receipt: PaymentReceipt) -> Ending {
        if end == AnswerEnd::Answered
            && let Some(withheld) = self.charge(&receipt).await
        {
            (end, ending) = (AnswerEnd::Unanswered, withheld);
            self.settle(end).await;
            return ending;
        }
        let (is_paid, is_kept) = (self.is_paid(), self.states.iter().any(|state| state.record.receipt.is_some()));
        let is_given_back =
            end == AnswerEnd::Unanswered && self.states.iter().any(|state| self.issuances.is_returnable(&state.record));
        self.settle(end).await;
        if end != AnswerEnd::Answered && is_paid {
            let words = match is_kept {
                true if is_given_back => GIVEN_BACK,
                true => OWED,
                false => NOT_CHARGED,
            };
            add_words(&mut ending, words);
        }
        ending
    }

    /// Charges for everything that is reserved. Gives the ending in place of the answer where one could not be taken:
    /// what was taken before it is owed then.
    async fn charge(&mut self, receipt: &PaymentReceipt) -> Option<Ending> {
        for state in self.states.iter_mut().filter(|state| state.record.is_reserved()) {
            let mut charged = match self.issuances.charge(state).await {
                ChargeOutcome::Charged(charged, paid) => {
                    receipt.fill(paid.details);
                    charged
                }
                ChargeOutcome::Open(open) => open,
                ChargeOutcome::Withheld(ending) => return Some(*ending),
            };
            // Kept until all is paid: another one may be refused, and then the question is needed again.
            charged.record.asked = std::mem::take(&mut state.record.asked);
            *state = *charged;
        }
        None
    }

    /// Whether something was paid for it, or was to be.
    fn is_paid(&self) -> bool {
        !self.deductions.is_empty() || self.states.iter().any(UsedState::is_payment)
    }

    async fn settle(self, end: AnswerEnd) {
        for state in &self.states {
            let is_used = match end {
                AnswerEnd::Unheard => false,
                AnswerEnd::Answered => true,
                // A person agreed that it is done once, and the agent has begun to.
                AnswerEnd::Unanswered => !state.is_payment(),
                // What is paid before is the caller's to wait for. What is charged for after is not taken for half an
                // answer, and where it was taken already, since a host died or it would have run out, it is owed.
                AnswerEnd::Left => !state.record.is_charged_after(),
            };
            // What has failed is given back where it can be; else it stays good for another try.
            let is_given_back = end == AnswerEnd::Unanswered && self.issuances.is_returnable(&state.record);
            let settled = match is_given_back {
                true => self.issuances.give_back_payment(&state.hash, &state.record, state.number).await,
                false => self.issuances.settle_use(state, is_used).await,
            };
            if let Err(error) = settled {
                tracing::warn!(%error, "the use of a consent or payment was not written to its end");
            }
        }
        let is_spent = matches!(end, AnswerEnd::Answered | AnswerEnd::Left);
        for deduction in &self.deductions {
            if let Err(error) = self.issuances.settle_deduction(deduction, is_spent).await {
                tracing::warn!(%error, "a deduction was not written to its end");
            }
        }
    }
}

/// Adds a sentence behind an ending's own words.
fn add_words(ending: &mut Ending, words: &str) {
    if let Ending::Failed { reason, .. } | Ending::Declined { reason } = ending {
        *reason = format!("{reason} {words}");
    }
}

/// An answer that its caller left counts as answered where it was paid before, and is not charged for else; one that
/// never began counts as nothing. What ends with the host is left as it is, for the next run to find.
impl Drop for AnswerMark {
    fn drop(&mut self) {
        let Some(used) = self.used.take() else { return };
        // The answer was cut off by the stop: left open, so that it may be used again once this run is over.
        if self.has_begun && used.issuances.is_draining() {
            return;
        }
        let end = if self.has_begun { AnswerEnd::Left } else { AnswerEnd::Unheard };
        // Where nobody is left to write it, it is as after a crash.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(used.settle(end));
        }
    }
}
