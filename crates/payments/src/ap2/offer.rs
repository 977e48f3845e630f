//! A price as a person writes it, into the terms of a cart.

use forecourt_core::policy::{AcceptedPayment, OfferBuilder, OfferContext};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::FAMILY;
use super::amount::Amount;
use super::cart::{CartTerms, processor_method, x402_methods};
use crate::ap2_settings::{Ap2Settings, SettledBy};
use crate::card::Currency;
use crate::hex::Address;
use crate::offer::{Price, asset_of, offers};
use crate::settings::PaymentsSettings;
use crate::units::Units;

/// Makes offers out of what rules say: `offers = [{ ap2 = {} }]`.
#[derive(Debug)]
pub struct Ap2Offers {
    settings: PaymentsSettings,
}

/// The table under `ap2` in an offer of a rule.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OfferSettings {
    /// What is paid by a mandate, such as `0.50 EUR`, where that is not the rule's own price.
    price: Option<String>,
    /// The network of x402, by its name in `[payments.networks]` or in CAIP-2.
    network: Option<String>,
    /// Who is paid by x402, when it is not who `[payments]` says.
    pay_to: Option<Address>,
    /// What is paid for, for people.
    description: Option<String>,
}

impl Ap2Offers {
    /// Offers under these settings.
    pub fn new(settings: PaymentsSettings) -> Self {
        Self { settings }
    }

    fn terms(&self, rule: OfferSettings, context: &OfferContext<'_>) -> Result<CartTerms, String> {
        let ap2 = &self.settings.ap2;
        let price = rule.price.as_deref().unwrap_or(context.price);
        let agent = format!("{}/~{}", context.base, context.agent);
        let label = rule.description.unwrap_or_else(|| format!("An answer of @{}", context.agent));
        let (price, method_data, audience) = match ap2.settle {
            // A setup error, not a refusal: nobody could pay by what is offered.
            None => return Err("mandates need what settles them; set `settle` in [payments.ap2]".to_owned()),
            Some(SettledBy::Processor) => {
                let processor = ap2.processor.clone().unwrap_or_default();
                (price_of(price)?, vec![processor_method(&processor)], processor)
            }
            Some(SettledBy::X402) => {
                let asked = Price { price, network: rule.network.as_deref(), pay_to: rule.pay_to };
                let made = offers(&self.settings, asked, &agent, &label)
                    .map_err(|error| format!("{}; {}", error.message, error.hint))?;
                let facilitator = self.settings.facilitator.clone().unwrap_or_default();
                (self.dollars(asked)?, x402_methods(made), facilitator)
            }
        };
        let domain = context.base.split_once("://").map_or(context.base, |(_, domain)| domain);
        Ok(CartTerms {
            merchant: context.base.to_owned(),
            merchant_name: merchant_name(ap2, domain),
            agent,
            sku: format!("@{}", context.agent),
            label,
            price,
            method_data,
            audience,
        })
    }

    /// The price of a cart that is paid in a token: that of a dollar is one, and of another nobody knows a rate.
    fn dollars(&self, asked: Price<'_>) -> Result<Amount, String> {
        let (units, asset) = asset_of(&self.settings, asked).map_err(|error| error.message)?;
        if !asset.dollar {
            return Err(format!(
                "a cart has a price in a currency, and the token of `{}` is no dollar (`dollar = true`)",
                asked.price
            ));
        }
        let digits = units.to_price(asset.decimals);
        Amount::of("USD", &digits).ok_or_else(|| format!("`{digits}` has more digits than a cart can say"))
    }
}

impl OfferBuilder for Ap2Offers {
    fn key(&self) -> &'static str {
        FAMILY
    }

    fn offers(
        &self,
        settings: &Map<String, Value>,
        context: &OfferContext<'_>,
    ) -> Result<Vec<AcceptedPayment>, String> {
        let rule = OfferSettings::deserialize(settings).map_err(|error| error.to_string())?;
        if context.credit.is_some() {
            return Err("a mandate pays one price, and buys no credit; sell that in a rule of its own".to_owned());
        }
        let offer = self.terms(rule, context)?.into_offer();
        offer.map(|offer| vec![offer]).ok_or_else(|| "the terms of the cart can't be written".to_owned())
    }
}

fn merchant_name(settings: &Ap2Settings, domain: &str) -> String {
    settings.merchant_name.clone().unwrap_or_else(|| domain.to_owned())
}

