//! A price as a person writes it, into what may be paid at a checkout.

use forecourt_core::policy::{AcceptedPayment, CheckoutAmount, CreditTerms, OfferBuilder, OfferContext};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::currency::{Currency, MOST};
use super::settings::CardSettings;
use super::{FAMILY, SCHEME};
use crate::limits::CREDIT_TIMES;
use crate::units::Units;

/// Makes offers out of what rules say: `offers = [{ card = {} }]`.
#[derive(Debug)]
pub struct CardOffers {
    settings: CardSettings,
}

/// The table under `card` in an offer of a rule.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OfferSettings {
    /// What is paid by card, such as `0.50 EUR`, where that is not the rule's own price.
    price: Option<String>,
}

/// What an offer says: amounts in the smallest unit of a currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CardOffer {
    /// By ISO 4217.
    pub(super) currency: String,
    /// What one message costs.
    pub(super) price: u64,
    /// What may be paid at once.
    pub(super) amounts: Vec<u64>,
}

impl CardOffers {
    /// Offers under these settings.
    pub fn new(settings: CardSettings) -> Self {
        Self { settings }
    }
}

impl OfferBuilder for CardOffers {
    fn key(&self) -> &'static str {
        FAMILY
    }

    fn offers(
        &self,
        settings: &Map<String, Value>,
        context: &OfferContext<'_>,
    ) -> Result<Vec<AcceptedPayment>, String> {
        let rule = OfferSettings::deserialize(settings).map_err(|error| error.to_string())?;
        // A setup error, not a refusal: nobody could pay by what is offered.
        if !self.settings.is_on() {
            return Err("cards need a provider; set `secret_key` in [payments.card]".to_owned());
        }
        let (price, currency) = price_of(rule.price.as_deref().unwrap_or(context.price))?;
        let amounts = match context.credit {
            Some(credit) => credit_amounts(price, currency, credit)?,
            None => vec![within_bounds(price, currency)?],
        };
        let offer = CardOffer { currency: currency.code.to_owned(), price, amounts };
        let payload = serde_json::to_value(offer).map_err(|error| error.to_string())?;
        let Value::Object(payload) = payload else { return Err("an offer is an object".to_owned()) };
        Ok(vec![AcceptedPayment { scheme: SCHEME.to_owned(), payload }])
    }
}

impl CardOffer {
    /// The offer of this scheme that `accepted` is; `None` for another one.
    pub(super) fn read(accepted: &AcceptedPayment) -> Option<(Self, &'static Currency)> {
        let payload = (accepted.scheme == SCHEME).then(|| Value::Object(accepted.payload.clone()))?;
        let offer: Self = serde_json::from_value(payload).ok()?;
        let currency = Currency::of(&offer.currency)?;
        Some((offer, currency))
    }

    /// What may be paid for it, as the offer with this number.
    pub(super) fn checkout_amounts(&self, currency: &Currency, offer: usize) -> Vec<CheckoutAmount> {
        let amount = |amount: &u64| {
            let times = amount.checked_div(self.price).and_then(|times| u32::try_from(times).ok())?;
            let words = currency.words(*amount);
            Some(CheckoutAmount { offer, amount: amount.to_string(), times, words })
        };
        self.amounts.iter().filter_map(amount).collect()
    }
}

/// The price in the smallest unit of its currency.
fn price_of(price: &str) -> Result<(u64, &'static Currency), String> {
    let price = price.trim();
    let (amount, code) = match price.strip_prefix('$') {
        Some(amount) => (amount.trim(), "USD"),
        None => price
            .split_once(char::is_whitespace)
            .map(|(amount, code)| (amount, code.trim()))
            .ok_or_else(|| format!("the price `{price}` names no currency; write it as `0.50 EUR` or `$0.50`"))?,
    };
    let currency = Currency::of(code).ok_or_else(|| {
        let known: Vec<&str> = super::CURRENCIES.iter().map(|known| known.code).collect();
        let known = known.join(", ");
        format!("cards pay in no currency `{code}` (known: {known}); name another `price` in the table of the card")
    })?;
    let units =
        Units::from_price(amount, currency.decimals).map_err(|error| format!("the price `{price}`: {error}"))?;
    match u64::try_from(units.0) {
        Ok(units @ 1..=MOST) => Ok((units, currency)),
        Ok(0) => Err(format!("the price `{price}` is nothing; leave out the rule for what is free")),
        _ => Err(format!("the price `{price}` is more than the {} that a card pays at once", currency.words(MOST))),
    }
}

fn within_bounds(amount: u64, currency: &Currency) -> Result<u64, String> {
    if amount < currency.least {
        return Err(format!(
            "{} is less than the {} that a card pays at least; raise the price, or sell credit (`per = \"credit\"`)",
            currency.words(amount),
            currency.words(currency.least)
        ));
    }
    Ok(amount)
}

