//! A reserved payment is taken: when its answer is complete, or before, where it would run out meanwhile.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::policy::{
    AcceptedPayment, Confirmation, PaymentAuthorization, PaymentConfirmation, PaymentError, PaymentScheme,
    PaymentSubmission, Receipt, Settlement,
};
use forecourt_core::{Ending, Error, FailureCause};
use forecourt_telemetry::going_on;
use tokio::time::{Instant, sleep, timeout_at};

use crate::finding::{Unmet, UsedState, indeterminate};
use crate::issue::fault;
use crate::limits::{INDETERMINATE_KEPT, SETTLE_RETRY_WAIT, SETTLE_TIME_MAX, SETTLE_TRIES_MAX, TRIES_MAX};
use crate::record::{IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::AuditOutcome;

/// What came of charging for an answer.
pub(crate) enum ChargeOutcome {
    /// The money is there.
    Charged(Box<UsedState>, Box<Receipt>),
    /// Nobody knows yet. The answer is given, and to find out is the host's debt.
    Open(Box<UsedState>),
    /// Nothing was taken: the answer is withheld, with this ending in its place.
    Withheld(Box<Ending>),
}

/// What came of taking a payment before its answer, since it would run out meanwhile.
pub(crate) enum EarlyCharge {
    /// Its state, as it is to be used. Not taken where it lasts.
    Ready(Box<UsedState>),
    /// Somebody else was first.
    Lost,
    /// It could not be taken.
    Unmet(Unmet),
}

/// A charge or settlement on its way in this process: nobody else asks what came of it meanwhile.
pub(crate) struct ChargeUnderWay<'a>(&'a Issuances, &'a StateHash);

impl Drop for ChargeUnderWay<'_> {
    fn drop(&mut self) {
        // One of them: two may have begun at once, of which one writes that it settles.
        let mut charging = self.0.desk.charging.lock();
        if let Some(at) = charging.iter().position(|other| other == self.1) {
            charging.swap_remove(at);
        }
    }
}

impl Issuances {
    /// Has nobody in this process ask what comes of a charge until that is dropped.
    pub(crate) fn under_way<'a>(&'a self, hash: &'a StateHash) -> ChargeUnderWay<'a> {
        self.desk.charging.lock().push(hash.clone());
        ChargeUnderWay(self, hash)
    }

