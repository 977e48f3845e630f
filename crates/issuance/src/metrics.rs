//! What payments come to, counted. Labels come from settings: agents, and the currencies of their prices.

use std::sync::atomic::AtomicU64;

use forecourt_core::Handle;
use forecourt_core::policy::{Demand, PaidFor, PaymentTerms, Requirement};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::deduction::{Amount, Deduction};

/// The currency of a price that names none.
const NO_CURRENCY: &str = "none";

/// Counters of what was paid, and of credit that was given back.
#[derive(Debug, Default)]
pub(crate) struct PaymentMetrics {
    payments: Family<PaymentLabels, Counter>,
    paid: Family<PaymentLabels, Counter<f64, AtomicU64>>,
    returned: Family<PaymentLabels, Counter>,
    given_back: Family<PaymentLabels, Counter<f64, AtomicU64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PaymentLabels {
    agent: String,
    currency: String,
}

impl PaymentMetrics {
    /// Names all of it in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Payments that were taken, by agent and currency";
        registry.register("payments", help, self.payments.clone());
        let help = "What payments came to, by agent, in units of the currency";
        registry.register("payments_paid", help, self.paid.clone());
        let help = "Deductions from credit that were given back, since their answers never came, by agent and currency";
        registry.register("payments_returned", help, self.returned.clone());
        let help = "What deductions that were given back came to, by agent, in units of the currency";
        registry.register("payments_given_back", help, self.given_back.clone());
    }

    /// A payment was taken: the price, unless `amount` in whole units bought more of it as credit.
    pub(crate) fn took(&self, agent: &Handle, requirement: &Requirement, amount: Option<&str>) {
        let Some((price, labels)) = priced(agent, requirement) else { return };
        self.payments.get_or_create(&labels).inc();
        self.paid.get_or_create(&labels).inc_by(price * turns(requirement, amount));
    }

    /// What was deducted for an answer that never came was given back.
    pub(crate) fn gave_back(&self, deduction: &Deduction) {
        let Some((price, labels)) = priced(&deduction.agent, &deduction.requirement) else { return };
        self.returned.get_or_create(&labels).inc();
        self.given_back.get_or_create(&labels).inc_by(price);
    }
}

/// The price of one message and the labels that it is counted by; `None` for a requirement of something else.
fn priced(agent: &Handle, requirement: &Requirement) -> Option<(f64, PaymentLabels)> {
    let Demand::Payment(terms) = &requirement.demand else { return None };
    let (price, currency) = read(&terms.price);
    Some((price, PaymentLabels { agent: agent.as_str().to_owned(), currency }))
}

/// A price such as `0.05 USDC` or `$0.05`: the number and what it is a number of. Prices are words of the operator's for
/// people: of a number that can be read in two ways, such as `1,000`, nothing adds up.
fn read(price: &str) -> (f64, String) {
    let is_of_number = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',');
    let number: String = price.chars().skip_while(|c| !is_of_number(*c)).take_while(|c| is_of_number(*c)).collect();
    let mut words = price.split(|c: char| is_of_number(c) || c.is_whitespace());
    let currency = words.find(|word| !word.is_empty()).unwrap_or(NO_CURRENCY).to_owned();
    (number.parse().unwrap_or_default(), currency)
}

/// How many messages an amount pays for.
fn turns(requirement: &Requirement, amount: Option<&str>) -> f64 {
    let Demand::Payment(PaymentTerms { credit: Some(credit), covers: PaidFor::Credit, .. }) = &requirement.demand
    else {
        return 1.0;
    };
    let per_turn = Amount::parse(&credit.per_turn).and_then(Amount::as_float);
    let amount = amount.and_then(Amount::parse).and_then(Amount::as_float);
    amount.zip(per_turn).filter(|(_, per_turn)| *per_turn > 0.0).map_or(1.0, |(amount, per_turn)| amount / per_turn)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forecourt_core::policy::{Charge, CreditTerms};
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn requirement(price: &str, credit: Option<CreditTerms>) -> Requirement {
        let covers = if credit.is_some() { PaidFor::Credit } else { PaidFor::Turn };
        let terms = PaymentTerms {
            accepted: Vec::new(),
            price: price.to_owned(),
            covers,
            credit: credit.map(Box::new),
            charge: Charge::Before,
        };
        Requirement {
            rule: "price".to_owned(),
            title: None,
            message: String::new(),
            message_translations: BTreeMap::new(),
            demand: Demand::Payment(terms),
        }
    }

    #[test]
    fn a_price_is_a_number_of_something() {
        for (price, number, currency) in [
            ("0.05 USDC", 0.05, "USDC"),
            ("$0.05", 0.05, "$"),
            ("3", 3.0, NO_CURRENCY),
            ("free", 0.0, "free"),
            ("0.05 USDC per message", 0.05, "USDC"),
            ("1,000 USDC", 0.0, "USDC"),
            ("0,05 EUR", 0.0, "EUR"),
            ("", 0.0, NO_CURRENCY),
        ] {
            assert_eq!(read(price), (number, currency.to_owned()), "{price}");
        }
    }

    #[test]
    fn what_is_paid_adds_up_by_agent_and_currency() {
        let (metrics, chef) = (PaymentMetrics::default(), Handle::parse("chef").unwrap());
        metrics.took(&chef, &requirement("0.05 USDC", None), Some("50000"));
        metrics.took(&chef, &requirement("0.05 USDC", None), None);
        let credit = CreditTerms { unit: "usdc".to_owned(), per_turn: "50000".to_owned(), decimals: None, caps: None };
        metrics.took(&chef, &requirement("0.05 USDC", Some(credit)), Some("500000"));
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let of = "{agent=\"chef\",currency=\"USDC\"}";
        assert!(text.contains(&format!("payments_total{of} 3")), "{text}");
        assert!(text.contains(&format!("payments_paid_total{of} 0.6")), "{text}");
    }
}
