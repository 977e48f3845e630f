//! This module reads and writes prices for crawlers.

use std::fmt;

use forecourt_core::policy::AcceptedPayment;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::{CURRENCY, FAMILY, PRICE};
use crate::limits::{CRAWLER_PRICE_BYTES_MAX, CRAWLER_PRICE_MAX};
use crate::units::Units;

/// What it costs, in a 402.
pub const CRAWLER_PRICE: HeaderName = HeaderName::from_static("crawler-price");
/// The most that a crawler agrees to pay, in a request.
pub const CRAWLER_MAX_PRICE: HeaderName = HeaderName::from_static("crawler-max-price");
/// The very price that a crawler agrees to pay, in a request.
pub const CRAWLER_EXACT_PRICE: HeaderName = HeaderName::from_static("crawler-exact-price");
/// What it is charged, in an answer.
pub const CRAWLER_CHARGED: HeaderName = HeaderName::from_static("crawler-charged");

/// Decimals of an amount.
const DECIMALS: u8 = 6;
/// The member of an offer and of a receipt that has the amount.
pub(super) const AMOUNT: &str = "amount";

/// An amount of US dollars, in millionths: above 0, and at most [`CRAWLER_PRICE_MAX`] dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(u64);

impl Dollars {
    /// Reads a decimal such as `0.01`. `None` for what is none, negative, 0, finer than a millionth, or more than
    /// [`CRAWLER_PRICE_MAX`].
    pub fn parse(text: &str) -> Option<Self> {
        let units = Units::from_price(text, DECIMALS).ok()?;
        Self::of_millionths(u64::try_from(units.0).ok()?)
    }

    /// Reads a price as rules have it: `0.01 USD`, `USD 0.01` or `$0.01`.
    pub fn of_price(text: &str) -> Option<Self> {
        let text = text.trim();
        let amount = text.strip_prefix('$').or_else(|| text.strip_prefix("USD ")).or_else(|| text.strip_suffix(" USD"));
        Self::parse(amount?.trim())
    }

    /// So many millionths, within its bounds.
    pub fn of_millionths(millionths: u64) -> Option<Self> {
        (1..=CRAWLER_PRICE_MAX * 1_000_000).contains(&millionths).then_some(Self(millionths))
    }

    /// In millionths.
    pub fn millionths(self) -> u64 {
        self.0
    }

    /// The decimal, with two places at least.
    pub fn decimal(self) -> String {
        decimal(self.0)
    }

    /// The value of a field: `USD 0.01`.
    pub fn field(self) -> HeaderValue {
        // Digits and a dot: such a value can always be written.
        HeaderValue::from_str(&self.to_string()).unwrap_or(HeaderValue::from_static(CURRENCY))
    }

    /// As a price that can be paid in another way, among the ways to pay.
    pub fn offer(self) -> AcceptedPayment {
        AcceptedPayment { scheme: PRICE.to_owned(), payload: self.payload() }
    }

    pub(super) fn payload(self) -> Map<String, Value> {
        let Value::Object(payload) = json!({AMOUNT: self.decimal(), "currency": CURRENCY}) else { return Map::new() };
        payload
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CURRENCY} {}", self.decimal())
    }
}

/// Millionths of a dollar as a decimal, with two places at least.
pub fn decimal(millionths: u64) -> String {
    let text = Units(millionths.into()).to_price(DECIMALS);
    match text.split_once('.') {
        None => format!("{text}.00"),
        Some((_, part)) if part.len() == 1 => format!("{text}0"),
        Some(_) => text,
    }
}

/// The price that a crawler agrees to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// At most this.
    Max(Dollars),
    /// Exactly this.
    Exact(Dollars),
}

/// Why what a request says it agrees to means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgreementError {
    /// Not in the form.
    #[error("`{0}` is a currency and an amount above 0, such as `USD 0.01`")]
    Malformed(&'static str),
    /// Another currency.
    #[error("`{0}`: prices here are in USD")]
    Currency(&'static str),
    /// More than one value.
    #[error("a request agrees to one price: send `crawler-max-price` or `crawler-exact-price`, once")]
    Several,
}

impl Agreement {
    /// What a request agrees to; `None` where it says nothing.
    pub fn of(headers: &HeaderMap) -> Result<Option<Self>, AgreementError> {
        let values = |name: &HeaderName| headers.get_all(name).iter().cloned().collect::<Vec<HeaderValue>>();
        let (max, exact) = (values(&CRAWLER_MAX_PRICE), values(&CRAWLER_EXACT_PRICE));
        match (max.as_slice(), exact.as_slice()) {
            ([], []) => Ok(None),
            ([value], []) => dollars(value, "crawler-max-price").map(Self::Max).map(Some),
            ([], [value]) => dollars(value, "crawler-exact-price").map(Self::Exact).map(Some),
            _ => Err(AgreementError::Several),
        }
    }

    /// Whether a price is one that it agrees to.
    pub fn covers(self, price: Dollars) -> bool {
        match self {
            Self::Max(max) => price <= max,
            Self::Exact(exact) => price == exact,
        }
    }
}

fn dollars(value: &HeaderValue, name: &'static str) -> Result<Dollars, AgreementError> {
    let text = value.to_str().ok().filter(|text| text.len() <= CRAWLER_PRICE_BYTES_MAX);
    let text = text.ok_or(AgreementError::Malformed(name))?.trim();
    if text.contains([',', ';']) {
        return Err(AgreementError::Several);
    }
    let (currency, amount) = text.split_once(' ').ok_or(AgreementError::Malformed(name))?;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(AgreementError::Malformed(name));
    }
    if currency != CURRENCY {
        return Err(AgreementError::Currency(name));
    }
    Dollars::parse(amount).ok_or(AgreementError::Malformed(name))
}

