//! This module has refusals as content, and the gate that decides them. Mentionable PolicyPart v0.1. No status number
//! of any protocol is in it.

mod admit;
mod challenge;
mod fields;
mod helpers;
mod json;
mod kind;
mod kinds;
mod offer;
mod part;
mod requirement;
mod resolution;
mod sanitize;
mod scheme;

pub use admit::{Admitted, GateNotes, GateVerdict, Policy, Rule, RuleVerdict};
pub use challenge::AuthChallenge;
pub use helpers::{canonical_stringify, sanitize_policy_data, validate_auth_challenge, validate_url_origin};
pub use kind::{AcceptedPayment, RefusalKind};
pub use kinds::{KINDS, RefusalKindEntry};
pub use offer::{OfferBuilder, OfferContext};
pub use part::{PolicyPart, PolicyPartError, RELAYED, STATE_KEY, Translation};
pub use requirement::{
    ConsentTerms, CreditTerms, DeductionCaps, DeductionPeriod, Demand, Objection, PaidFor, PaymentTerms, Requirement,
};
pub use resolution::{
    Confirmation, ConsentConfirmation, PaymentConfirmation, PaymentSubmission, PolicyResolution, Submission,
};
pub use sanitize::{sanitize, sanitize_map};
pub use scheme::{PaymentError, PaymentScheme, Receipt, Settlement};

use crate::part::Part;

/// The refusal among `parts`, if there is one: whatever follows it is to be dropped.
/// PolicyPart 3.5, 5.2.
pub fn find_policy_part(parts: &[Part]) -> Option<&PolicyPart> {
    parts.iter().find_map(|part| match part {
        Part::Policy(policy) => Some(policy),
        _ => None,
    })
}
