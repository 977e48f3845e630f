//! A payment is given back: what is held for it is let go of, or what was taken is refunded. Written down before, so
//! that it is asked for again until it is known to be done.

use std::time::Duration;

use forecourt_core::Error;
use forecourt_core::clock::after;
use forecourt_core::policy::{Demand, GivenBack, PaidFor, PaymentScheme};

use crate::issue::fault;
use crate::limits::{EXPIRED_KEPT, INDETERMINATE_KEPT, SETTLE_TIME_MAX, VERIFY_TIME_MAX};
use crate::record::{IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use crate::{IssuanceOutcome, IssuanceStatus};
use forecourt_audit::AuditOutcome;

/// What is told of a payment that its provider did not hold in time.
const HOLD_TIMED_OUT: &str =
    "The payment could not be reserved in time, and nothing was taken. Sign a new one for what is offered now.";

impl Issuances {
    /// Whether what pays for it has to be given back where it is not taken, or can be.
    pub(crate) fn gives_back(&self, record: &IssuanceRecord) -> bool {
        let Some(settling) = &record.settling else { return false };
        let (scheme, offer) = (self.scheme_now(&settling.family), record.offers().get(settling.offer));
        scheme.zip(offer).is_some_and(|(scheme, offer)| scheme.gives_back(offer))
    }

    /// Whether what a payment for one answer holds or took can be given back. Of a period and of credit what was bought
    /// is kept.
    pub(crate) fn is_returnable(&self, record: &IssuanceRecord) -> bool {
        let is_for_one = matches!(&record.requirement.demand, Demand::Payment(terms) if terms.covers == PaidFor::Turn);
        // Where nobody knows whether it was taken, that is found out first.
        let is_known = record.status != IssuanceStatus::Indeterminate;
        is_for_one && is_known && self.gives_back(record)
    }

    /// Whether such a payment waits at its provider for an answer that is still to come.
    pub(crate) fn is_held(&self, record: &IssuanceRecord) -> bool {
        let is_unused = match record.status {
            IssuanceStatus::Verified => true,
            IssuanceStatus::Consumed => record.open_use().is_some(),
            _ => false,
        };
        is_unused && self.is_returnable(record)
    }

    /// Gives back what is held for an answer that nobody came for; whether there is nothing left to do.
    pub(crate) async fn release_unused(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
    ) -> Result<bool, Error> {
        // The scheme may come back with the next reading of the deployment: until then nobody can let go of it.
        if record.settling.as_ref().is_some_and(|settling| self.scheme_now(&settling.family).is_none()) {
            return Ok(false);
        }
        if !self.is_held(record) {
            return Ok(true);
        }
        let is_in_use = record.status == IssuanceStatus::Consumed && !record.is_cut_off;
        if is_in_use || record.expires_at > self.clock.now() {
            return Ok(false);
        }
        self.give_back_payment(hash, record, number).await.map(|()| true)
    }

    /// Writes that a payment is given back, and gives it back. What is left open is asked for again.
    pub(crate) async fn give_back_payment(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
    ) -> Result<(), Error> {
        self.list_indeterminate(hash).await?;
        let step = record.step(IssuanceStatus::Indeterminate, self.clock.now(), INDETERMINATE_KEPT);
        let returning = IssuanceRecord { is_returning: true, used: None, checkout: None, ..step };
        // Somebody else has moved it on.
        let Some(number) = self.write_surely(hash, &returning, number).await? else { return Ok(()) };
        self.return_or_follow(hash, &returning, number).await
    }

    /// Asks for a payment to be given back; what is left open is told to its operator, and asked for again.
    async fn return_or_follow(&self, hash: &StateHash, returning: &IssuanceRecord, number: u64) -> Result<(), Error> {
        let is_done = self.return_payment(hash, returning, number).await;
        if !matches!(is_done, Ok(true)) {
            self.watch(hash, false);
            self.hold_payment(hash, returning).await;
        }
        is_done.map(drop)
    }

    /// Has a provider hold a payment that is taken later, where its scheme does. Written down before as one that is given
    /// back, so that whatever cuts this off, what was held is let go of. The step from which it is reserved.
    pub(crate) async fn hold(
        &self,
        hash: &StateHash,
        record: IssuanceRecord,
        number: u64,
        settling: &Settling,
        scheme: &dyn PaymentScheme,
    ) -> Result<Result<(u64, IssuanceRecord), IssuanceOutcome>, Error> {
        if !scheme.holds() {
            return Ok(Ok((number, record)));
        }
        self.list_indeterminate(hash).await?;
        let now = self.clock.now();
        let step = record.step(IssuanceStatus::Indeterminate, now, INDETERMINATE_KEPT);
        let (settling, holding_since) = (Some(settling.clone()), Some(now));
        let returning = IssuanceRecord { is_returning: true, holding_since, settling, ..step };
        let Some(number) = self.write(hash, &returning, number).await? else { return Ok(Err(self.late(hash).await?)) };
        let asked = returning.settling.as_ref();
        let offer = asked.and_then(|settling| returning.offers().get(settling.offer));
        let (Some(settling), Some(offer)) = (asked, offer) else { return Err(Error::unavailable()) };
        let payment = settling.payment(scheme.family());
        let held = tokio::time::timeout(VERIFY_TIME_MAX, scheme.hold(offer, &payment)).await;
        let refused = match held {
            Ok(Ok(())) => {
                let held = IssuanceRecord { is_returning: false, holding_since: None, settling: None, ..returning };
                return Ok(Ok((number, held)));
            }
            Ok(Err(refused)) => refused,
            // What is let go of is so for good: the same payment is of no use a minute later.
            Err(_) => fault("hold_timed_out", HOLD_TIMED_OUT, false),
        };
        if let Err(error) = self.return_or_follow(hash, &returning, number).await {
            tracing::warn!(%error, "what may be held is not let go of yet");
        }
        Ok(Err(self.refuse_payment(hash, &returning, refused)))
    }

    /// Lets go of what is held for an answer that was given and can't be charged for any more: nobody else would. Once,
    /// since its state is over; what that does not reach ends with the provider's own time.
    pub(crate) async fn let_go(&self, record: &IssuanceRecord) {
        let Some(settling) = &record.settling else { return };
        let scheme = self.scheme_now(&settling.family).filter(|_| self.gives_back(record));
        let (Some(scheme), Some(offer)) = (scheme, record.offers().get(settling.offer)) else { return };
        let payment = settling.payment(scheme.family());
        let given_back = tokio::time::timeout(SETTLE_TIME_MAX, scheme.give_back(offer, &payment)).await;
        if !matches!(given_back, Ok(GivenBack::NotTaken | GivenBack::Refunded(_))) {
            tracing::error!(agent = %record.agent, "what is held for an answer that was not paid for is not let go of");
        }
    }

    /// Asks for a payment to be given back; whether there is nothing left to ask.
    pub(crate) async fn return_payment(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        number: u64,
    ) -> Result<bool, Error> {
        let Some(settling) = &record.settling else { return Ok(true) };
        let (scheme, offer) = (self.scheme_now(&settling.family), record.offers().get(settling.offer));
        let (Some(scheme), Some(offer)) = (scheme, offer) else { return Ok(false) };
        let payment = settling.payment(scheme.family());
        let given_back = tokio::time::timeout(SETTLE_TIME_MAX, scheme.give_back(offer, &payment)).await;
        match given_back.unwrap_or_else(|_| GivenBack::Unknown("giving back took too long".to_owned())) {
            GivenBack::NotTaken => {
                let released = self.returned(hash, record, None);
                if self.write(hash, &released, number).await?.is_some() {
                    self.note(hash, &released, AuditOutcome::Released);
                }
                Ok(true)
            }
            GivenBack::Refunded(receipt) => {
                let refunded = self.returned(hash, record, Some(receipt));
                if self.write(hash, &refunded, number).await?.is_some() {
                    self.note(hash, &refunded, AuditOutcome::GivenBack);
                    self.hold_payment(hash, &refunded).await;
                }
                Ok(true)
            }
            GivenBack::Unknown(reason) => {
                tracing::warn!(reason, agent = %record.agent, "nobody knows whether a payment was given back");
                Ok(false)
            }
        }
    }

    /// The step of what was given back. What was never taken may be paid anew; what was taken and refunded is over, so
    /// that one state is paid once.
    fn returned(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        refund: Option<serde_json::Map<String, serde_json::Value>>,
    ) -> IssuanceRecord {
        let now = self.clock.now();
        let is_over = refund.is_some() || record.expires_at <= now;
        let (wait, expires_at) = match is_over {
            true => (Duration::ZERO, record.expires_at.min(now)),
            false => (self.limits.payment_wait, after(now, self.limits.payment_wait)),
        };
        IssuanceRecord {
            settling: None,
            used: None,
            resolution: None,
            is_returning: false,
            holding_since: None,
            is_refunded: refund.is_some(),
            receipt: refund,
            expires_at,
            offered: self.presented(&record.requirement, hash, expires_at),
            ..record.step(IssuanceStatus::Issued, now, wait + EXPIRED_KEPT)
        }
    }
}
