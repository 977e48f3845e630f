//! This module takes what people and wallets decide about consents and payments, for the host's own pages.

use forecourt_audit::RequestOrigin;
use forecourt_core::policy::PaymentSubmission;
use forecourt_core::{Error, StateToken};
use forecourt_issuance::{Issuance, IssuanceOutcome};
use futures::future::BoxFuture;

use crate::host::Host;

impl Host {
    /// Whether payments of a family of schemes, such as `x402`, can be taken here.
    pub fn takes_payments(&self, family: &str) -> bool {
        self.records.issuances.takes_payments(family)
    }

    /// What a state was issued for. `None` when it is none of ours, or forgotten.
    pub fn issuance<'a>(&'a self, state: &'a StateToken) -> BoxFuture<'a, Result<Option<Issuance>, Error>> {
        self.records.issuances.issuance(state)
    }

    /// Whether a consent is for a person who can sign in on this host's pages: then nobody else decides about it.
    pub fn is_for_a_person(&self, issuance: &Issuance) -> bool {
        self.records.issuances.person_asked(issuance.holder.subject.as_deref()).is_some()
    }

    /// A person agrees on the page of a consent, with the request `origin`, which says who decides. Agreeing again
    /// changes nothing. [`forecourt_issuance::IssuanceStatus::Expired`] for a state that this host does not know, and
    /// [`IssuanceOutcome::NotTheirs`] where another person was asked.
    pub fn accept_consent<'a>(
        &'a self,
        state: &'a StateToken,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        self.records.issuances.accept(state, origin)
    }

    /// A person says no on the page of a consent or a payment; as [`Self::accept_consent`].
    pub fn decline<'a>(
        &'a self,
        state: &'a StateToken,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        self.records.issuances.decline(state, origin)
    }

    /// Pays for a state: selects the offer, checks the payment against it, settles, each once. The offer is the
    /// stored one, never the payer's. [`forecourt_issuance::IssuanceStatus::Indeterminate`] when nobody knows whether it was settled:
    /// then the host goes on asking, and nothing is charged a second time.
    pub fn pay<'a>(
        &'a self,
        state: &'a StateToken,
        payment: &'a PaymentSubmission,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        self.records.issuances.pay(state, payment, origin)
    }
}
