//! This module has refusals as content, and what is required instead. Mentionable PolicyPart v0.1. No status number of
//! any protocol is in it.

mod challenge;
mod fields;
mod helpers;
mod json;
mod kind;
mod kinds;
mod malformed;
mod offer;
mod part;
mod requirement;
mod resolution;
mod sanitize;
mod scheme;

pub use challenge::AuthChallenge;
pub use helpers::{canonical_stringify, sanitize_policy_data, validate_auth_challenge, validate_url_origin};
pub use kind::{AcceptedPayment, RefusalKind};
pub use kinds::{KINDS, RefusalKindEntry};
pub use malformed::PolicyPartError;
pub use offer::{OfferBuilder, OfferContext};
pub use part::{PolicyPart, RELAYED, STATE_KEY, Translation};
pub use requirement::{
    Charge, ConsentTerms, CreditTerms, DeductionCaps, DeductionPeriod, Demand, Objection, PaidFor, PaymentTerms,
    Requirement,
};
pub use resolution::{
    Confirmation, ConsentConfirmation, PaymentConfirmation, PaymentSubmission, PolicyResolution, Submission,
};
pub use sanitize::{sanitize, sanitize_map};
pub use scheme::{
    Checkout, CheckoutAmount, CheckoutFinding, CheckoutOptions, CheckoutOrder, GivenBack, PaymentAuthorization,
    PaymentError, PaymentNotice, PaymentScheme, PresentedTerms, Receipt, Settlement, transaction,
};
