//! Which of an offer's prices counts at a moment: the one of a sale while it lasts, else the usual one.

use std::borrow::Cow;

use forecourt_core::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// The price that an offer has when there is no sale, by schema.org's `priceType`.
pub(crate) const LIST_PRICE: &str = "https://schema.org/ListPrice";
/// The price of a sale.
pub(crate) const SALE_PRICE: &str = "https://schema.org/SalePrice";
/// Types of prices that nobody pays while there is another.
const LISTED: &[&str] = &["ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice", "InvoicePrice"];
/// What makes a price specification that of something else: a measure, some customers, a delivery.
const OTHERS: &[&str] = &[
    "referenceQuantity",
    "validForMemberTier",
    "eligibleQuantity",
    "eligibleTransactionVolume",
    "eligibleCustomerType",
];

/// An item as its offers are at a moment, those of its variants too, and the next moment at which one of them has
/// another price. `price` is what counts then; where an offer has dates and none of its prices counts, it has none.
pub fn priced(item: &Value, now: Timestamp) -> (Cow<'_, Value>, Option<Timestamp>) {
    let mut moments = Moments { now, next: None };
    let changed = moments.of_item(item);
    (changed.map_or(Cow::Borrowed(item), Cow::Owned), moments.next)
}

/// The least price of an offer, or of several of which those that can be had come before the others.
pub fn lowest_price(offers: &Value) -> Option<f64> {
    amount(first(offers)).map(|(amount, _)| amount)
}

