//! A payment on its way: selected, checked, claimed, written down as indeterminate, settled, and only then
//! verified. PolicyPart 5.3, 5.5, 5.6.

use std::sync::Arc;

use forecourt_core::clock::after;
use forecourt_core::policy::{
    AcceptedPayment, Confirmation, Demand, PaymentAuthorization, PaymentError, PaymentScheme, PaymentSubmission,
    Receipt, Settlement,
};
use forecourt_core::{Error, StateToken};
use forecourt_telemetry::going_on;
use futures::future::BoxFuture;

use crate::checkout::{CheckoutEnd, PaidBy, at_checkout};
use crate::claims::used_before;
use crate::holding::HoldingEntry;
use crate::issue::fault;
use crate::limits::{EXPIRED_KEPT, PAYMENT_BYTES_MAX, SETTLE_TIME_MAX, TRIES_MAX, VERIFY_TIME_MAX};
use crate::record::{IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// A payment that means one of the offers, as its scheme reads it. Nothing was asked or taken yet.
struct SelectedPayment {
    scheme: Arc<dyn PaymentScheme>,
    offer: usize,
    fingerprint: String,
    authorization: PaymentAuthorization,
}

impl Issuances {
    /// Pays for a state, with the request `origin`: selects the offer, checks the payment against it, settles, each
    /// once. The offer is the stored one, never the payer's. `None` for what is none of ours.
    pub fn pay<'a>(
        self: &'a Arc<Self>,
        state: &'a StateToken,
        payment: &'a PaymentSubmission,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        Box::pin(async move {
            let (issuances, state, payment, origin) = (self.clone(), state.clone(), payment.clone(), origin.clone());
            // Whoever asked may go away in the middle; money that is on its way is followed to its end all the same.
            let paying =
                tokio::spawn(going_on(async move { issuances.pay_to_the_end(&state, &payment, origin).await }));
            Ok(paying.await.map_err(Error::internal)??.unwrap_or(IssuanceOutcome::UNKNOWN))
        })
    }

    async fn pay_to_the_end(
        &self,
        state: &StateToken,
        payment: &PaymentSubmission,
        origin: RequestOrigin,
    ) -> Result<Option<IssuanceOutcome>, Error> {
        let hash = StateHash::of(state);
        let Some((number, last)) = self.last(&hash).await? else { return Ok(None) };
        let record = IssuanceRecord { origin, ..last };
        self.pay_with(state, record, number, payment, PaidBy::Payer).await.map(Some)
    }

    /// Pays for a state as it stands at `number`.
    pub(crate) async fn pay_with(
        &self,
        state: &StateToken,
        record: IssuanceRecord,
        number: u64,
        payment: &PaymentSubmission,
        by: PaidBy,
    ) -> Result<IssuanceOutcome, Error> {
        let hash = StateHash::of(state);
        let status = self.status(&record);
        let Demand::Payment(terms) = &record.requirement.demand else {
            return Ok(IssuanceOutcome::Late(status));
        };
        let is_charged_after = terms.is_charged_after();
        if status != IssuanceStatus::Issued {
            return Ok(IssuanceOutcome::Late(status));
        }
        // All that can be found out without taking money comes first: what fails here leaves the state as it was.
        let selected = match self.check(record.offers(), payment, &hash).await? {
            Ok(selected) => selected,
            Err(fault) => return Ok(self.refuse_payment(&hash, &record, fault)),
        };
        let (number, record) = match self.alone(&hash, number, record, by).await? {
            Ok(alone) => alone,
            Err(outcome) => return Ok(outcome),
        };
        let settling = Settling {
            state: state.clone(),
            family: payment.family.to_owned(),
            payload: payment.payload.clone(),
            offer: selected.offer,
            fingerprint: selected.fingerprint.clone(),
            claimed_as: Some(selected.scheme.claimed_as().to_owned()).filter(|family| family != payment.family),
        };
        if !self.claim(&settling, &hash).await? {
            return Ok(self.refuse_payment(&hash, &record, used_before(None)));
        }
        let paid = match is_charged_after {
            true => self.hold_and_reserve(&hash, record, number, settling, selected).await,
            false => self.settle_now(&hash, &record, number, settling, selected).await,
        };
        if paid.is_err() {
            // The store failed, and money may be held or taken by now: somebody asks what came of it.
            self.watch(&hash, false);
        }
        paid
    }

    async fn hold_and_reserve(
        &self,
        hash: &StateHash,
        record: IssuanceRecord,
        number: u64,
        settling: Settling,
        selected: SelectedPayment,
    ) -> Result<IssuanceOutcome, Error> {
        match self.hold(hash, record, number, &settling, &*selected.scheme).await? {
            Ok((number, held)) => self.reserve(hash, &held, number, settling, selected.authorization).await,
            Err(outcome) => Ok(outcome),
        }
    }

    async fn settle_now(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
        settling: Settling,
        selected: SelectedPayment,
    ) -> Result<IssuanceOutcome, Error> {
        // Written before anything is taken: whatever happens from here on, somebody asks what came of it, and nobody
        // else as long as this run lives.
        let _under_way = self.under_way(hash);
        self.list_indeterminate(hash).await?;
        let payment = settling.payment(selected.scheme.family());
        let step = record.settling_by(&self.run.name(), self.clock.now());
        let indeterminate = IssuanceRecord { settling: Some(settling), ..step };
        let Some(number) = self.write(hash, &indeterminate, number).await? else {
            // Somebody else was first. The claim stays with this state, whose payment it may be.
            return self.late(hash).await;
        };
        self.mark(hash, &indeterminate).await?;
        let offer = indeterminate.offers().get(selected.offer).ok_or_else(Error::unavailable)?;
        let settled = tokio::time::timeout(SETTLE_TIME_MAX, selected.scheme.settle(offer, &payment)).await;
        // A settlement that timed out may have been made: it is asked about, and never taken for refused.
        let settled = settled.unwrap_or_else(|_| Settlement::Unknown("settling took too long".to_owned()));
        self.conclude(hash, &indeterminate, number, settled).await
    }

    /// The last step of a state as the one to go on from with a payment: one way to pay at a time, so that an open
    /// checkout is closed first, and whoever paid there was first.
    async fn alone(
        &self,
        hash: &StateHash,
        number: u64,
        record: IssuanceRecord,
        by: PaidBy,
    ) -> Result<Result<(u64, IssuanceRecord), IssuanceOutcome>, Error> {
        if record.checkout.is_none() || by == PaidBy::Checkout {
            return Ok(Ok((number, IssuanceRecord { checkout: None, ..record })));
        }
        Ok(match self.end_checkout(hash).await? {
            CheckoutEnd::Ended(number, ended) => Ok((number, IssuanceRecord { origin: record.origin, ..*ended })),
            CheckoutEnd::Late(status) => Err(IssuanceOutcome::Late(status)),
            CheckoutEnd::Open => Err(self.refuse_payment(hash, &record, at_checkout())),
        })
    }

    /// Which offer a payment means, and whether it is good for it and was not used for another state than this. Takes
    /// nothing and writes nothing.
    async fn check(
        &self,
        offers: &[AcceptedPayment],
        payment: &PaymentSubmission,
        hash: &StateHash,
    ) -> Result<Result<SelectedPayment, PaymentError>, Error> {
        let selected = match self.select(offers, payment) {
            Ok(selected) => selected,
            Err(fault) => return Ok(Err(fault)),
        };
        // What was paid for one state answers no other, whoever hands it in.
        if selected.authorization.reference.as_deref().is_some_and(|reference| reference != hash.as_str()) {
            return Ok(Err(fault("foreign_payment", "This payment was made for something else.", false)));
        }
        // Before its facilitator is asked, which can only say that it was used.
        if let Some(fault) = self.used_elsewhere(selected.scheme.claimed_as(), &selected.fingerprint, hash).await? {
            return Ok(Err(fault));
        }
        let offered = &offers[selected.offer];
        Ok(match tokio::time::timeout(VERIFY_TIME_MAX, selected.scheme.verify(offered, payment)).await {
            Ok(verified) => verified.map(|()| selected),
            Err(_) => Err(fault("verify_timed_out", "The payment could not be checked in time.", true)),
        })
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<SelectedPayment, PaymentError> {
        let len = serde_json::to_string(&payment.payload).map_or(usize::MAX, |text| text.len());
        if len > PAYMENT_BYTES_MAX {
            let message = format!("A payment has at most {PAYMENT_BYTES_MAX} bytes.");
            return Err(fault("invalid_payload", message, false));
        }
        let Some(scheme) = self.scheme(payment.family) else {
            return Err(fault("unsupported_scheme", "This host takes no payments of this scheme.", false));
        };
        let offer = scheme.select(offers, payment)?;
        if offer >= offers.len() {
            return Err(fault("unsupported_scheme", "This payment means none of the offers.", false));
        }
        let (fingerprint, authorization) = (scheme.fingerprint(payment)?, scheme.authorization(payment)?);
        Ok(SelectedPayment { scheme, offer, fingerprint, authorization })
    }

    /// Where an issuance stands that somebody else has moved on.
    pub(crate) async fn late(&self, hash: &StateHash) -> Result<IssuanceOutcome, Error> {
        let status = self.last(hash).await?.map_or(IssuanceStatus::Expired, |(_, record)| self.status(&record));
        Ok(IssuanceOutcome::Late(status))
    }

    /// What people call the networks on which something may be paid; none for what was paid on none.
    pub(crate) fn networks_of(&self, entry: &HoldingEntry) -> Vec<String> {
        let Demand::Payment(terms) = &entry.requirement.demand else { return Vec::new() };
        if entry.receipt.as_ref().is_some_and(|receipt| !receipt.contains_key("network")) {
            return Vec::new();
        }
        self.schemes.iter().flat_map(|scheme| scheme.networks(&terms.accepted)).collect()
    }

    pub(crate) fn scheme(&self, family: &str) -> Option<Arc<dyn PaymentScheme>> {
        self.schemes.iter().find(|scheme| scheme.family() == family).cloned()
    }

    /// Moves an indeterminate issuance on by what came of settling it. Only a definite answer does.
    pub(crate) async fn conclude(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
        settlement: Settlement,
    ) -> Result<IssuanceOutcome, Error> {
        let Some(settling) = &record.settling else { return Err(Error::unavailable()) };
        let is_answered = record.used.as_ref().is_some_and(|used| used.is_answered);
        match settlement {
            Settlement::Settled(receipt) => self.settled(hash, record, number, receipt).await,
            Settlement::Refused(fault) if is_answered => {
                let step = record.step(IssuanceStatus::Consumed, self.clock.now(), std::time::Duration::ZERO);
                let unpaid = IssuanceRecord { settling: None, ..step };
                if self.write(hash, &unpaid, number).await?.is_some() {
                    tracing::error!(code = fault.code, agent = %record.agent, "an answer was not paid for after all");
                    self.note(hash, &unpaid, AuditOutcome::Unpaid);
                    self.let_go(record).await;
                }
                Ok(IssuanceOutcome::Late(IssuanceStatus::Consumed))
            }
            // What its provider holds is let go of before the state is open again.
            Settlement::Refused(fault) if self.gives_back(record) => {
                self.give_back_payment(hash, record, number).await?;
                self.refuse_unless_paid(hash, record, fault).await
            }
            Settlement::Refused(fault) => {
                let now = self.clock.now();
                let step = record.step(IssuanceStatus::Issued, now, self.limits.payment_wait + EXPIRED_KEPT);
                // What was reserved had the payment's own end: another one may be handed in for as long as at first.
                let was_reserved = record.resolution.is_some();
                let expires_at = if was_reserved { after(now, self.limits.payment_wait) } else { record.expires_at };
                let offered = self.presented(&record.requirement, hash, expires_at);
                let issued =
                    IssuanceRecord { settling: None, used: None, resolution: None, expires_at, offered, ..step };
                let claim = self.claim_number(settling).await?;
                if self.write(hash, &issued, number).await?.is_none() {
                    return self.refuse_unless_paid(hash, record, fault).await;
                }
                self.give_back(settling, claim).await;
                Ok(self.refuse_payment(hash, record, fault))
            }
            Settlement::Unknown(reason) => {
                tracing::warn!(reason, agent = %record.agent, "nobody knows whether a payment was settled");
                self.note(hash, record, AuditOutcome::Unknown);
                self.watch(hash, is_answered);
                self.hold_payment(hash, record).await;
                Ok(IssuanceOutcome::Late(IssuanceStatus::Indeterminate))
            }
        }
    }

    async fn settled(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
        mut receipt: Box<Receipt>,
    ) -> Result<IssuanceOutcome, Error> {
        let paid = self.paid(record, &mut receipt);
        // Before the step is written: after a crash in between both are tried again, and `deposit` finds that it was
        // made.
        self.deposit(hash, &paid, &receipt).await?;
        let is_written = self.write(hash, &paid, number).await?.is_some();
        if !is_written && !self.write_over_reopened(hash, record, &paid).await? {
            // Whoever else asked what came of it has written so.
            return Ok(match self.late(hash).await? {
                IssuanceOutcome::Late(IssuanceStatus::Verified) => IssuanceOutcome::Verified(Some(receipt)),
                late => late,
            });
        }
        if self.is_held(&paid) {
            self.watch(hash, false);
        }
        if paid.status == IssuanceStatus::Verified {
            futures::try_join!(self.mark(hash, &paid), self.grant_period(&paid))?;
        }
        self.note(hash, &paid, AuditOutcome::Paid);
        self.desk.metrics.took(&paid.agent, &paid.requirement, Some(&receipt.amount));
        self.hold_payment(hash, &paid).await;
        Ok(IssuanceOutcome::Verified(Some(receipt)))
    }

    /// Writes that a payment was taken over its state, where somebody else took it for refused and has opened that
    /// again: the money is there, whoever was told otherwise. Whether that was so.
    async fn write_over_reopened(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        paid: &IssuanceRecord,
    ) -> Result<bool, Error> {
        let Some(settling) = &record.settling else { return Ok(false) };
        for _ in 0..TRIES_MAX {
            let Some((number, last)) = self.last(hash).await? else { return Ok(false) };
            // With a checkout open it may be paid a second time, and what was refunded is over.
            if last.status != IssuanceStatus::Issued || last.checkout.is_some() || last.is_refunded {
                return Ok(false);
            }
            // It was given back, and must pay for nothing else.
            if !self.claim(settling, hash).await? {
                tracing::error!(agent = %record.agent, "a payment that was taken pays for another state by now");
                return Ok(false);
            }
            let paid = IssuanceRecord { kept_until: paid.kept_until.max(last.kept_until), ..paid.clone() };
            if self.write(hash, &paid, number).await?.is_some() {
                return Ok(true);
            }
        }
        Err(Error::unavailable())
    }

    /// The refusal of a payment, unless somebody else has found out meanwhile that it was taken: then what is written
    /// counts, and nobody is told to pay again.
    async fn refuse_unless_paid(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        fault: PaymentError,
    ) -> Result<IssuanceOutcome, Error> {
        Ok(match self.last(hash).await? {
            Some((_, last)) if last.receipt.is_some() && !last.is_refunded => IssuanceOutcome::Late(self.status(&last)),
            _ => self.refuse_payment(hash, record, fault),
        })
    }

    /// The step of what is settled: consumed where its answer was given, else good for one.
    pub(crate) fn paid(&self, record: &IssuanceRecord, receipt: &mut Receipt) -> IssuanceRecord {
        let now = self.clock.now();
        let details = Some(receipt.details.clone());
        let Some(settling) = &record.settling else {
            return IssuanceRecord { receipt: details, ..record.clone() };
        };
        // The offer as it was made, whatever the scheme or its facilitator says that it was. PolicyPart 5.6.
        if let Some(offer) = record.offers().get(settling.offer) {
            receipt.confirmation.scheme.clone_from(&offer.scheme);
            receipt.confirmation.original_payload.clone_from(&offer.payload);
        }
        let confirmation = Confirmation::PaymentRequired(receipt.confirmation.clone());
        // By it the money can be given back, where its scheme does.
        let kept = self.gives_back(record).then(|| settling.clone());
        let step = self.verified(&settling.state, record, confirmation, now);
        let verified = IssuanceRecord { receipt: details, settling: kept, ..step };
        match record.used.as_ref().is_some_and(|used| used.is_answered) {
            true => IssuanceRecord { status: IssuanceStatus::Consumed, ..verified },
            false => IssuanceRecord { used: None, ..verified },
        }
    }

    pub(crate) fn refuse_payment(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        fault: PaymentError,
    ) -> IssuanceOutcome {
        tracing::info!(code = fault.code, agent = %record.agent, "a payment was refused");
        self.note(hash, record, AuditOutcome::PaymentRefused);
        IssuanceOutcome::Refused(fault)
    }
}
