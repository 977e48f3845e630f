//! This module has the trait by which a payment scheme expands an operator's settings into offers. PolicyPart 3.3.3.

use serde_json::{Map, Value};

use super::kind::AcceptedPayment;
use super::requirement::CreditTerms;
use crate::address::Handle;

/// Expands the table that an operator writes under one key of an offer, such as `x402`, into payment options.
pub trait OfferBuilder: Send + Sync + 'static {
    /// The key of the table in an offer that it reads.
    fn key(&self) -> &'static str;

    /// The ways to pay that `settings` describe; one at least. Fails with what is wrong in them, in a sentence that
    /// names the key.
    fn offers(&self, settings: &Map<String, Value>, context: &OfferContext<'_>)
    -> Result<Vec<AcceptedPayment>, String>;
}

/// The agent and price that an offer is made for.
#[derive(Debug, Clone, Copy)]
pub struct OfferContext<'a> {
    /// The agent that is paid for.
    pub agent: &'a Handle,
    /// The base of every published URL, without a trailing slash.
    pub base: &'a str,
    /// The price as a person reads it.
    pub price: &'a str,
    /// How credit is counted, where that is what is bought.
    pub credit: Option<&'a CreditTerms>,
}