/// What can be had comes before what cannot, and the lowest price first.
pub(crate) fn sort_offers(offers: &mut [Value]) {
    offers.sort_by(|one, other| {
        let place = |offer: &Value| (!can_be_had(offer), lowest_price(offer).unwrap_or(f64::INFINITY));
        place(one).partial_cmp(&place(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
}

/// The price of an offer before a sale, as it is written, if it says one.
pub fn list_price(offer: &Value) -> Option<String> {
    let listed = specifications(offer).iter().filter(|one| is_listed(one));
    listed.filter_map(amount).next().map(|(_, written)| match written {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    })
}

fn specifications(offer: &Value) -> &[Value] {
    match offer.get("priceSpecification") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// What schema.org calls what nobody can buy.
const GONE: &[&str] = &["outofstock", "soldout", "discontinued", "reserved"];

/// Whether an offer, or one of several, is not said to be gone.
pub fn can_be_had(offers: &Value) -> bool {
    if let Value::Array(all) = offers {
        return all.is_empty() || all.iter().any(can_be_had);
    }
    let said = offers.get("availability").and_then(Value::as_str).unwrap_or_default();
    let said = said.rsplit('/').next().unwrap_or(said);
    let folded: String = said.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    !GONE.contains(&folded.as_str())
}

fn first(offers: &Value) -> &Value {
    offers.as_array().map_or(offers, |offers| offers.first().unwrap_or(&Value::Null))
}

/// Whether a price specification is the price before any sale.
pub(crate) fn is_listed(specification: &Value) -> bool {
    let said = specification.get("priceType").and_then(Value::as_str).unwrap_or_default();
    LISTED.iter().any(|listed| said.ends_with(listed))
}

/// Whether something is good from or until a date.
pub(crate) fn is_dated(priced: &Value) -> bool {
    ["validFrom", "validThrough", "priceValidUntil"].iter().any(|key| priced.get(*key).is_some())
}

struct Moments {
    now: Timestamp,
    next: Option<Timestamp>,
}

impl Moments {
    fn of_item(&mut self, item: &Value) -> Option<Value> {
        let offers = item.get("offers").and_then(|offers| self.of_offers(offers));
        let variants = item.get("hasVariant").and_then(Value::as_array);
        let variants = variants.and_then(|variants| {
            let priced: Vec<Option<Value>> = variants.iter().map(|variant| self.of_item(variant)).collect();
            let is_changed = priced.iter().any(Option::is_some);
            let each = variants.iter().zip(priced);
            is_changed.then(|| each.map(|(variant, priced)| priced.unwrap_or_else(|| variant.clone())).collect())
        });
        if offers.is_none() && variants.is_none() {
            return None;
        }
        let mut changed = item.as_object()?.clone();
        changed.extend(offers.map(|offers| ("offers".to_owned(), offers)));
        changed.extend(variants.map(|variants| ("hasVariant".to_owned(), variants)));
        Some(Value::Object(changed))
    }

    fn of_offers(&mut self, offers: &Value) -> Option<Value> {
        let Value::Array(all) = offers else { return self.of_offer(offers) };
        let priced: Vec<Option<Value>> = all.iter().map(|offer| self.of_offer(offer)).collect();
        if priced.iter().all(Option::is_none) {
            return None;
        }
        let each = all.iter().zip(priced);
        let mut all: Vec<Value> = each.map(|(offer, priced)| priced.unwrap_or_else(|| offer.clone())).collect();
        sort_offers(&mut all);
        Some(Value::Array(all))
    }

    fn of_offer(&mut self, offer: &Value) -> Option<Value> {
        let fields = offer.as_object()?;
        let specifications = specifications(offer);
        if !is_dated(offer) && !specifications.iter().any(is_dated) {
            return None;
        }
        let own = amount(offer).filter(|_| self.is_valid(fields));
        let mut is_ended = |one: &Value| is_paid(one) && one.as_object().is_some_and(|fields| !self.is_valid(fields));
        let (ended, valid): (Vec<&Value>, Vec<&Value>) = specifications.iter().partition(|one| is_ended(one));
        let paid = valid.iter().filter(|one| is_paid(one)).filter_map(|one| amount(one));
        let counted = paid.chain(own).min_by(|one, other| one.0.total_cmp(&other.0));
        let listed = || specifications.iter().filter(|one| is_listed(one)).find_map(amount);
        let counted = counted.or_else(listed).map(|(_, written)| written.clone());
        if counted.as_ref() == fields.get("price") && ended.is_empty() {
            return None;
        }
        let mut changed = fields.clone();
        if !ended.is_empty() {
            // Whoever reads the item sees no price that is none now.
            let valid: Vec<Value> = valid.into_iter().cloned().collect();
            changed.insert("priceSpecification".to_owned(), valid.into());
        }
        match counted {
            Some(price) => drop(changed.insert("price".to_owned(), price)),
            None => drop(changed.remove("price")),
        }
        Some(Value::Object(changed))
    }

    /// Whether a price counts now; notes when that changes.
    fn is_valid(&mut self, fields: &Map<String, Value>) -> bool {
        let said = |key: &str| fields.get(key).and_then(Value::as_str);
        let from = said("validFrom").and_then(|text| moment(text, false));
        let until = ["validThrough", "priceValidUntil"].iter().filter_map(|key| moment(said(key)?, true)).min();
        for change in [from, until].into_iter().flatten().filter(|change| *change > self.now) {
            self.next = Some(self.next.map_or(change, |next| next.min(change)));
        }
        from.is_none_or(|from| from <= self.now) && until.is_none_or(|until| self.now < until)
    }
}

/// A price that a customer pays for one of it.
fn is_paid(specification: &Value) -> bool {
    let kind = specification.get("@type").and_then(Value::as_str).unwrap_or_default();
    let is_other = kind.ends_with("ChargeSpecification") || OTHERS.iter().any(|key| specification.get(*key).is_some());
    !is_other && !is_listed(specification)
}

fn amount(priced: &Value) -> Option<(f64, &Value)> {
    let price = priced.get("price")?;
    let amount = price.as_f64().or_else(|| price.as_str()?.trim().parse().ok())?;
    amount.is_finite().then_some((amount, price))
}

/// A moment as people and programs write it, in UTC where no zone is said. A day ends with its last second, and so does
/// a minute.
fn moment(text: &str, is_end: bool) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    for format in ["%Y-%m-%dT%H:%M%z", "%Y-%m-%d %H:%M%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%MZ"] {
        if let Ok(moment) = Timestamp::strptime(format, text) {
            return Some(moment);
        }
    }
    let in_utc = |moment: DateTime| moment.to_zoned(TimeZone::UTC).ok().map(|moment| moment.timestamp());
    let is_day = text.len() <= "2026-11-29".len();
    let day = |day: Date| if is_end { day.tomorrow().ok() } else { Some(day) };
    if is_day {
        // `11/29/26`: Magento writes the month first.
        let day = ["%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y"]
            .iter()
            .find_map(|format| Date::strptime(format, text).ok())
            .and_then(day);
        return in_utc(day?.to_datetime(jiff::civil::Time::midnight()));
    }
    text.parse::<DateTime>().ok().or_else(|| DateTime::strptime("%m/%d/%y, %I:%M %p", text).ok()).and_then(in_utc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn price(offer: Value, now: &str) -> (Value, Option<String>) {
        let item = json!({"name": "x", "offers": offer});
        let (priced, next) = priced(&item, at(now));
        (priced["offers"]["price"].clone(), next.map(|next| next.to_string()))
    }

    fn sale() -> Value {
        json!({"price": "20.00", "priceSpecification": [
            {"priceType": LIST_PRICE, "price": "20.00"},
            {"priceType": SALE_PRICE, "price": "15.00", "validFrom": "2026-11-27T00:00-0800", "validThrough": "2026-11-30"}]})
    }

    #[test]
    fn a_sale_counts_while_it_lasts() {
        let next = |text: &str| Some(text.to_owned());
        assert_eq!(price(sale(), "2026-11-26T00:00:00Z"), (json!("20.00"), next("2026-11-27T08:00:00Z")));
        assert_eq!(price(sale(), "2026-11-27T08:00:00Z"), (json!("15.00"), next("2026-12-01T00:00:00Z")));
        assert_eq!(price(sale(), "2026-11-30T23:59:59Z").0, json!("15.00"));
        assert_eq!(price(sale(), "2026-12-01T00:00:00Z"), (json!("20.00"), None));
        let item = json!({"name": "x", "offers": sale()});
        let (after, _) = priced(&item, at("2026-12-01T00:00:00Z"));
        assert!(!after.to_string().contains("15.00") && list_price(&after["offers"]).as_deref() == Some("20.00"));
    }

    #[test]
    fn a_price_that_is_no_longer_good_is_none() {
        let offer = || json!({"price": 15, "priceValidUntil": "2026-11-01"});
        assert_eq!(price(offer(), "2026-11-01T12:00:00Z"), (json!(15), Some("2026-11-02T00:00:00Z".to_owned())));
        assert_eq!(price(offer(), "2026-11-29T00:00:00Z"), (Value::Null, None));
        let listed = json!({"price": 15, "priceValidUntil": "2026-11-01",
            "priceSpecification": {"priceType": "https://schema.org/StrikethroughPrice", "price": 20}});
        assert_eq!(price(listed, "2026-11-29T00:00:00Z").0, json!(20));
    }

    #[test]
    fn what_is_paid_for_something_else_does_not_count() {
        let offer = json!({"price": 15, "validFrom": "2020-01-01", "priceSpecification": [
            {"price": 3, "referenceQuantity": {"value": 100, "unitCode": "GRM"}},
            {"price": 9, "validForMemberTier": {"name": "Gold"}},
            {"@type": "DeliveryChargeSpecification", "price": 1}]});
        assert_eq!(price(offer, "2026-11-29T00:00:00Z").0, json!(15));
    }

    #[test]
    fn variants_have_their_own_sales() {
        let item = json!({"name": "x", "hasVariant": [{"color": "red", "offers": sale()}, {"color": "blue"}]});
        let (priced, _) = priced(&item, at("2026-11-28T00:00:00Z"));
        assert_eq!(priced["hasVariant"][0]["offers"]["price"], "15.00");
        assert_eq!(priced["hasVariant"][1], json!({"color": "blue"}));
    }

    #[test]
    fn what_has_no_dates_is_left_as_it_is() {
        let item = json!({"name": "x", "offers": [{"price": 3}, {"price": 2}]});
        assert!(matches!(priced(&item, at("2026-11-28T00:00:00Z")), (Cow::Borrowed(_), None)));
    }

    #[test]
    fn moments_are_read_as_shops_write_them() {
        for (text, expected) in [
            ("2026-11-27T00:00-0800", "2026-11-27T08:00:00Z"),
            ("2026-11-27T00:00:00-08:00", "2026-11-27T08:00:00Z"),
            ("2026-11-27T10:00Z", "2026-11-27T10:00:00Z"),
            ("2026-11-27", "2026-11-28T00:00:00Z"),
            ("11/27/26", "2026-11-28T00:00:00Z"),
            ("2026-11-27 23:59:59", "2026-11-27T23:59:59Z"),
            ("11/27/26, 12:00 AM", "2026-11-27T00:00:00Z"),
        ] {
            assert_eq!(moment(text, true), Some(at(expected)), "{text}");
        }
        assert!(["", "soon", "2026-13-01", "99/99/99"].iter().all(|text| moment(text, true).is_none()));
    }

    proptest! {
        #[test]
        fn any_dates_are_read(from in "[0-9TZ:/+ -]{0,24}", until in ".{0,24}", price in any::<f64>()) {
            let offer = json!({"price": price, "validFrom": from, "priceValidUntil": until,
                "priceSpecification": [{"price": until, "validThrough": from}]});
            priced(&json!({"name": "x", "offers": [offer]}), at("2026-11-28T00:00:00Z"));
        }
    }
}
