//! One step of an issuance as it is written: all that is known by then, so that the last entry of its stream
//! tells everything.

use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::policy::{AcceptedPayment, Charge, Demand, PaymentSubmission, PolicyResolution, Requirement};
use forecourt_core::store::LedgerEntry;
use forecourt_core::{Account, Error, Handle, Language, Part, StateToken, TaskId, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::holder::Holder;
use crate::limits::{INDETERMINATE_KEPT, SETTLE_TIME_MAX, SETTLER_ALONE_MAX};
use crate::{Issuance, IssuanceStatus};
use forecourt_audit::RequestOrigin;

/// An issuance after a step.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct IssuanceRecord {
    pub(crate) status: IssuanceStatus,
    pub(crate) requirement: Requirement,
    /// The hash of the requirement's terms.
    pub(crate) terms: String,
    /// Whether it is a payment of the only rule of its name: it stays good when the operator changes the price.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_lasting: bool,
    /// The ways to pay as this state offers them; empty where its scheme adds nothing to those of the requirement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) offered: Vec<AcceptedPayment>,
    pub(crate) agent: Handle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thread: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<TaskId>,
    /// Whose bytes the further steps count towards.
    pub(crate) account: Account,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) asked: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<Language>,
    pub(crate) issued_at: Timestamp,
    /// When it is of no use any more, where it stands now.
    pub(crate) expires_at: Timestamp,
    /// When all entries so far are forgotten. Never earlier than for the step before: of a use that is forgotten,
    /// nothing may be left to use.
    pub(crate) kept_until: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resolution: Option<PolicyResolution>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Map<String, Value>>,
    /// What is being settled, or is to be once its answer is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settling: Option<Settling>,
    /// Who settles it before its answer, or did and does not know what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled_by: Option<Settler>,
    /// What used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) used: Option<IssuanceUse>,
    /// The checkout at which it is being paid. Nothing else may pay for it as long as that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checkout: Option<CheckoutStep>,
    /// How many checkouts were opened for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) checkouts: u32,
    /// Whether its payment is being given back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_returning: bool,
    /// Since when a provider is being asked to hold it. As long as that may take nobody else gives it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holding_since: Option<Timestamp>,
    /// Whether it was taken and given back: then the receipt is of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_refunded: bool,
    /// The last request that took a step.
    #[serde(default)]
    pub(crate) origin: RequestOrigin,
    /// Whether the run that used or settled it is gone, and its answer was not whole. Found out as it is read, never written.
    #[serde(skip)]
    pub(crate) is_cut_off: bool,
}

/// A payment on its way: kept so that somebody can ask what came of it. A bearer of money.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Settling {
    /// Names it in the ledger too, so that whoever reads it knows the state that it is told of.
    pub(crate) state: StateToken,
    pub(crate) family: String,
    pub(crate) payload: Map<String, Value>,
    /// Which of the offers it means.
    pub(crate) offer: usize,
    pub(crate) fingerprint: String,
    /// The family under whose name it is claimed, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) claimed_as: Option<String>,
}

/// A run of the host that settles a payment. For [`SETTLER_ALONE_MAX`] no other one asks what came of it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Settler {
    pub(crate) run: String,
    pub(crate) since: Timestamp,
}

/// A checkout, written down before it is opened, so that whoever goes on with it opens the same one.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CheckoutStep {
    /// Names it in the ledger too, so that whoever reads it knows the state that it is told of.
    pub(crate) state: StateToken,
    pub(crate) family: String,
    /// Which of the offers is paid.
    pub(crate) offer: usize,
    /// What is paid, in the smallest unit.
    pub(crate) amount: String,
    /// When it closes.
    pub(crate) until: Timestamp,
    /// Its name at its provider, and its address; `None` as long as it may not have been opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opened: Option<(String, String)>,
}

/// One use.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct IssuanceUse {
    /// The run of the host that answered.
    pub(crate) run: String,
    pub(crate) at: Timestamp,
    /// Whether the answer came to its end.
    #[serde(default)]
    pub(crate) is_answered: bool,
}

impl IssuanceRecord {
    /// Where it stands at `now`.
    ///
    /// What was used by a run that died before its answer was whole may be used again: it was paid once, and is
    /// answered once. A run is dead when it has lost its lease, as with its tasks.
    pub(crate) fn status(&self, now: Timestamp) -> IssuanceStatus {
        let is_over = self.expires_at <= now;
        match self.status {
            IssuanceStatus::Consumed if self.is_cut_off && !is_over => IssuanceStatus::Verified,
            // The answer was given: what is not known yet is the host's to find out, and nobody waits for it.
            IssuanceStatus::Indeterminate if self.used.as_ref().is_some_and(|used| used.is_answered) => {
                IssuanceStatus::Consumed
            }
            // Money that is on its way has no end in time: an indeterminate one is never told as expired.
            IssuanceStatus::Issued | IssuanceStatus::Verified if is_over => IssuanceStatus::Expired,
            status => status,
        }
    }

    /// Whether its provider may be at work on holding it at `now`, for the run that asked.
    pub(crate) fn is_being_held(&self, now: Timestamp) -> bool {
        self.holding_since.is_some_and(|since| now < after(since, SETTLE_TIME_MAX))
    }

