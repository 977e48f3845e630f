//! Payments by their fingerprints: which state has each, so that one is used once, and one that comes again is known.

use forecourt_core::clock::after;
use forecourt_core::policy::{PaymentError, PaymentSubmission, Requirement};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, StateToken};
use serde::{Deserialize, Serialize};

use crate::IssuanceStatus;
use crate::claimant::Claimant;
use crate::digest::canonical_hash;
use crate::finding::{Finding, Unmet, indeterminate, met};
use crate::issue::fault;
use crate::limits::{PAYMENT_CLAIM_KEPT, TRIES_MAX};
use crate::record::{IssuanceRecord, Settling};
use crate::streams::{Issuances, StateHash};
use forecourt_audit::AuditOutcome;

/// The code of a payment that was handed in before.
const USED: &str = "payment_already_used";

/// The state that a payment is used for, as it is stored under the payment's fingerprint.
#[derive(Serialize, Deserialize)]
struct PaymentClaim {
    /// The state that it pays for; `None` once it was given back, since nothing was taken.
    state: Option<StateHash>,
    /// The hash of the whole payment. A fingerprint names it and proves nothing: networks show it to everybody.
    #[serde(default)]
    payment: Option<String>,
}

impl Issuances {
    /// What a payment is good for that was handed in before: the answer that it was taken or reserved for, or nothing
    /// any more. Whoever has the signed payment is its payer, or was given it by them. `None` for a new one, and for one
    /// that comes with another state than it paid for.
    pub(crate) async fn known_payment(
        &self,
        requirement: &Requirement,
        payment: &PaymentSubmission,
        claimant: &Claimant<'_>,
        submitted: Option<&StateHash>,
    ) -> Result<Option<Finding>, Error> {
        // What can't be read is told by whoever takes it.
        let scheme = self.scheme(payment.family);
        let named = scheme.and_then(|scheme| Some((scheme.claimed_as(), scheme.fingerprint(payment).ok()?)));
        let Some((family, fingerprint)) = named else { return Ok(None) };
        let claimed = self.claimed(&claim_stream(family, &fingerprint)).await?;
        let Some((_, PaymentClaim { state: Some(hash), payment: known })) = claimed else { return Ok(None) };
        let Some((number, record)) = self.last(&hash).await? else { return Ok(None) };
        let is_same = known.is_some_and(|known| canonical_hash(&payment.payload).is_ok_and(|hash| hash == known));
        let terms = canonical_hash(&requirement.terms())?;
        let is_for_this = record.agent == *claimant.card.handle() && claimant.is_met_by(&record, requirement, &terms);
        match self.status(&record) {
            IssuanceStatus::Verified if is_same && is_for_this && submitted.is_none_or(|named| *named == hash) => {
                let Some(state) = state_of(&record) else { return Ok(None) };
                // Its words are for whoever is known by more than the payment.
                let asked = if claimant.holds(&record) { record.asked.clone() } else { Vec::new() };
                Ok(Some(met(state, number, IssuanceRecord { asked, ..record })))
            }
            IssuanceStatus::Indeterminate if is_same => Ok(Some(Finding::Unmet(Unmet::Refused(indeterminate())))),
            IssuanceStatus::Consumed => {
                let refused = IssuanceRecord { origin: claimant.origin.clone(), ..record };
                self.note(&hash, &refused, AuditOutcome::PaymentRefused);
                let fault = used_before(Some(&refused));
                Ok(Some(Finding::Unmet(Unmet::Ask(Box::new(requirement.clone()), Some(fault)))))
            }
            _ => Ok(None),
        }
    }

    /// Why a payment can't pay for `state`: another one has it. Asked before its facilitator is.
    pub(crate) async fn used_elsewhere(
        &self,
        family: &str,
        fingerprint: &str,
        state: &StateHash,
    ) -> Result<Option<PaymentError>, Error> {
        let claimed = self.claimed(&claim_stream(family, fingerprint)).await?;
        let Some(holder) = claimed.and_then(|(_, claim)| claim.state).filter(|holder| holder != state) else {
            return Ok(None);
        };
        Ok(Some(used_before(self.last(&holder).await?.map(|(_, record)| record).as_ref())))
    }

