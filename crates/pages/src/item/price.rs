//! What an item costs, and whether it is to be had: `offers` of schema.org.

use forecourt_sentences::{Sentences, SpokenLanguage};
use serde_json::{Map, Value};

use super::words;
use crate::clean;

/// A price for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Price {
    /// `€59.90`, or nothing where only the stock is known.
    pub(crate) said: String,
    /// `In stock`, or nothing.
    pub(crate) stock: String,
    /// Whether it is to be had no more.
    pub(crate) is_gone: bool,
}

/// Signs of currencies that stand before or behind a number.
const SIGNS: [(&str, &str); 6] = [("EUR", "€"), ("USD", "$"), ("GBP", "£"), ("JPY", "¥"), ("INR", "₹"), ("KRW", "₩")];
/// Words of schema.org for what can't be had.
const GONE: [&str; 3] = ["OutOfStock", "SoldOut", "Discontinued"];

/// The price of the first offer, in the words of `say`. `None` where nothing is said of it.
pub(super) fn of(fields: &Map<String, Value>, say: Sentences) -> Option<Price> {
    let offer = match fields.get("offers")? {
        Value::Array(offers) => offers.first()?.as_object()?,
        offer => offer.as_object()?,
    };
    let specification = match offer.get("priceSpecification") {
        Some(Value::Array(all)) => all.first().and_then(Value::as_object),
        other => other.and_then(Value::as_object),
    };
    let plain = |key: &str| offer.get(key).or_else(|| specification?.get(key)).and_then(plain);
    let currency = plain("priceCurrency").unwrap_or_default();
    let amount = plain("price").or_else(|| plain("lowPrice"));
    let said = amount.map(|amount| written(&amount, &currency, say.language())).unwrap_or_default();
    let stock = plain("availability").unwrap_or_default();
    let stock = stock.rsplit(['/', ':', '#']).next().unwrap_or_default();
    let known = say.availability(&dashed(stock)).map(|known| capital(&known));
    let price =
        Price { said, stock: known.unwrap_or_else(|| words(&clean::line(stock))), is_gone: GONE.contains(&stock) };
    (!price.said.is_empty() || !price.stock.is_empty()).then_some(price)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(clean::line(text)).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// An amount with its currency. What is no plain number stays as it is written.
pub(super) fn written(amount: &str, currency: &str, language: SpokenLanguage) -> String {
    let is_range = amount.contains('–') && amount.chars().all(|c| c.is_ascii_digit() || c == '–');
    let is_plain = amount.bytes().all(|b| b.is_ascii_digit() || b == b'.') && amount.matches('.').count() <= 1;
    let is_number = is_plain || is_range;
    let sign = SIGNS.iter().find(|(code, _)| *code == currency).map(|(_, sign)| *sign);
    // The others write a comma in numbers and the sign behind them.
    let behind = language != SpokenLanguage::English;
    let amount = if is_number { in_cents(amount, behind) } else { amount.to_owned() };
    match sign {
        Some(sign) if is_number && !behind => format!("{sign}{amount}"),
        Some(sign) => format!("{amount}\u{a0}{sign}"),
        None if currency.is_empty() => amount,
        None => format!("{amount}\u{a0}{currency}"),
    }
}

/// `InStock` as `in-stock`.
fn dashed(name: &str) -> String {
    let mut dashed = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && !dashed.is_empty() {
            dashed.push('-');
        }
        dashed.extend(c.to_lowercase());
    }
    dashed
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `59.9` as `59.90`, and `59` as it is.
fn in_cents(amount: &str, with_comma: bool) -> String {
    let (whole, cents) = amount.split_once('.').unwrap_or((amount, ""));
    let cents = if cents.len() == 1 { format!("{cents}0") } else { cents.to_owned() };
    match cents.bytes().any(|cent| cent != b'0') {
        true => format!("{whole}{}{cents}", if with_comma { ',' } else { '.' }),
        false => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Language;
    use serde_json::json;

    use crate::template::words_in;

    use super::*;

    fn price(offers: Value, language: &str) -> Option<(String, String, bool)> {
        let fields = json!({ "offers": offers });
        let price = of(fields.as_object().unwrap(), words_in(&Language::parse(language).unwrap()))?;
        Some((price.said, price.stock, price.is_gone))
    }

    fn said(text: &str, stock: &str, is_gone: bool) -> Option<(String, String, bool)> {
        Some((text.to_owned(), stock.to_owned(), is_gone))
    }

    #[test]
    fn a_price_is_written_as_people_write_it() {
        let offer = json!({"price": "59.9", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"});
        assert_eq!(price(offer.clone(), "en"), said("€59.90", "In stock", false));
        assert_eq!(price(json!([offer]), "de-AT"), said("59,90\u{a0}€", "Auf Lager", false));
        let gone = json!({"price": 12, "priceCurrency": "CHF", "availability": "SoldOut"});
        assert_eq!(price(gone, "en"), said("12\u{a0}CHF", "Sold out", true));
        assert_eq!(price(json!({"lowPrice": 5.5, "priceCurrency": "USD"}), "en"), said("$5.50", "", false));
        let within = json!({"priceSpecification": {"price": "7.00", "priceCurrency": "GBP"}});
        assert_eq!(price(within, "en"), said("£7", "", false));
        assert_eq!(price(json!({"price": "on request"}), "en"), said("on request", "", false));
    }

    #[test]
    fn what_says_no_price_has_none() {
        for offers in [json!(null), json!([]), json!("5"), json!({}), json!({"price": ""}), json!([[{"price": 1}]])] {
            assert_eq!(price(offers.clone(), "en"), None, "{offers}");
        }
    }
}
