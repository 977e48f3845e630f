//! This module has the trait of payment schemes. Offers and payments are opaque to everything else. PolicyPart 3.3.3.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::kind::AcceptedPayment;
use super::resolution::{PaymentConfirmation, PaymentSubmission};
use crate::Timestamp;

/// A family of payment schemes that this host can check and settle, such as `x402`. Schemes without one are
/// passed on as they are, and can't be paid here.
pub trait PaymentScheme: Send + Sync + 'static {
    /// The part of its schemes' names before the first dot.
    fn family(&self) -> &'static str;

    /// What people call the networks on which `offers` may be paid, each once; empty where it has no such names.
    fn networks(&self, _offers: &[AcceptedPayment]) -> Vec<String> {
        Vec::new()
    }

    /// Whether what one message of a holder reserved may pay for another one of theirs, which comes first. `false` where
    /// every message pays for itself.
    fn is_shared(&self) -> bool {
        true
    }

    /// Which of `offers` this payment means: the index. The payer's own copy of the offer only selects.
    /// `Err` says in a code and a sentence why it means none.
    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError>;

    /// Names this very payment, so that it is used once: the same for every copy of it, whatever was
    /// added around what its payer signed.
    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError>;

    /// What the payment says of itself, which is known before it is settled.
    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError>;

    /// Checks the payment against the host's own offer, and takes nothing.
    fn verify<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>>;

    /// Takes the money. [`Settlement::Unknown`] when nobody can say whether it was taken: never an error.
    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement>;

    /// Looks again at a settlement that was [`Settlement::Unknown`]. Takes nothing that was not agreed to.
    fn reconcile<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission)
    -> BoxFuture<'a, Settlement>;
}

/// What a signed payment says of itself, in the words of its scheme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentAuthorization {
    /// The payer.
    pub payer: Option<String>,
    /// The network on which it is to be settled.
    pub network: Option<String>,
    /// The moment from which it can't be settled any more; `None` where it has no end.
    pub good_until: Option<Timestamp>,
}

/// The result of settling a payment.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// The money is there.
    Settled(Box<Receipt>),
    /// It was refused, and nothing was taken.
    Refused(PaymentError),
    /// Nobody knows yet. The reason is for the operator.
    Unknown(String),
}

/// A settled payment.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The confirmation that the agent gets.
    pub confirmation: PaymentConfirmation,
    /// What was paid, in the smallest unit of its asset, as a decimal string.
    pub amount: String,
    /// The receipt in the scheme's words, for the payer.
    pub details: Map<String, Value>,
}

/// Why a payment is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PaymentError {
    /// The scheme's own word for it, such as `insufficient_funds`.
    pub code: String,
    /// A sentence for the payer.
    pub message: String,
    /// Whether trying again later may work.
    pub is_passing: bool,
}