    /// Notes that a checked payment is taken once its answer is complete.
    pub(crate) async fn reserve(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
        settling: Settling,
        authorization: PaymentAuthorization,
    ) -> Result<IssuanceOutcome, Error> {
        let Some(offer) = record.offers().get(settling.offer) else { return Err(Error::unavailable()) };
        let PaymentAuthorization { payer, network, good_until, .. } = authorization;
        let confirmation = Confirmation::PaymentRequired(PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: None,
            payer,
            network,
        });
        let step = self.verified(&settling.state, record, confirmation, self.clock.now());
        let expires_at = good_until.map_or(step.expires_at, |end| step.expires_at.min(end));
        let is_held = self.scheme(&settling.family).is_some_and(|scheme| scheme.holds());
        let reserved = IssuanceRecord { expires_at, settling: Some(settling), ..step };
        if self.write(hash, &reserved, number).await?.is_none() {
            // Somebody else was first. The claim stays with this state, whose payment it may be.
            if is_held {
                self.let_go(&reserved).await;
            }
            return self.late(hash).await;
        }
        // Before anything that may fail: from here on somebody lets go of what nobody comes for.
        if self.is_held(&reserved) {
            self.watch(hash, false);
        }
        self.mark(hash, &reserved).await?;
        self.note(hash, &reserved, AuditOutcome::Reserved);
        Ok(IssuanceOutcome::Verified(None))
    }

    /// Takes a reserved payment before its answer where it would run out before that is surely complete.
    pub(crate) async fn charge_early(
        self: &Arc<Self>,
        state: UsedState,
        time_max: Duration,
    ) -> Result<EarlyCharge, Error> {
        if !state.record.is_reserved() || self.lasts(&state.record, time_max) {
            return Ok(EarlyCharge::Ready(Box::new(state)));
        }
        let issuances = self.clone();
        // Whoever asked may go away in the middle; money that is on its way is followed to its end all the same.
        let charging = tokio::spawn(going_on(async move {
            let hash = state.hash.clone();
            let charged = issuances.charge_now(state).await;
            if charged.is_err() {
                // The store failed, and the money may be taken by now.
                issuances.watch(&hash, false);
            }
            charged
        }));
        charging.await.map_err(Error::internal)?
    }

    async fn charge_now(&self, state: UsedState) -> Result<EarlyCharge, Error> {
        let UsedState { hash, number, record } = state;
        let requirement = Box::new(record.requirement.clone());
        let _under_way = self.under_way(&hash);
        self.list_indeterminate(&hash).await?;
        let step = record.settling_by(&self.run.name(), self.clock.now());
        let Some(number) = self.write(&hash, &step, number).await? else { return Ok(EarlyCharge::Lost) };
        let settlement = self.settle_reserved(&step).await;
        Ok(match self.conclude(&hash, &step, number, settlement).await? {
            IssuanceOutcome::Verified(_) | IssuanceOutcome::Late(IssuanceStatus::Verified) => {
                match self.last(&hash).await? {
                    Some((number, record)) => {
                        EarlyCharge::Ready(Box::new(UsedState { hash: hash.clone(), number, record }))
                    }
                    None => EarlyCharge::Lost,
                }
            }
            IssuanceOutcome::Refused(fault) => EarlyCharge::Unmet(Unmet::Ask(requirement, Some(fault))),
            IssuanceOutcome::Late(IssuanceStatus::Indeterminate) => EarlyCharge::Unmet(Unmet::Refused(indeterminate())),
            _ => EarlyCharge::Lost,
        })
    }

    /// Whether a reserved payment can still be taken when an answer that begins now takes as long as it may.
    fn lasts(&self, record: &IssuanceRecord, time_max: Duration) -> bool {
        let Some((scheme, _, payment)) = self.reserved(record) else { return false };
        let Ok(authorization) = scheme.authorization(&payment) else { return false };
        authorization.good_until.is_none_or(|end| after(self.clock.now(), time_max + SETTLE_TIME_MAX) <= end)
    }

    /// Takes a reserved payment for an answer that is complete.
    pub(crate) async fn charge(&self, state: &UsedState) -> ChargeOutcome {
        let under_way = self.under_way(&state.hash);
        let charged = self.charge_once(state).await;
        drop(under_way);
        charged.unwrap_or_else(|error| {
            tracing::error!(%error, "an answer could not be charged for");
            // The step may have been written, though the store did not say so: then somebody has to ask.
            self.watch(&state.hash, false);
            ChargeOutcome::Withheld(Box::new(
                FailureCause::CutOff.ending("The answer could not be charged for, and is withheld."),
            ))
        })
    }

    async fn charge_once(&self, state: &UsedState) -> Result<ChargeOutcome, Error> {
        let UsedState { hash, number, record } = state;
        // Written before anything is taken, with who answers: after a crash in between the payer is owed the answer.
        self.list_indeterminate(hash).await?;
        let step = record.step(IssuanceStatus::Indeterminate, self.clock.now(), INDETERMINATE_KEPT);
        let Some(number) = self.write(hash, &step, *number).await? else {
            let words = "Another node has taken over what this answer is paid with.";
            return Ok(ChargeOutcome::Withheld(Box::new(FailureCause::NodeLost.ending(words))));
        };
        let state = UsedState { hash: hash.clone(), number, record: step };
        Ok(match self.settle_reserved(&state.record).await {
            Settlement::Settled(receipt) => self.charged(state, receipt).await,
            Settlement::Refused(fault) => self.withheld(state, fault).await?,
            Settlement::Unknown(reason) => ChargeOutcome::Open(Box::new(self.left_open(state, &reason).await)),
        })
    }

    /// Settles, and tries again while nobody could be asked: within [`SETTLE_TIME_MAX`].
    async fn settle_reserved(&self, record: &IssuanceRecord) -> Settlement {
        let Some((scheme, offer, payment)) = self.reserved(record) else {
            return Settlement::Refused(fault(
                "unsupported_scheme",
                "This host takes no payments of this scheme.",
                false,
            ));
        };
        let until = Instant::now() + SETTLE_TIME_MAX;
        let mut tries = 1;
        loop {
            match timeout_at(until, scheme.settle(offer, &payment)).await {
                Ok(Settlement::Refused(fault)) if fault.is_passing && tries < SETTLE_TRIES_MAX => {
                    tries += 1;
                    sleep(SETTLE_RETRY_WAIT).await;
                }
                Ok(settlement) => return settlement,
                // It may have been made: it is asked about, and never taken for refused.
                Err(_) => return Settlement::Unknown("settling took too long".to_owned()),
            }
        }
    }

    async fn charged(&self, state: UsedState, mut receipt: Box<Receipt>) -> ChargeOutcome {
        let UsedState { hash, number, record } = state;
        let answered = record.answered();
        let consumed = self.paid(&answered, &mut receipt);
        let number = match self.write_charged(&hash, &consumed, number).await {
            Ok(number) => number,
            Err(error) => {
                tracing::error!(%error, "that an answer was paid for is not written yet");
                self.watch(&hash, true);
                number
            }
        };
        ChargeOutcome::Charged(Box::new(UsedState { hash, number, record: consumed }), receipt)
    }

    /// Writes that an answer was paid for, and tells the audit, unless somebody else has found out. Gives the number of
    /// the last step.
    async fn write_charged(&self, hash: &StateHash, consumed: &IssuanceRecord, number: u64) -> Result<u64, Error> {
        if let Some(number) = self.write_surely(hash, consumed, number).await? {
            self.note(hash, consumed, AuditOutcome::Paid);
            self.desk.metrics.took(&consumed.agent, &consumed.requirement, None);
            self.hold_payment(hash, consumed).await;
            return Ok(number);
        }
        let Some((last, found)) = self.last(hash).await? else { return Ok(number) };
        match found.status {
            // Written here, though the store did not say so at first.
            IssuanceStatus::Consumed if found.is_of_use(consumed) => {
                self.note(hash, consumed, AuditOutcome::Paid);
                self.desk.metrics.took(&consumed.agent, &consumed.requirement, None);
            }
            // Whoever took this run for dead has found out, and takes the answer for owed.
            IssuanceStatus::Verified if found.receipt.is_some() => {
                return Ok(self.write_surely(hash, consumed, last).await?.unwrap_or(last));
            }
            _ => {}
        }
        Ok(last)
    }

    async fn withheld(&self, state: UsedState, fault: PaymentError) -> Result<ChargeOutcome, Error> {
        let UsedState { hash, number, record } = state;
        let Some(settling) = record.settling.clone() else { return Err(Error::unavailable()) };
        self.conclude(&hash, &record, number, Settlement::Refused(fault.clone())).await?;
        // As it is offered now.
        let record = self.last(&hash).await?.map_or(record, |(_, last)| last);
        let part = self.refusal_again(&record, &settling.state, fault);
        Ok(ChargeOutcome::Withheld(Box::new(Ending::Refused(Box::new(part)))))
    }

    async fn left_open(&self, state: UsedState, reason: &str) -> UsedState {
        let UsedState { hash, number, record } = state;
        tracing::warn!(reason, agent = %record.agent, "nobody knows whether an answer was paid for");
        self.note(&hash, &record, AuditOutcome::Unknown);
        self.hold_payment(&hash, &record).await;
        let record = record.answered();
        let written = self.write_surely(&hash, &record, number).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "that an answer was given is not written yet");
            None
        });
        self.watch(&hash, true);
        UsedState { hash, number: written.unwrap_or(number), record }
    }

    /// Writes a step, and tries again while the store is away.
    pub(crate) async fn write_surely(
        &self,
        hash: &StateHash,
        step: &IssuanceRecord,
        number: u64,
    ) -> Result<Option<u64>, Error> {
        for _ in 0..TRIES_MAX {
            match self.write(hash, step, number).await {
                Err(Error::Unavailable { .. }) => {}
                written => return written,
            }
        }
        Err(Error::unavailable())
    }

    /// How a reserved payment is settled.
    fn reserved<'a>(
        &self,
        record: &'a IssuanceRecord,
    ) -> Option<(Arc<dyn PaymentScheme>, &'a AcceptedPayment, PaymentSubmission)> {
        let settling = record.settling.as_ref()?;
        let scheme = self.scheme(&settling.family)?;
        let payment = settling.payment(scheme.family());
        Some((scheme, record.offers().get(settling.offer)?, payment))
    }
}