    /// Takes a payment for a state: `false` when another state has it, or had it and took the money.
    pub(crate) async fn claim(&self, settling: &Settling, state: &StateHash) -> Result<bool, Error> {
        let stream = claim_stream(settling.claimed_as(), &settling.fingerprint);
        for _ in 0..TRIES_MAX {
            let (number, is_held) = match self.claimed(&stream).await? {
                None => (0, false),
                Some((number, PaymentClaim { state: None, .. })) => (number, false),
                // The same payment for the same state is a repetition, and goes on; for another state it is used.
                Some((number, PaymentClaim { state: Some(holder), .. })) if holder == *state => (number, true),
                Some(_) => return Ok(false),
            };
            let payment = Some(canonical_hash(&settling.payload)?);
            let claim = PaymentClaim { state: Some(state.clone()), payment };
            // A repetition is written, too: whoever is about to give the payment back sees that it is wanted again.
            if self.store.append_entry(&stream, self.claim_entry(&claim)?, Some(number)).await?.is_some() {
                return Ok(true);
            }
            let is_ours = |(_, claim): (u64, PaymentClaim)| claim.state.as_ref() == Some(state);
            if is_held && self.claimed(&stream).await?.is_some_and(is_ours) {
                return Ok(true);
            }
        }
        Err(Error::unavailable())
    }

    /// The number of the claim on a payment, to give it back by.
    pub(crate) async fn claim_number(&self, settling: &Settling) -> Result<u64, Error> {
        let claimed = self.claimed(&claim_stream(settling.claimed_as(), &settling.fingerprint)).await?;
        Ok(claimed.map_or(0, |(number, _)| number))
    }

    /// Gives a payment back of which nothing was taken, once that is written: a facilitator that refused it may say
    /// next that it took it, and until then that would be for this state. `claim` is the number of its claim from before
    /// that was written: whoever has claimed it since keeps it. A payment that is not given back after all pays for this
    /// state alone.
    pub(crate) async fn give_back(&self, settling: &Settling, claim: u64) {
        let stream = claim_stream(settling.claimed_as(), &settling.fingerprint);
        let given_back = async {
            let entry = self.claim_entry(&PaymentClaim { state: None, payment: None })?;
            self.store.append_entry(&stream, entry, Some(claim)).await.map_err(Error::from)
        };
        if let Err(error) = given_back.await {
            tracing::warn!(%error, "a payment that was refused was not given back");
        }
    }

    async fn claimed(&self, stream: &str) -> Result<Option<(u64, PaymentClaim)>, Error> {
        let newest = self.store.entries(stream, Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok(None) };
        Ok(Some((number, serde_json::from_value(entry.body).map_err(Error::internal)?)))
    }

    fn claim_entry(&self, claim: &PaymentClaim) -> Result<LedgerEntry, Error> {
        let now = self.clock.now();
        let body = serde_json::to_value(claim).map_err(Error::internal)?;
        Ok(LedgerEntry::new(body, now).until(after(now, PAYMENT_CLAIM_KEPT)))
    }
}

fn claim_stream(family: &str, fingerprint: &str) -> String {
    format!("payment:{family}:{fingerprint}")
}

/// The state of an issuance that was done.
fn state_of(record: &IssuanceRecord) -> Option<StateToken> {
    record.resolution.as_ref().map(|resolution| resolution.in_reply_to_state.clone())
}

/// Whether a payment was refused since it is that of another state.
pub(crate) fn is_used_before(fault: &PaymentError) -> bool {
    fault.code == USED
}

/// Why a payment pays for nothing any more, and since when, as far as that is known.
pub(crate) fn used_before(record: Option<&IssuanceRecord>) -> PaymentError {
    let message = match record.and_then(|record| record.used.as_ref()) {
        Some(used) if used.is_answered => {
            format!("This payment was used on {}. Sign a new one.", used.at.strftime("%Y-%m-%d at %H:%M UTC"))
        }
        Some(_) => "An answer is being made by this payment. Wait for it, or sign a new one.".to_owned(),
        None => "This payment was used before. Sign a new one.".to_owned(),
    };
    fault(USED, message, false)
}