/// A price in a currency that is known.
fn price_of(price: &str) -> Result<Amount, String> {
    let price = price.trim();
    let (digits, code) = match price.strip_prefix('$') {
        Some(digits) => (digits.trim(), "USD"),
        None => price
            .split_once(char::is_whitespace)
            .map(|(digits, code)| (digits, code.trim()))
            .ok_or_else(|| format!("the price `{price}` names no currency; write it as `0.50 EUR` or `$0.50`"))?,
    };
    let currency = Currency::of(code).ok_or_else(|| {
        let known: Vec<&str> = crate::card::CURRENCIES.iter().map(|known| known.code).collect();
        format!(
            "no currency `{code}` is known (known: {}); name another `price` in the table of `ap2`",
            known.join(", ")
        )
    })?;
    let units =
        Units::from_price(digits, currency.decimals).map_err(|error| format!("the price `{price}`: {error}"))?;
    if units.0 == 0 {
        return Err(format!("the price `{price}` is nothing; leave out the rule for what is free"));
    }
    let digits = units.to_price(currency.decimals);
    Amount::of(currency.code, &digits).ok_or_else(|| format!("`{digits}` has more digits than a cart can say"))
}

#[cfg(test)]
mod tests {
    use forecourt_core::Handle;
    use forecourt_core::policy::CreditTerms;
    use serde_json::json;

    use super::*;

    fn offered(settings: &str, price: &str, table: Value, credit: Option<&CreditTerms>) -> Result<CartTerms, String> {
        let settings: PaymentsSettings = toml::from_str(settings).unwrap();
        let agent = Handle::parse("shop").unwrap();
        let context = OfferContext { agent: &agent, base: "https://demo.example", price, credit };
        let made = Ap2Offers::new(settings).offers(table.as_object().unwrap(), &context)?;
        assert_eq!(made.len(), 1);
        Ok(CartTerms::read(&made[0]).unwrap())
    }

    const PROCESSOR: &str = "[ap2]\nsettle = \"processor\"\nprocessor = \"https://psp.example\"";
    const X402: &str = r#"
facilitator = "https://f.example"
pay_to = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
[ap2]
settle = "x402"
merchant_name = "Demo Shop"
[networks.base-sepolia.assets.EURC]
address = "0x036cbd53842c5426634e7929541ec2318f3dcf7f"
decimals = 6
name = "EURC"
version = "2"
"#;

    #[test]
    fn a_price_is_an_amount_of_its_currency() {
        for (price, table, currency, value) in [
            ("0.50 EUR", json!({}), "EUR", json!(0.5)),
            ("$1", json!({}), "USD", json!(1.0)),
            ("500 jpy", json!({}), "JPY", json!(500.0)),
            ("0.05 USDC", json!({"price": "0.05 EUR"}), "EUR", json!(0.05)),
        ] {
            let terms = offered(PROCESSOR, price, table, None).unwrap();
            assert_eq!((terms.price.currency.as_str(), terms.price.value), (currency, value), "{price}");
            assert_eq!(
                (terms.merchant_name.as_str(), terms.audience.as_str()),
                ("demo.example", "https://psp.example")
            );
        }
    }

    #[test]
    fn a_token_that_is_a_dollar_is_paid_in_both_versions() {
        for price in ["0.05 USDC", "$0.05"] {
            let terms = offered(X402, price, json!({}), None).unwrap();
            assert_eq!((terms.price.currency.as_str(), &terms.price.value), ("USD", &json!(0.05)));
            assert_eq!((terms.method_data.len(), terms.merchant_name.as_str()), (2, "Demo Shop"));
        }
    }

    #[test]
    fn what_no_cart_says_is_told() {
        let credit = CreditTerms { unit: "EUR".to_owned(), per_turn: "5".to_owned(), decimals: Some(2), caps: None };
        for (settings, price, table, credit, told) in [
            ("", "0.50 EUR", json!({}), None, "`settle`"),
            (PROCESSOR, "0.50 USDC", json!({}), None, "no currency `USDC` is known"),
            (PROCESSOR, "0.50", json!({}), None, "names no currency"),
            (PROCESSOR, "0.005 EUR", json!({}), None, "decimals"),
            (PROCESSOR, "0 EUR", json!({}), None, "is nothing"),
            (PROCESSOR, "1 EUR", json!({"amount": 1}), None, "amount"),
            (PROCESSOR, "1 EUR", json!({}), Some(&credit), "no credit"),
            (X402, "0.05 EURC", json!({}), None, "no dollar"),
            (X402, "0.05 ABC", json!({}), None, "no token `ABC`"),
        ] {
            let error = offered(settings, price, table, credit).unwrap_err();
            assert!(error.contains(told), "{price}: {error}");
        }
    }
}
