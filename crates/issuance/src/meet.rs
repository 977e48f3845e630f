//! This module decides whether a requirement is met: by an issuance, a grant, credit, or a payment that comes along.
//! Its order is such that nobody is asked twice, or charged for what is paid for.

use std::sync::Arc;

use forecourt_core::policy::{Demand, PaymentSubmission, Requirement};
use forecourt_core::{Error, Message, StateToken, Task};

use crate::claimant::Claimant;
use crate::digest::canonical_hash;
use crate::finding::{Finding, MetBy, RequirementUse, Unmet, indeterminate, met};
use crate::holder::HolderKey;
use crate::record::IssuanceRecord;
use crate::streams::{HolderMark, Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::AuditOutcome;
use futures::future::BoxFuture;

/// The issuance whose state a message brings, or whose task it goes on with.
pub struct SubmittedIssuance {
    state: StateToken,
    number: u64,
    record: IssuanceRecord,
}

impl Issuances {
    /// Holds `requirement` against what its caller did. Words that were said before it was asked for something
    /// are put back into a `message` that brings none of its own.
    pub fn meet<'a>(
        self: &'a Arc<Self>,
        requirement: &'a Requirement,
        claimant: &'a Claimant<'_>,
        submitted: Option<&'a SubmittedIssuance>,
        message: &'a mut Message,
    ) -> BoxFuture<'a, Result<Finding, Error>> {
        Box::pin(self.hold_against(requirement, claimant, submitted, message))
    }

    async fn hold_against(
        self: &Arc<Self>,
        requirement: &Requirement,
        claimant: &Claimant<'_>,
        submitted: Option<&SubmittedIssuance>,
        message: &mut Message,
    ) -> Result<Finding, Error> {
        let terms = canonical_hash(&requirement.terms())?;
        let submitted = submitted.filter(|submitted| claimant.is_met_by(&submitted.record, requirement, &terms));
        if let Some(submitted) = submitted {
            match self.status(&submitted.record) {
                IssuanceStatus::Verified => return Ok(submitted.met()),
                // Neither met nor asked for anew: an offer at this point could be paid for a second time.
                IssuanceStatus::Indeterminate => return Ok(Finding::Unmet(Unmet::Refused(indeterminate()))),
                _ => {}
            }
        }
        for key in claimant.keys.iter().filter(|_| !self.pays_for_itself(message)) {
            if let Some(finding) = self.found(key, claimant, requirement, &terms).await? {
                return Ok(finding);
            }
        }
        if self.is_granted_to(claimant, requirement).await? {
            return Ok(Finding::Met(Box::new(RequirementUse(MetBy::Granted))));
        }
        // After grants, and before a payment that comes along: nobody is charged for what credit pays for.
        let credit = match message.sender.allowance.has_credit() {
            true => self.meet_by_credit(requirement, claimant).await?,
            false => None,
        };
        let asked_for = match credit {
            Some(Finding::Unmet(Unmet::Ask(asked_for, fault))) => Finding::Unmet(Unmet::Ask(asked_for, fault)),
            Some(finding) => return Ok(finding),
            None => Finding::Unmet(Unmet::Ask(Box::new(requirement.clone()), None)),
        };
        // One payment, one try: of what comes after it, it pays nothing.
        let payment = match requirement.demand {
            Demand::Payment(_) => message.submission.as_mut().and_then(|submission| submission.payment.take()),
            Demand::Consent(_) => None,
        };
        match self.paid_now(requirement, payment, claimant, submitted, message).await? {
            Some(finding) => Ok(finding),
            None => Ok(asked_for),
        }
    }

    /// Whether a message brings a payment that is for nothing else, and needs none that is there already.
    fn pays_for_itself(&self, message: &Message) -> bool {
        let payment = message.submission.as_ref().and_then(|submission| submission.payment.as_ref());
        payment.and_then(|payment| self.scheme(payment.family)).is_some_and(|scheme| !scheme.is_shared())
    }

    /// What was done about a state that no rule asks for: an agent's own refusal, say, or one of a rule that is
    /// content by now. `None` when there is nothing to use.
    pub fn resume<'a>(
        self: &'a Arc<Self>,
        claimant: &'a Claimant<'_>,
        submitted: &'a SubmittedIssuance,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Option<Finding>, Error>> {
        Box::pin(async move {
            match self.status(&submitted.record) {
                IssuanceStatus::Verified => Ok(Some(submitted.met())),
                IssuanceStatus::Indeterminate => Ok(Some(Finding::Unmet(Unmet::Refused(indeterminate())))),
                IssuanceStatus::Issued => {
                    let payment = message.submission.as_ref().and_then(|submission| submission.payment.clone());
                    self.paid_now(&submitted.record.requirement, payment, claimant, Some(submitted), message).await
                }
                IssuanceStatus::Consumed | IssuanceStatus::Declined | IssuanceStatus::Expired => Ok(None),
            }
        })
    }

    /// The issuance of the state that a message brings, or that its task waits for, if it is this claimant's.
    /// None is treated like any other that is of no use: who asks learns nothing. Looked up once for each message:
    /// what changes meanwhile is found when it is used, and the audit is told once of a state that is of no use.
    pub fn submitted<'a>(
        &'a self,
        claimant: &'a Claimant<'_>,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Option<SubmittedIssuance>, Error>> {
        Box::pin(async move {
            let named = message.submission.as_ref().and_then(|submission| submission.state.clone());
            let Some(state) = named.or_else(|| claimant.earlier.and_then(waits_for)) else { return Ok(None) };
            let hash = StateHash::of(&state);
            // Somebody else's state is treated as one that does not exist, so that states can't be tried out.
            let last = self.last(&hash).await?.filter(|(_, record)| claimant.holds(record));
            let Some((number, record)) = last else {
                self.note_useless(&hash, None, claimant, AuditOutcome::Foreign);
                return Ok(None);
            };
            match self.status(&record) {
                IssuanceStatus::Consumed => self.note_useless(&hash, Some(&record), claimant, AuditOutcome::Replayed),
                IssuanceStatus::Expired => self.note_useless(&hash, Some(&record), claimant, AuditOutcome::Expired),
                _ => {}
            }
            Ok(Some(SubmittedIssuance { state, number, record }))
        })
    }

    /// Something that meets a requirement, which a holder did and has not used yet; a refusal while nobody knows whether it
    /// was done, since a second offer would be a second charge.
    async fn found(
        &self,
        key: &HolderKey,
        claimant: &Claimant<'_>,
        requirement: &Requirement,
        terms: &str,
    ) -> Result<Option<Finding>, Error> {
        let marks = self.marks(key, claimant.card.handle()).await?;
        let is_of_rule =
            |mark: &HolderMark| mark.rule.as_ref() == Some(&requirement.rule) && claimant.has_lasting(requirement);
        for mark in marks.into_iter().filter(|mark| mark.terms == terms || is_of_rule(mark)) {
            if !matches!(mark.status, IssuanceStatus::Verified | IssuanceStatus::Indeterminate) {
                continue;
            }
            // Marks only lead there, and may be old: the issuance itself says where it stands.
            let Some((number, record)) = self.last(&mark.state).await? else { continue };
            if !claimant.is_met_by(&record, requirement, terms) {
                continue;
            }
            match self.status(&record) {
                IssuanceStatus::Verified => {
                    let Some(resolution) = &record.resolution else { continue };
                    return Ok(Some(met(resolution.in_reply_to_state.clone(), number, record)));
                }
                IssuanceStatus::Indeterminate => return Ok(Some(Finding::Unmet(Unmet::Refused(indeterminate())))),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Takes the payment that a message brings, for the offer of its state if that is open, else for a new one.
    async fn paid_now(
        self: &Arc<Self>,
        requirement: &Requirement,
        payment: Option<PaymentSubmission>,
        claimant: &Claimant<'_>,
        submitted: Option<&SubmittedIssuance>,
        message: &Message,
    ) -> Result<Option<Finding>, Error> {
        let is_payable = claimant.may_pay && matches!(requirement.demand, Demand::Payment(_));
        let Some(payment) = payment.filter(|_| is_payable) else { return Ok(None) };
        let named = submitted.map(|submitted| StateHash::of(&submitted.state));
        if let Some(known) = self.known_payment(requirement, &payment, claimant, named.as_ref()).await? {
            return Ok(Some(known));
        }
        let terms = canonical_hash(&requirement.terms())?;
        // An offer that was made before the price changed, for whoever pays that; who pays the new price gets the new
        // offer.
        let is_meant = |record: &IssuanceRecord| {
            let scheme = self.scheme(payment.family);
            record.terms == terms || scheme.is_some_and(|scheme| scheme.select(record.offers(), &payment).is_ok())
        };
        let is_open = |record: &IssuanceRecord| self.status(record) == IssuanceStatus::Issued && is_meant(record);
        let state = match submitted.filter(|submitted| is_open(&submitted.record)) {
            Some(open) => open.state.clone(),
            None => match self.issue_known(requirement, claimant.card, claimant.refused(message)).await? {
                (Some(state), _) => state,
                (None, refusal) => return Ok(Some(Finding::Unmet(Unmet::Refused(Box::new(refusal))))),
            },
        };
        let outcome = self.pay(&state, &payment, &claimant.origin).await?;
        Ok(Some(match outcome {
            // Also where somebody else has paid for it just now: one of the two uses it.
            IssuanceOutcome::Verified(_) | IssuanceOutcome::Late(IssuanceStatus::Verified) => {
                match self.last(&StateHash::of(&state)).await? {
                    Some((number, record)) if self.status(&record) == IssuanceStatus::Verified => {
                        met(state, number, record)
                    }
                    // Another message has used it meanwhile.
                    Some(_) => Finding::Unmet(Unmet::Refused(indeterminate())),
                    None => return Err(Error::unavailable()),
                }
            }
            IssuanceOutcome::Late(IssuanceStatus::Indeterminate | IssuanceStatus::Consumed) => {
                Finding::Unmet(Unmet::Refused(indeterminate()))
            }
            IssuanceOutcome::Refused(fault) => Finding::Unmet(Unmet::Ask(Box::new(requirement.clone()), Some(fault))),
            IssuanceOutcome::Late(_) | IssuanceOutcome::Declined | IssuanceOutcome::NotTheirs => {
                Finding::Unmet(Unmet::Ask(Box::new(requirement.clone()), None))
            }
        }))
    }
}

impl SubmittedIssuance {
    fn met(&self) -> Finding {
        met(self.state.clone(), self.number, self.record.clone())
    }
}

/// The state that a task waits for.
pub fn waits_for(task: &Task) -> Option<StateToken> {
    match &task.outcome.as_ref()?.ending {
        forecourt_core::Ending::Refused(part) => part.state(),
        _ => None,
    }
}
