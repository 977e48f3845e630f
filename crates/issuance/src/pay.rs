//! A payment on its way: selected, checked, claimed, written down as indeterminate, settled, and only then
//! verified. PolicyPart 5.3, 5.5, 5.6.

use std::sync::Arc;

use forecourt_core::clock::after;
use forecourt_core::policy::{
    AcceptedPayment, Confirmation, Demand, PaymentError, PaymentScheme, PaymentSubmission, Receipt, Settlement,
};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, StateToken};
use forecourt_telemetry::going_on;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::limits::{
    INDETERMINATE_KEPT, PAYMENT_BYTES_MAX, PAYMENT_CLAIM_KEPT, SETTLE_TIME_MAX, TRIES_MAX, VERIFY_TIME_MAX,
};
use crate::record::{IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// The state that a payment is used for, as it is stored under the payment's fingerprint.
#[derive(Serialize, Deserialize)]
struct PaymentClaim {
    /// The state that it pays for; `None` once it was given back, since nothing was taken.
    state: Option<StateHash>,
}

/// A payment that its scheme has verified against one of the offers. Nothing was taken yet.
struct CheckedPayment {
    scheme: Arc<dyn PaymentScheme>,
    offer: usize,
    fingerprint: String,
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
        let status = self.status(&record);
        let Demand::Payment(terms) = &record.requirement.demand else { return Ok(Some(IssuanceOutcome::Late(status))) };
        if status != IssuanceStatus::Issued {
            return Ok(Some(IssuanceOutcome::Late(status)));
        }
        // All that can be found out without taking money comes first: what fails here leaves the state as it was.
        let checked = match self.check(&terms.accepted, payment).await {
            Ok(checked) => checked,
            Err(fault) => return Ok(Some(self.refuse_payment(&hash, &record, fault))),
        };
        let settling = Settling {
            state: state.clone(),
            family: payment.family.to_owned(),
            payload: payment.payload.clone(),
            offer: checked.offer,
            fingerprint: checked.fingerprint.clone(),
        };
        if !self.claim(&settling, &hash).await? {
            let message = "This payment was used before. Sign a new one.";
            return Ok(Some(self.refuse_payment(&hash, &record, fault("payment_already_used", message, false))));
        }
        // Written before anything is taken: whatever happens from here on, somebody asks what came of it.
        self.list_indeterminate(&hash).await?;
        let step = record.step(IssuanceStatus::Indeterminate, self.clock.now(), INDETERMINATE_KEPT);
        let indeterminate = IssuanceRecord { settling: Some(settling), ..step };
        let Some(number) = self.write(&hash, &indeterminate, number).await? else {
            // Somebody else was first. The claim stays with this state, whose payment it may be.
            let status = self.last(&hash).await?.map_or(IssuanceStatus::Expired, |(_, record)| self.status(&record));
            return Ok(Some(IssuanceOutcome::Late(status)));
        };
        self.mark(&hash, &indeterminate).await?;
        let offer = &terms.accepted[checked.offer];
        let settled = tokio::time::timeout(SETTLE_TIME_MAX, checked.scheme.settle(offer, payment)).await;
        // A settlement that timed out may have been made: it is asked about, and never taken for refused.
        let settled = settled.unwrap_or_else(|_| Settlement::Unknown("settling took too long".to_owned()));
        self.conclude(&hash, &indeterminate, number, settled).await.map(Some)
    }

    /// Which offer a payment means, and whether it is good for it. Takes nothing and writes nothing.
    async fn check(
        &self,
        offers: &[AcceptedPayment],
        payment: &PaymentSubmission,
    ) -> Result<CheckedPayment, PaymentError> {
        let len = serde_json::to_string(&payment.payload).map_or(usize::MAX, |text| text.len());
        if len > PAYMENT_BYTES_MAX {
            let message = format!("A payment has at most {PAYMENT_BYTES_MAX} bytes.");
            return Err(fault("invalid_payload", message, false));
        }
        let Some(scheme) = self.scheme(payment.family) else {
            return Err(fault("unsupported_scheme", "This host takes no payments of this scheme.", false));
        };
        let offer = scheme.select(offers, payment)?;
        let Some(offered) = offers.get(offer) else {
            return Err(fault("unsupported_scheme", "This payment means none of the offers.", false));
        };
        let fingerprint = scheme.fingerprint(payment)?;
        match tokio::time::timeout(VERIFY_TIME_MAX, scheme.verify(offered, payment)).await {
            Ok(verified) => verified?,
            Err(_) => return Err(fault("verify_timed_out", "The payment could not be checked in time.", true)),
        }
        Ok(CheckedPayment { scheme, offer, fingerprint })
    }

    pub(crate) fn scheme(&self, family: &str) -> Option<Arc<dyn PaymentScheme>> {
        self.schemes.iter().find(|scheme| scheme.family() == family).cloned()
    }

    /// Takes a payment for a state: `false` when another state has it, or had it and took the money.
    async fn claim(&self, settling: &Settling, state: &StateHash) -> Result<bool, Error> {
        let stream = claim_stream(settling);
        for _ in 0..TRIES_MAX {
            let now = self.clock.now();
            let last = self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?.into_iter().next();
            let number = match last {
                None => 0,
                Some((number, entry)) => match serde_json::from_value(entry.body).map_err(Error::internal)? {
                    PaymentClaim { state: None } => number,
                    // The same payment for the same state is a repetition, and goes on; for another state it is used.
                    PaymentClaim { state: Some(holder) } => return Ok(holder == *state),
                },
            };
            let body = serde_json::to_value(PaymentClaim { state: Some(state.clone()) }).map_err(Error::internal)?;
            let entry = LedgerEntry::new(body, now).until(after(now, PAYMENT_CLAIM_KEPT));
            if self.store.append_entry(&stream, entry, Some(number)).await?.is_some() {
                return Ok(true);
            }
        }
        Err(Error::unavailable())
    }

    /// Gives a payment back of which nothing was taken.
    async fn release(&self, settling: &Settling) -> Result<(), Error> {
        let now = self.clock.now();
        let body = serde_json::to_value(PaymentClaim { state: None }).map_err(Error::internal)?;
        let entry = LedgerEntry::new(body, now).until(after(now, PAYMENT_CLAIM_KEPT));
        self.store.append_entry(&claim_stream(settling), entry, None).await?;
        Ok(())
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
        match settlement {
            Settlement::Settled(receipt) => self.settled(hash, record, number, receipt).await,
            Settlement::Refused(fault) => {
                // Given back first: after a crash in between, the next answer to the same question does both again.
                self.release(settling).await?;
                let now = self.clock.now();
                let step = record.step(IssuanceStatus::Issued, now, std::time::Duration::ZERO);
                self.write(hash, &IssuanceRecord { settling: None, ..step }, number).await?;
                Ok(self.refuse_payment(hash, record, fault))
            }
            Settlement::Unknown(reason) => {
                tracing::warn!(reason, agent = %record.agent, "nobody knows whether a payment was settled");
                self.note(hash, record, AuditOutcome::Unknown);
                self.watch(hash);
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
        let (Some(settling), Demand::Payment(terms)) = (&record.settling, &record.requirement.demand) else {
            return Err(Error::unavailable());
        };
        // The offer as it was made, whatever the scheme or its facilitator says that it was. PolicyPart 5.6.
        if let Some(offer) = terms.accepted.get(settling.offer) {
            receipt.confirmation.scheme.clone_from(&offer.scheme);
            receipt.confirmation.original_payload.clone_from(&offer.payload);
        }
        let confirmation = Confirmation::PaymentRequired(receipt.confirmation.clone());
        let step = self.verified(&settling.state, record, confirmation, self.clock.now());
        let verified = IssuanceRecord { receipt: Some(receipt.details.clone()), ..step };
        // Before the step is written: after a crash in between both are tried again, and `deposit` finds that it was
        // made.
        self.deposit(hash, &verified, &receipt).await?;
        if self.write(hash, &verified, number).await?.is_none() {
            // Whoever else asked what came of it has written so.
            let status = self.last(hash).await?.map_or(IssuanceStatus::Expired, |(_, record)| self.status(&record));
            return Ok(match status {
                IssuanceStatus::Verified => IssuanceOutcome::Verified(Some(receipt)),
                status => IssuanceOutcome::Late(status),
            });
        }
        futures::try_join!(self.mark(hash, &verified), self.grant_period(&verified))?;
        self.note(hash, &verified, AuditOutcome::Paid);
        Ok(IssuanceOutcome::Verified(Some(receipt)))
    }

    fn refuse_payment(&self, hash: &StateHash, record: &IssuanceRecord, fault: PaymentError) -> IssuanceOutcome {
        tracing::info!(code = fault.code, agent = %record.agent, "a payment was refused");
        self.note(hash, record, AuditOutcome::PaymentRefused);
        IssuanceOutcome::Refused(fault)
    }
}

fn claim_stream(settling: &Settling) -> String {
    format!("payment:{}:{}", settling.family, settling.fingerprint)
}

pub(crate) fn fault(code: &str, message: impl Into<String>, is_passing: bool) -> PaymentError {
    PaymentError { code: code.to_owned(), message: message.into(), is_passing }
}
