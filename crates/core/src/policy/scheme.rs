//! This module has the trait of payment schemes. Offers and payments are opaque to everything else. PolicyPart 3.3.3.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::kind::AcceptedPayment;
use super::resolution::{PaymentConfirmation, PaymentSubmission};
use crate::{Language, Timestamp};

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

    /// The family under whose name its payments are claimed. Another one's where what it brings could be handed in as a
    /// payment of that family as well.
    fn claimed_as(&self) -> &'static str {
        self.family()
    }

    /// An offer as one payer is shown it, made of what a rule says: bound to the state that it is made for, and signed
    /// where the scheme signs its offers. It is kept as it was made.
    fn present(&self, offer: &AcceptedPayment, _terms: &PresentedTerms<'_>) -> AcceptedPayment {
        offer.clone()
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

    /// Whether a payment that is taken once its answer is complete is held at a provider until then, by [`Self::hold`].
    fn holds(&self) -> bool {
        false
    }

    /// Has a provider hold what is taken later; asked again, nothing more. What it may have held all the same is given
    /// back by [`Self::give_back`].
    ///
    /// # Errors
    /// Why it is not held, or that nobody knows.
    fn hold<'a>(
        &'a self,
        _offer: &'a AcceptedPayment,
        _payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Takes the money. [`Settlement::Unknown`] when nobody can say whether it was taken: never an error.
    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement>;

    /// Looks again at a settlement that was [`Settlement::Unknown`]. Takes nothing that was not agreed to.
    fn reconcile<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission)
    -> BoxFuture<'a, Settlement>;

    /// Whether a payment for `offer` that is not taken has to be given back, since money is held for it, and one that was
    /// taken can be: then [`Self::give_back`] is asked to.
    fn gives_back(&self, _offer: &AcceptedPayment) -> bool {
        false
    }

    /// Gives back all that a payment holds or took, and no more than that; asked again, nothing more.
    fn give_back<'a>(
        &'a self,
        _offer: &'a AcceptedPayment,
        _payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, GivenBack> {
        Box::pin(std::future::ready(GivenBack::NotTaken))
    }

    /// What may be paid at a checkout for one of `offers`; `None` where none of them has one.
    fn checkout_options(&self, _offers: &[AcceptedPayment]) -> Option<CheckoutOptions> {
        None
    }

    /// Opens a checkout, or gives the one that this very order opened before.
    ///
    /// # Errors
    /// Why there is none. One that [is passing](PaymentError::is_passing) may have been opened after all.
    fn open_checkout<'a>(&'a self, _order: &'a CheckoutOrder) -> BoxFuture<'a, Result<Checkout, PaymentError>> {
        let message = "This payment has no checkout.".to_owned();
        let error = PaymentError { code: "unsupported_scheme".to_owned(), message, is_passing: false };
        Box::pin(std::future::ready(Err(error)))
    }

    /// What came of a checkout, as its provider says.
    fn look_up_checkout<'a>(&'a self, _checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(std::future::ready(CheckoutFinding::Ended))
    }

    /// Closes a checkout, so that nothing can be paid at it any more. What was paid before stays paid.
    fn close_checkout<'a>(&'a self, _checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(std::future::ready(CheckoutFinding::Ended))
    }

    /// Reads what a provider sends by itself. `field` gives a field of its request by its name, `body` is its bytes as
    /// they came. It only says where to look.
    ///
    /// # Errors
    /// When it is not from the provider.
    fn read_notice(
        &self,
        _field: &dyn Fn(&str) -> Option<String>,
        _body: &[u8],
    ) -> Result<PaymentNotice, PaymentError> {
        let message = "Nothing is taken from this scheme's providers.".to_owned();
        Err(PaymentError { code: "unsupported_scheme".to_owned(), message, is_passing: false })
    }
}

/// What an offer is made for.
#[derive(Debug, Clone, Copy)]
pub struct PresentedTerms<'a> {
    /// Names the state, and opens nothing.
    pub reference: &'a str,
    /// When the offer is made.
    pub at: Timestamp,
    /// The moment from which it can't be paid any more.
    pub until: Timestamp,
}

/// What became of a payment that was to be given back.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenBack {
    /// Nothing was taken, and nothing is held any more.
    NotTaken,
    /// All that was taken is on its way back. The receipt of that, in the scheme's words.
    Refunded(Map<String, Value>),
    /// Nobody knows yet. The reason is for the operator.
    Unknown(String),
}

/// What may be paid at a checkout, and where that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutOptions {
    /// The origin of the pages to which payers are sent, and no other.
    pub origin: String,
    /// The amounts, the smallest first; one at least.
    pub amounts: Vec<CheckoutAmount>,
}

/// An amount that may be paid at a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutAmount {
    /// Which of the offers it belongs to.
    pub offer: usize,
    /// The amount in the smallest unit, as a decimal string.
    pub amount: String,
    /// How many times the price it is.
    pub times: u32,
    /// The same as a person reads it, such as `0.50 EUR`.
    pub words: String,
}

/// What a checkout is opened for. Made by the host alone; the same order opens the same checkout.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckoutOrder {
    /// The offer that is paid.
    pub offer: AcceptedPayment,
    /// What is paid, in the smallest unit.
    pub amount: String,
    /// Names what it pays for, and opens nothing.
    pub reference: String,
    /// Which checkout for the same it is, from 1.
    pub attempt: u32,
    /// What is paid for, as the payer reads it.
    pub title: String,
    /// Where its payer goes once it is paid.
    pub return_to: String,
    /// Where its payer goes without having paid.
    pub cancel_to: String,
    /// The payer's language.
    pub language: Option<Language>,
    /// When it closes.
    pub until: Timestamp,
}

/// A checkout at its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The provider's name for it.
    pub id: String,
    /// What it pays for, as its order says.
    pub reference: String,
    /// Where its payer is sent.
    pub url: String,
}

/// What came of a checkout.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckoutFinding {
    /// It can still be paid.
    Open,
    /// It was paid by this. Neither checked nor taken yet.
    Paid(Map<String, Value>),
    /// It was not paid, and can't be any more.
    Ended,
    /// Nobody knows. The reason is for the operator.
    Unknown(String),
}

/// What a provider tells by itself: that something happened, which is then looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentNotice {
    /// The provider's name for the notice.
    pub id: String,
    /// What it is about, by the reference of its order; `None` for one that means nothing here.
    pub reference: Option<String>,
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
    /// The reference of the order that it was made for: it pays for nothing else. `None` where a scheme binds it to
    /// none.
    pub reference: Option<String>,
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

/// The name of the transaction in a receipt, by the words of the schemes that are known here; `None` where it names
/// none.
pub fn transaction(receipt: &Map<String, Value>) -> Option<&str> {
    let named = ["transaction", "payment_intent"].into_iter().filter_map(|key| receipt.get(key)?.as_str());
    named.into_iter().find(|name| !name.is_empty())
}
