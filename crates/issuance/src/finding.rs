//! What meets a requirement, and why none does: between looking for it and using it up.

use forecourt_core::policy::{Confirmation, PaymentError, RefusalKind, Requirement};
use forecourt_core::{Language, Part, PolicyPart, StateToken};

use crate::deduction::Deduction;
use crate::record::IssuanceRecord;
use crate::streams::StateHash;

/// When to come back while a settlement is being asked about, in seconds.
const INDETERMINATE_RETRY_SECONDS: u64 = 30;

/// The result of [`Issuances::meet`](crate::Issuances::meet).
pub enum Finding {
    /// The requirement is met, by this.
    Met(Box<RequirementUse>),
    /// The requirement is not met.
    Unmet(Unmet),
}

/// The reason why a requirement is not met.
pub enum Unmet {
    /// The caller has to be asked for this, with the reason why a payment that it brought was not taken.
    Ask(Box<Requirement>, Option<PaymentError>),
    /// The message is refused for now, and asking for something would not help: a payment is still being settled, or
    /// too many issuances are open.
    Refused(Box<PolicyPart>),
}

/// What meets one requirement of a message: an issuance, a grant or a deduction from credit.
pub struct RequirementUse(pub(crate) MetBy);

/// The kinds of [`RequirementUse`].
pub(crate) enum MetBy {
    /// Something that was done, good for one use.
    Issuance { hash: StateHash, number: u64, record: Box<IssuanceRecord> },
    /// A consent or a paid period that holds for a time, and is not used up.
    Granted,
    /// A deduction from credit.
    Credit(Box<Deduction>),
}

impl RequirementUse {
    /// What was said before it was asked for something, where it is good for one use.
    pub fn asked(&self) -> Option<&[Part]> {
        self.issuance().map(|record| record.asked.as_slice())
    }

    /// The language that its caller asked for then.
    pub fn language(&self) -> Option<&Language> {
        self.issuance().and_then(|record| record.language.as_ref())
    }

    fn issuance(&self) -> Option<&IssuanceRecord> {
        match &self.0 {
            MetBy::Issuance { record, .. } => Some(record),
            MetBy::Granted | MetBy::Credit(_) => None,
        }
    }

    /// What it meets, where that was asked for by itself.
    pub fn requirement(&self) -> Option<&Requirement> {
        match &self.0 {
            MetBy::Issuance { record, .. } => Some(&record.requirement),
            MetBy::Credit(deduction) => Some(&deduction.requirement),
            MetBy::Granted => None,
        }
    }

    pub(crate) fn is_payment(&self) -> bool {
        let resolution = self.issuance().and_then(|record| record.resolution.as_ref());
        resolution.is_some_and(|resolution| matches!(resolution.confirmation, Confirmation::PaymentRequired(_)))
    }
}

/// An issuance that an answer uses, at one of its steps.
pub(crate) struct UsedState {
    pub(crate) hash: StateHash,
    pub(crate) number: u64,
    pub(crate) record: IssuanceRecord,
}

impl UsedState {
    pub(crate) fn is_payment(&self) -> bool {
        let resolution = self.record.resolution.as_ref();
        resolution.is_some_and(|resolution| matches!(resolution.confirmation, Confirmation::PaymentRequired(_)))
    }
}

pub(crate) fn met(state: StateToken, number: u64, record: IssuanceRecord) -> Finding {
    let hash = StateHash::of(&state);
    Finding::Met(Box::new(RequirementUse(MetBy::Issuance { hash, number, record: Box::new(record) })))
}

/// Nobody knows whether it was paid: neither a failure nor a reason to offer it again. Sheet 9.5, step 5.
pub(crate) fn indeterminate() -> Box<PolicyPart> {
    let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(INDETERMINATE_RETRY_SECONDS) };
    let message = "Your payment is still at work. Nothing more is charged; try again in a moment.";
    let part = PolicyPart::new(kind, message);
    Box::new(PolicyPart { code: Some("mentionable:payment_indeterminate".to_owned()), ..part })
}
