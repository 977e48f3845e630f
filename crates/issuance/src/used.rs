//! This module uses up what meets a message's requirements, before its agent is called. PolicyPart 5.5.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::{Confirmation, Demand, PolicyResolution};
use forecourt_core::{Error, Message, PaymentReceipt};
use futures::future::BoxFuture;

use crate::answer_mark::{AnswerMark, UsedThings};
use crate::charge::EarlyCharge;
use crate::finding::{MetBy, RequirementUse, Unmet, UsedState, indeterminate};

use crate::IssuanceStatus;
use crate::digest::canonical_hash;
use crate::record::{IssuanceRecord, IssuanceUse};
use crate::streams::Issuances;
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// What was used up for one answer.
pub struct UsedUp {
    /// What the agent is told was done.
    pub resolution: Option<Box<PolicyResolution>>,
    /// The receipt of what was paid: filled by the ending where it is charged for then.
    pub receipt: PaymentReceipt,
    /// Follows the answer to its end.
    pub mark: AnswerMark,
}

/// Whether one thing could be used up.
enum UseOutcome {
    Used,
    /// Somebody else was first.
    Lost,
    Unmet(Unmet),
}

impl Issuances {
    /// Uses up everything that lets a message through, each once, whoever else tries at the same time, for an answer
    /// that takes at most `time_max`. Inside is why not: nothing is used then.
    pub fn use_up<'a>(
        self: &'a Arc<Self>,
        uses: Vec<RequirementUse>,
        message: &'a Message,
        time_max: Duration,
    ) -> BoxFuture<'a, Result<Result<UsedUp, Unmet>, Error>> {
        Box::pin(self.use_all(uses, message, time_max))
    }

    async fn use_all(
        self: &Arc<Self>,
        mut uses: Vec<RequirementUse>,
        message: &Message,
        time_max: Duration,
    ) -> Result<Result<UsedUp, Unmet>, Error> {
        // What was paid goes first: it is what the agent is told of, and what is contested.
        uses.sort_by_key(|one| !one.is_payment());
        let first = uses.iter().find_map(|one| one.requirement()).map(|wanted| Box::new(wanted.clone()));
        // From here on, what fails in the middle is given back.
        let mut used = UsedThings::none(self.clone());
        let origin = RequestOrigin::of(message);
        // One after another, so that what was used before one fails is known and can be given back.
        for one in uses {
            let unmet = match self.use_one(one, &mut used, &origin, time_max).await {
                Ok(UseOutcome::Used) => continue,
                Ok(UseOutcome::Unmet(unmet)) => Ok(Err(unmet)),
                // Grants alone have no requirement, and they are never used up: there is nothing to ask for anew.
                Ok(UseOutcome::Lost) => {
                    first.map(|wanted| Err(Unmet::Ask(wanted, None))).ok_or_else(Error::unavailable)
                }
                Err(error) => Err(error),
            };
            used.give_back().await;
            return unmet;
        }
        let submitted = message.submission.as_ref().and_then(|submission| submission.state.as_ref());
        let (resolution, receipt) = (used.resolution(submitted), used.receipt());
        Ok(Ok(UsedUp { resolution, mark: AnswerMark::new(used, receipt.clone()), receipt }))
    }

    async fn use_one(
        self: &Arc<Self>,
        one: RequirementUse,
        used: &mut UsedThings,
        origin: &RequestOrigin,
        time_max: Duration,
    ) -> Result<UseOutcome, Error> {
        match one.0 {
            MetBy::Granted => Ok(UseOutcome::Used),
            MetBy::Issuance { hash, number, record } => {
                let record = IssuanceRecord { origin: origin.clone(), ..*record };
                let state = UsedState { hash, number, record };
                // Whoever asks twice at once by one payment is not asked to pay again while the other one is answered.
                let lost = match state.is_payment() {
                    true => UseOutcome::Unmet(Unmet::Refused(indeterminate())),
                    false => UseOutcome::Lost,
                };
                // Whoever found it has seen it so; used by somebody else since, it is none to be used again.
                if self.status(&state.record) != IssuanceStatus::Verified {
                    return Ok(lost);
                }
                let state = match self.charge_early(state, time_max).await? {
                    EarlyCharge::Ready(state) => state,
                    EarlyCharge::Lost => return Ok(lost),
                    EarlyCharge::Unmet(unmet) => return Ok(UseOutcome::Unmet(unmet)),
                };
                let Some(consumed) = self.consume(*state).await? else { return Ok(lost) };
                used.states.push(consumed);
                Ok(UseOutcome::Used)
            }
            MetBy::Credit(deduction) => {
                let deducted = self.deduct(*deduction).await?;
                let outcome = if deducted.is_some() { UseOutcome::Used } else { UseOutcome::Lost };
                used.deductions.extend(deducted);
                Ok(outcome)
            }
        }
    }

    /// Uses up what was done, if it still is what it was. The offer that was confirmed is compared once more with
    /// the one that was made. PolicyPart 5.5, steps 1 to 3.
    async fn consume(&self, state: UsedState) -> Result<Option<UsedState>, Error> {
        let UsedState { hash, number, record } = state;
        if !is_what_was_offered(&record)? {
            tracing::error!(agent = %record.agent, "a confirmation is of another offer than was made");
            return Ok(None);
        }
        let now = self.clock.now();
        let used = IssuanceUse { run: self.run.name().to_string(), at: now, is_answered: false };
        let step = record.step(IssuanceStatus::Consumed, now, Duration::ZERO);
        let consumed = IssuanceRecord { used: Some(used), ..step };
        // Compared and written before the agent hears of it: of all who use a state one does. PolicyPart 5.5, steps 1
        // and 2.
        let Some(number) = self.write(&hash, &consumed, number).await? else { return Ok(None) };
        self.note(&hash, &consumed, AuditOutcome::Resumed);
        Ok(Some(UsedState { hash, number, record: consumed }))
    }

    /// Writes down that an answer came to its end, or, when there was none, that what it used can be used.
    pub(crate) async fn settle_use(&self, state: &UsedState, is_answered: bool) -> Result<(), Error> {
        let (now, record) = (self.clock.now(), &state.record);
        let is_told = record.used.as_ref().is_some_and(|used| used.is_answered);
        let step = match is_answered {
            // It was written with the charge.
            true if is_told => return Ok(()),
            true => record.answered().step(IssuanceStatus::Consumed, now, Duration::ZERO),
            // Nobody knows whether it was paid, and if so, it is owed.
            false if record.status == IssuanceStatus::Indeterminate => IssuanceRecord { used: None, ..record.clone() },
            false => IssuanceRecord { used: None, ..record.step(IssuanceStatus::Verified, now, Duration::ZERO) },
        };
        // Tried again: left unwritten, what was answered could be used once more when this run is over, and what was
        // not answered could not be used until then.
        self.write_surely(&state.hash, &step, state.number).await.map(|_| ())
    }
}

/// Whether what was confirmed is what was offered. PolicyPart 5.5, step 3.
fn is_what_was_offered(record: &IssuanceRecord) -> Result<bool, Error> {
    let Some(resolution) = &record.resolution else { return Ok(false) };
    Ok(match (&resolution.confirmation, &record.requirement.demand) {
        (Confirmation::PaymentRequired(paid), Demand::Payment(_)) => {
            let original = canonical_hash(&paid.original_payload)?;
            let mut offers = record.offers().iter().filter(|offer| offer.scheme == paid.scheme);
            offers.any(|offer| canonical_hash(&offer.payload).is_ok_and(|offered| offered == original))
        }
        (Confirmation::ConsentRequired(given), Demand::Consent(terms)) => {
            given.scope_hash == canonical_hash(&terms.scope)?
        }
        _ => false,
    })
}
