//! What callers bring to go on after a refusal, and those who rather do not pay. PolicyPart 5.3, 5.6; x402 over A2A
//! v0.2, 5.4, 5.5.

use forecourt_audit::RequestOrigin;
use forecourt_core::MessageId;
use forecourt_core::policy::Submission;
use forecourt_host::TaskPermit;
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus};

use super::{Caller, OperationReply, Service, ServiceError};
use crate::from_wire::IncomingMessage;
use crate::model::{Item, OperationError, OperationOutcome};
use crate::payment::{self, PaymentAnswer};
use crate::view;

impl Service {
    /// The extensions that a caller asked for and that are at work.
    pub(crate) fn extensions_at_work(&self, caller: &Caller<'_>) -> Vec<&'static str> {
        caller.extensions_at_work(payment::extensions(&self.host))
    }

    /// What a message brings to go on with, if anything. That a refusal was met counts only where the host's own
    /// record says so by now; else the claim is dropped.
    pub(super) async fn submission(&self, heard: &IncomingMessage) -> Option<Box<Submission>> {
        let state = match &heard.resolved {
            Some(state) => {
                let known = self.host.issuance(state).await.ok().flatten();
                let is_met = known.is_some_and(|issuance| issuance.status == IssuanceStatus::Verified);
                if !is_met {
                    tracing::info!("a caller claimed that a refusal was met, which this host does not know of");
                }
                is_met.then(|| state.clone())
            }
            None => None,
        };
        let payment = match &heard.payment {
            Some(PaymentAnswer::Submitted(payment)) => Some(payment.clone()),
            Some(PaymentAnswer::Rejected) | None => None,
        };
        (state.is_some() || payment.is_some()).then(|| Box::new(Submission { state, payment }))
    }

    /// Takes the mandates out of a message that goes on with `task`, and has one that pays say what it pays for. Fails for
    /// a payment that no task asked for.
    pub(super) fn take_payment(
        &self,
        heard: &mut IncomingMessage,
        task: Option<&TaskPermit>,
    ) -> Result<(), OperationError> {
        if self.host.takes_payments(payment::MANDATE_FAMILY) {
            let paid = payment::take_mandates(&mut heard.parts, task.map(|task| &**task))?;
            heard.payment = heard.payment.take().or(paid.map(PaymentAnswer::Submitted));
        }
        if let (Some(PaymentAnswer::Submitted(_)), Some(words)) =
            (&heard.payment, task.and_then(|task| payment::paid_words(task)))
        {
            // A payment says nothing of its own: it is for what was said.
            heard.parts = words;
        }
        Ok(())
    }

    /// Ends a task whose caller does not pay: what it was offered is withdrawn first, by the message `said`. Fails when
    /// it has paid already, or may have.
    pub(super) async fn rejected(
        &self,
        caller: &Caller<'_>,
        task: &TaskPermit,
        said: &MessageId,
    ) -> Result<OperationReply, ServiceError> {
        if let Some(state) = payment::state(task)
            && self.host.issuance(&state).await?.is_some()
        {
            use IssuanceStatus::{Consumed, Declined, Expired, Indeterminate, Issued, Verified};
            match self.host.decline(&state, &RequestOrigin::new(crate::NAME, said)).await? {
                // Money may have moved: a state that was paid is owed an answer (design 44), so that the task is not
                // cancelled.
                IssuanceOutcome::Late(Verified | Consumed | Indeterminate) => {
                    let words = "the payment was taken, or is being settled: send the next message without it";
                    return Err(OperationError::UnsupportedOperation(words.to_owned()).into());
                }
                IssuanceOutcome::Declined
                | IssuanceOutcome::Verified(_)
                | IssuanceOutcome::NotTheirs
                | IssuanceOutcome::Refused(_) => {}
                IssuanceOutcome::Late(Issued | Declined | Expired) => {}
            }
        }
        let task = task.cancel().await?;
        let mut shown = view::task(&task, caller.detail(), self.base(caller).as_str()).await;
        if let Some(message) = &mut shown.status.message {
            payment::reject(&mut message.metadata);
        }
        Ok(OperationReply::Once(OperationOutcome::Sent(Item::Task(shown))))
    }
}