    /// The ways to pay, as they were offered. None for a consent.
    pub(crate) fn offers(&self) -> &[AcceptedPayment] {
        match &self.requirement.demand {
            Demand::Payment(terms) if self.offered.is_empty() => &terms.accepted,
            Demand::Payment(_) => &self.offered,
            Demand::Consent(_) => &[],
        }
    }

    /// The run that uses it, as long as its answer is not whole.
    pub(crate) fn open_use(&self) -> Option<&str> {
        self.used.as_ref().filter(|used| !used.is_answered).map(|used| &*used.run)
    }

    /// The run that answers by it or settles it at `now`, and has not come to the end.
    pub(crate) fn at_work(&self, now: Timestamp) -> Option<&str> {
        let settler = self.settled_by.as_ref().filter(|settler| now < after(settler.since, SETTLER_ALONE_MAX));
        self.open_use().or(settler.map(|settler| &*settler.run))
    }

    /// Whether it is a payment whose rule takes it for complete answers alone.
    pub(crate) fn is_charged_after(&self) -> bool {
        matches!(&self.requirement.demand, Demand::Payment(terms) if terms.charge == Charge::After)
    }

    /// Whether it is a payment that is taken once its answer is complete, and was not yet.
    pub(crate) fn is_reserved(&self) -> bool {
        let is_open = matches!(self.status, IssuanceStatus::Verified | IssuanceStatus::Consumed);
        is_open && self.settling.is_some() && self.receipt.is_none()
    }

    /// The same, with its use at its end. Nobody needs what was said once it is answered.
    pub(crate) fn answered(&self) -> Self {
        let used = self.used.clone().map(|used| IssuanceUse { is_answered: true, ..used });
        Self { used, asked: Vec::new(), ..self.clone() }
    }

    /// Whether it is used by the same run and since the same moment as `other`.
    pub(crate) fn is_of_use(&self, other: &Self) -> bool {
        let name = |record: &Self| record.used.as_ref().map(|used| (used.run.clone(), used.at));
        name(self) == name(other)
    }

    /// The next step, which is remembered for so long at least.
    pub(crate) fn step(&self, status: IssuanceStatus, now: Timestamp, kept: Duration) -> Self {
        let kept_until = self.kept_until.max(after(now, kept));
        Self { status, kept_until, settled_by: None, is_cut_off: false, ..self.clone() }
    }

    /// The step with which `run` begins to settle it.
    pub(crate) fn settling_by(&self, run: &str, now: Timestamp) -> Self {
        let settled_by = Some(Settler { run: run.to_owned(), since: now });
        Self { settled_by, ..self.step(IssuanceStatus::Indeterminate, now, INDETERMINATE_KEPT) }
    }

    /// The entry that says so.
    pub(crate) fn entry(&self, now: Timestamp) -> Result<LedgerEntry, Error> {
        let body = serde_json::to_value(self).map_err(Error::internal)?;
        // What was paid for must not fail for want of the payer's room.
        let is_open = self.status == IssuanceStatus::Issued && self.checkout.is_none();
        let is_payers = matches!(self.requirement.demand, Demand::Consent(_)) || is_open;
        let account = if is_payers { self.account.clone() } else { Account::HOST };
        Ok(LedgerEntry::new(body, now).until(self.kept_until).on(account))
    }

    /// Whose it is.
    pub(crate) fn holder(&self) -> Holder {
        Holder { subject: self.subject.clone(), thread: self.thread.clone(), account: self.account.clone() }
    }

    pub(crate) fn into_issuance(mut self, now: Timestamp) -> Issuance {
        let (is_reserved, is_at_checkout) = (self.is_reserved(), self.checkout.is_some());
        if let Demand::Payment(terms) = &mut self.requirement.demand
            && !self.offered.is_empty()
        {
            terms.accepted = std::mem::take(&mut self.offered);
        }
        Issuance {
            status: self.status(now),
            requirement: self.requirement,
            agent: self.agent,
            holder: Holder { subject: self.subject, thread: self.thread, account: self.account },
            task: self.task,
            asked: self.asked,
            language: self.language,
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            resolution: self.resolution,
            receipt: self.receipt,
            is_reserved,
            is_at_checkout,
        }
    }
}

impl Settling {
    /// The family under whose name it is claimed.
    pub(crate) fn claimed_as(&self) -> &str {
        self.claimed_as.as_deref().unwrap_or(&self.family)
    }

    /// The payment, in the words of its scheme. `family` is the scheme's own name for itself.
    pub(crate) fn payment(&self, family: &'static str) -> PaymentSubmission {
        PaymentSubmission { family, payload: self.payload.clone() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What was said, where it is short enough to be kept: whole or not at all, since half a question is another one.
pub(crate) fn kept_parts(parts: &[Part]) -> Vec<Part> {
    let mut bytes = 0;
    for part in parts {
        bytes += part.weight();
        if bytes > crate::limits::ASKED_BYTES_MAX {
            return Vec::new();
        }
    }
    // Files are longer as JSON than they weigh.
    let len = serde_json::to_string(parts).map_or(usize::MAX, |text| text.len());
    if len <= crate::limits::ASKED_BYTES_MAX { parts.to_vec() } else { Vec::new() }
}