/// The price for crawlers among ways to pay.
pub fn price(accepted: &[AcceptedPayment]) -> Option<Dollars> {
    accepted.iter().find_map(price_of)
}

/// The price for crawlers that one way to pay has.
pub(super) fn price_of(offer: &AcceptedPayment) -> Option<Dollars> {
    let is_crawlers = offer.scheme.split_once('.').is_some_and(|(family, _)| family == FAMILY);
    let amount = offer.payload.get(AMOUNT).filter(|_| is_crawlers)?;
    Dollars::parse(amount.as_str()?)
}

/// What a receipt says that a crawler is charged; `None` for one of another family.
pub fn charged(receipt: &Map<String, Value>) -> Option<Dollars> {
    receipt.get("scheme").filter(|scheme| scheme.as_str() == Some(super::ACCOUNT))?;
    Dollars::parse(receipt.get(AMOUNT)?.as_str()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agreed(fields: &[(&'static str, &str)]) -> Result<Option<Agreement>, AgreementError> {
        let field = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        let mut headers = HeaderMap::new();
        fields.iter().map(field).for_each(|(name, value)| {
            headers.append(name, value);
        });
        Agreement::of(&headers)
    }

    fn cents(cents: u64) -> Dollars {
        Dollars::of_millionths(cents * 10_000).unwrap()
    }

    #[test]
    fn a_request_agrees_to_one_price_in_dollars() {
        assert_eq!(agreed(&[]), Ok(None));
        assert_eq!(agreed(&[("crawler-max-price", "USD 0.05")]), Ok(Some(Agreement::Max(cents(5)))));
        assert_eq!(agreed(&[("crawler-exact-price", "USD 1")]), Ok(Some(Agreement::Exact(cents(100)))));
        let malformed = Err(AgreementError::Malformed("crawler-max-price"));
        for wrong in
            ["0.05", "USD", "USD ", "USD -0.05", "USD 0", "USD 1e3", "USD 0.0000001", "usd 0.05", "USD  1", "USD 1001"]
        {
            assert_eq!(agreed(&[("crawler-max-price", wrong)]), malformed, "{wrong}");
        }
        assert_eq!(agreed(&[("crawler-max-price", "EUR 0.05")]), Err(AgreementError::Currency("crawler-max-price")));
        for several in [
            &[("crawler-max-price", "USD 0.05"), ("crawler-max-price", "USD 0.06")][..],
            &[("crawler-max-price", "USD 0.05"), ("crawler-exact-price", "USD 0.05")],
            &[("crawler-max-price", "USD 0.05, USD 0.06")],
        ] {
            assert_eq!(agreed(several), Err(AgreementError::Several));
        }
    }

    #[test]
    fn an_agreement_covers_what_it_says() {
        assert!(Agreement::Max(cents(5)).covers(cents(5)) && Agreement::Max(cents(5)).covers(cents(1)));
        assert!(!Agreement::Max(cents(5)).covers(cents(6)));
        assert!(Agreement::Exact(cents(5)).covers(cents(5)) && !Agreement::Exact(cents(5)).covers(cents(4)));
    }

    #[test]
    fn a_price_is_above_nothing_and_within_its_bound() {
        let most = format!("{CRAWLER_PRICE_MAX}");
        assert_eq!(Dollars::parse(&most).map(Dollars::millionths), Some(CRAWLER_PRICE_MAX * 1_000_000));
        assert_eq!(Dollars::parse(&format!("{CRAWLER_PRICE_MAX}.000001")), None);
        for (text, read) in
            [("$0.01", true), ("0.01 USD", true), ("USD 0.01", true), ("0.01 USDC", false), ("-1 USD", false)]
        {
            assert_eq!(Dollars::of_price(text).is_some(), read, "{text}");
        }
        for (millionths, written) in [(1, "0.000001"), (10_000, "0.01"), (500_000, "0.50"), (2_000_000, "2.00")] {
            assert_eq!(decimal(millionths), written);
        }
        assert_eq!(price(&[cents(1).offer()]), Some(cents(1)));
        assert_eq!(price(&[AcceptedPayment { scheme: "x402.exact".to_owned(), payload: cents(1).payload() }]), None);
    }

    proptest! {
        #[test]
        fn any_field_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                headers.insert(CRAWLER_MAX_PRICE, value);
            }
            let _ = Agreement::of(&headers);
        }

        #[test]
        fn what_is_written_is_read_as_the_same(millionths in 1..=CRAWLER_PRICE_MAX * 1_000_000) {
            let dollars = Dollars::of_millionths(millionths).unwrap();
            prop_assert_eq!(Dollars::parse(&dollars.decimal()), Some(dollars));
        }
    }
}