/// What of credit may be bought at once: several times the price, from the least that a card pays up to what its caps
/// let be spent in a period.
fn credit_amounts(price: u64, currency: &Currency, credit: &CreditTerms) -> Result<Vec<u64>, String> {
    let is_counted_so = credit.unit.eq_ignore_ascii_case(currency.code)
        && credit.decimals == Some(currency.decimals)
        && credit.per_turn == price.to_string();
    if !is_counted_so {
        return Err(format!(
            "credit is counted in `{}`, and a card pays in {}: set `unit = \"{}\"`, `decimals = {}` and `per_turn` to \
             the price in `credit`",
            credit.unit, currency.code, currency.code, currency.decimals
        ));
    }
    let cap = credit.caps.as_ref().and_then(|caps| caps.period_max.parse::<u64>().ok()).unwrap_or(MOST).min(MOST);
    let times = CREDIT_TIMES.into_iter().filter_map(|times| price.checked_mul(times.into()));
    let amounts: Vec<u64> = times.filter(|amount| (currency.least..=cap).contains(amount)).collect();
    if amounts.is_empty() {
        return Err(format!(
            "a card pays {} at least, and no {} of {} lie between that and the caps of `auto_deduct`; raise the price \
             or the caps",
            currency.words(currency.least),
            CREDIT_TIMES.map(|times| times.to_string()).join(", "),
            currency.words(price)
        ));
    }
    Ok(amounts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offered(price: &str, table: Value, credit: Option<&CreditTerms>) -> Result<CardOffer, String> {
        let settings = CardSettings { secret_key: Some("sk_test_x".to_owned()), ..CardSettings::default() };
        let agent = forecourt_core::Handle::parse("shop").unwrap();
        let context = OfferContext { agent: &agent, base: "https://demo.example", price, credit };
        let made = CardOffers::new(settings).offers(table.as_object().unwrap(), &context)?;
        Ok(CardOffer::read(&made[0]).unwrap().0)
    }

    fn credit(unit: &str, per_turn: &str) -> CreditTerms {
        CreditTerms { unit: unit.to_owned(), per_turn: per_turn.to_owned(), decimals: Some(2), caps: None }
    }

    #[test]
    fn a_price_is_an_amount_of_its_currency() {
        for (price, table, currency, amount) in [
            ("0.50 EUR", json!({}), "EUR", 50),
            ("$1", json!({}), "USD", 100),
            ("500 JPY", json!({}), "JPY", 500),
            ("0.05 USDC", json!({"price": "0.60 eur"}), "EUR", 60),
        ] {
            let offer = offered(price, table, None).unwrap();
            assert_eq!((offer.currency.as_str(), &offer.amounts[..]), (currency, &[amount][..]), "{price}");
        }
    }

    #[test]
    fn what_no_card_pays_is_told_with_the_bound() {
        for (price, told) in [
            ("0.49 EUR", "0.50 EUR that a card pays at least"),
            ("0.29 GBP", "0.30 GBP"),
            ("0.05 USDC", "no currency `USDC`"),
            ("0.055 EUR", "decimals"),
            ("0 EUR", "is nothing"),
            ("1000000.00 EUR", "999999.99 EUR that a card pays at once"),
            ("0.50", "names no currency"),
        ] {
            let error = offered(price, json!({}), None).unwrap_err();
            assert!(error.contains(told), "{price}: {error}");
        }
        assert!(offered("0.50 EUR", json!({}), None).is_ok() && offered("999999.99 EUR", json!({}), None).is_ok());
        assert!(offered("1 EUR", json!({"amount": "1"}), None).is_err());
        let agent = forecourt_core::Handle::parse("shop").unwrap();
        let context = OfferContext { agent: &agent, base: "", price: "1 EUR", credit: None };
        let error = CardOffers::new(CardSettings::default()).offers(&Map::new(), &context).unwrap_err();
        assert!(error.contains("secret_key"));
    }

    #[test]
    fn small_prices_are_paid_by_credit() {
        let offer = offered("0.05 EUR", json!({}), Some(&credit("EUR", "5"))).unwrap();
        assert_eq!(offer.amounts, [100, 250]);
        let amounts = offer.checkout_amounts(Currency::of("EUR").unwrap(), 3);
        let told: Vec<_> = amounts.iter().map(|one| (one.offer, one.times, one.words.as_str())).collect();
        assert_eq!(told, [(3, 20, "1.00 EUR"), (3, 50, "2.50 EUR")]);
        for (unit, per_turn) in [("USDC", "5"), ("EUR", "50")] {
            assert!(offered("0.05 EUR", json!({}), Some(&credit(unit, per_turn))).unwrap_err().contains("counted in"));
        }
        assert!(offered("0.001 EUR", json!({}), Some(&credit("EUR", "0"))).is_err());
    }
}
