//! This module takes what people and wallets decide about consents and payments, for the host's own pages.

use forecourt_audit::RequestOrigin;
use forecourt_core::policy::{CheckoutOptions, PaymentSubmission};
use forecourt_core::{ConsentToken, Error, Handle, StateToken};
use forecourt_issuance::{
    CheckoutOutcome, HoldingFilter, Holdings, HoldingsOf, Issuance, IssuanceOutcome, ListedHoldings, NoticeOutcome,
};
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
        self.records.issuances.accept(state, None, origin)
    }

    /// The same with a browser without an account, which keeps the consent by `token`.
    pub fn accept_consent_with<'a>(
        &'a self,
        state: &'a StateToken,
        token: &'a ConsentToken,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<IssuanceOutcome, Error>> {
        self.records.issuances.accept(state, Some(token), origin)
    }

    /// Whether a browser keeps consents by this token.
    pub fn knows_browser<'a>(&'a self, token: &'a ConsentToken) -> BoxFuture<'a, Result<bool, Error>> {
        self.records.issuances.knows_browser(token)
    }

    /// What is left of the credit of whoever was asked, as a person reads it. `None` for what is not paid by credit.
    pub fn credit_of<'a>(&'a self, issuance: &'a Issuance) -> BoxFuture<'a, Result<Option<String>, Error>> {
        self.records.issuances.credit_of(issuance)
    }

    /// What a holder agreed to and paid for here.
    pub fn holdings<'a>(&'a self, of: HoldingsOf<'a>) -> BoxFuture<'a, Result<Holdings, Error>> {
        self.records.issuances.holdings(of)
    }

    /// Takes a consent back, with the request `origin`. `false` where the holder has no such consent that holds.
    pub fn withdraw<'a>(
        &'a self,
        of: HoldingsOf<'a>,
        agent: &'a Handle,
        name: &'a str,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        self.records.issuances.withdraw(of, agent, name, origin)
    }

    /// Takes all consents of a holder back; how many held.
    pub fn withdraw_all<'a>(
        &'a self,
        of: HoldingsOf<'a>,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<usize, Error>> {
        self.records.issuances.withdraw_all(of, origin)
    }

    /// Consents or payments of everybody, for operators, as [`forecourt_issuance::Issuances::listed_holdings`].
    pub fn listed_holdings<'a>(
        &'a self,
        filter: HoldingFilter<'a>,
        before: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<ListedHoldings, Error>> {
        self.records.issuances.listed_holdings(filter, before, limit)
    }

    /// An operator takes a consent back, by its number in that list. `None` when there is no such consent.
    pub fn withdraw_listed<'a>(
        &'a self,
        number: u64,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<Option<bool>, Error>> {
        self.records.issuances.withdraw_listed(number, origin)
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

    /// What may be paid for an issuance at a checkout; `None` where there is none.
    pub fn checkout_options(&self, issuance: &Issuance) -> Option<CheckoutOptions> {
        self.records.issuances.checkout_options(issuance)
    }

    /// Opens a checkout for `times` the price of a state, as [`forecourt_issuance::Issuances::check_out`].
    pub fn check_out<'a>(
        &'a self,
        state: &'a StateToken,
        times: u32,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<CheckoutOutcome, Error>> {
        self.records.issuances.check_out(state, times, origin)
    }

    /// Looks what came of the checkout of a state; whether that is known.
    pub fn look_again<'a>(&'a self, state: &'a StateToken) -> BoxFuture<'a, Result<bool, Error>> {
        self.records.issuances.look_again(state)
    }

    /// Takes what a provider of payments sends by itself, as [`forecourt_issuance::Issuances::take_notice`].
    pub fn take_notice<'a>(
        &'a self,
        family: &'a str,
        field: &'a (dyn Fn(&str) -> Option<String> + Sync),
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<NoticeOutcome, Error>> {
        self.records.issuances.take_notice(family, field, body)
    }
}
