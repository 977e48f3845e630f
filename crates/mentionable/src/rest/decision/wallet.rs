//! What the page of a payment is given for the wallets of a browser: made from the stored offer, and from nothing that
//! a request says.

use forecourt_core::policy::{CreditTerms, Demand, PaymentTerms};
use forecourt_payments::limits::CREDIT_TIMES;
use forecourt_payments::x402::FAMILY;
use forecourt_payments::{Units, WalletRequest};

use super::OpenDecision;

/// The ways to pay of a page, in words and for wallets.
#[derive(Default)]
pub(super) struct WalletOffer {
    /// What people call the networks.
    pub(super) networks: Vec<String>,
    pub(super) requests: Vec<WalletRequest>,
    pub(super) payees: Vec<String>,
    pub(super) amounts: Vec<(u32, String)>,
}

impl OpenDecision<'_> {
    pub(super) fn wallet_offer(&self) -> WalletOffer {
        let Demand::Payment(terms) = &self.issuance.requirement.demand else { return WalletOffer::default() };
        let (networks, credit) = (self.rest.networks.titles(&terms.accepted), credit_of(terms));
        // Where nobody can take a payment, nobody is asked to sign one.
        if !self.rest.host.takes_payments(FAMILY) {
            return WalletOffer { networks, ..WalletOffer::default() };
        }
        let requests = self.rest.networks.wallet_requests(&terms.accepted, self.state.expose(), credit.is_some());
        let mut payees: Vec<String> = requests.iter().map(|request| request.pay_to.to_string()).collect();
        payees.sort();
        payees.dedup();
        let amounts = credit.map(|credit| amounts(credit, &requests));
        WalletOffer { networks, requests, payees, amounts: amounts.unwrap_or_default() }
    }
}

fn credit_of(terms: &PaymentTerms) -> Option<&CreditTerms> {
    terms.credit.as_deref().filter(|_| terms.covers == forecourt_core::policy::PaidFor::Credit)
}

/// What may be paid ahead: no more than its caps let be spent in a period. Empty where there is nothing to choose, and
/// where the ways to pay are of several tokens, of which one amount would not be the same.
fn amounts(credit: &CreditTerms, requests: &[WalletRequest]) -> Vec<(u32, String)> {
    let Some(request) = requests.first() else { return Vec::new() };
    let (Some(symbol), Some(decimals)) = (&request.symbol, request.decimals) else { return Vec::new() };
    let price = |of: &WalletRequest| (of.symbol.clone(), of.decimals, of.amount, of.may_pay_more);
    let is_counted_so = credit.decimals.is_none_or(|counted| counted == decimals);
    if !is_counted_so || requests.iter().any(|other| price(other) != price(request)) {
        return Vec::new();
    }
    let cap = credit.caps.as_ref().and_then(|caps| caps.period_max.parse::<Units>().ok());
    let amount = |times: u32| {
        let units = Units(request.amount.0.checked_mul(times.into())?);
        let is_within = times == 1 || cap.is_none_or(|cap| units <= cap);
        is_within.then(|| (times, format!("{} {symbol}", units.to_price(decimals))))
    };
    let amounts: Vec<_> = CREDIT_TIMES.into_iter().filter(|_| request.may_pay_more).filter_map(amount).collect();
    if amounts.len() > 1 { amounts } else { Vec::new() }
}
