//! What is paid for a time: what somebody earns, and what something costs each month or hour.

use forecourt_understanding::period::Period;
use forecourt_understanding::{HOURLY_PRICE, MONTHLY_PRICE, YEARLY_PAY};
use serde_json::Value;

use super::derived::{all, amount, price_of};

/// What somebody is paid, the least and the most, for a year. `None` where the item does not say for what time it is.
pub(super) fn pay(item: &Value) -> Option<[(&'static str, f64); 2]> {
    let mut stated = ["baseSalary", "estimatedSalary", "salary"].into_iter().flat_map(|key| all(item, key));
    let (from, to) = stated.find_map(yearly)?;
    Some([(YEARLY_PAY[0], from), (YEARLY_PAY[1], to)])
}

fn yearly(salary: &Value) -> Option<(f64, f64)> {
    // The amount lies in a value of its own, or beside the currency.
    let inner = salary.get("value").filter(|value| value.is_object()).unwrap_or(salary);
    let (period, many) = period(inner).or_else(|| period(salary))?;
    let times = period.in_year() / many;
    let end = |key: &str| amount(inner.get(key)?);
    let (from, to, value) = (end("minValue"), end("maxValue"), end("value").or_else(|| end("median")));
    let from = from.or(value).or(to)?;
    let to = to.or(value).unwrap_or(from);
    (from <= to).then_some((from * times, to * times))
}

/// What something costs each month, or each hour, by the unit of its price.
pub(super) fn price_of_time(item: &Value) -> Option<(&'static str, f64)> {
    let found = all(item, "offers").find_map(|offer| {
        let of = |specified: &Value| Some((period(specified)?, price_of(specified)));
        let found = all(offer, "priceSpecification").find_map(of).or_else(|| Some((period(offer)?, None)));
        let ((period, many), own) = found?;
        let price = own.or_else(|| price_of(offer))? / many;
        Some((period, price))
    });
    let (period, price) = found.or_else(|| all(item, "priceRange").find_map(|range| least(range.as_str()?)))?;
    Some(period.in_month().map_or((HOURLY_PRICE, price), |times| (MONTHLY_PRICE, price * times)))
}

/// Bytes of a range of prices that is read.
const RANGE_BYTES_MAX: usize = 80;

/// The time and the least price of a text such as "£135–£210 per night".
fn least(range: &str) -> Option<(Period, f64)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = range.find(is_digit).filter(|_| range.len() <= RANGE_BYTES_MAX)?;
    let number = &range[first..];
    let end = number.find(|c: char| !is_digit(c) && !matches!(c, '.' | ',')).unwrap_or(number.len());
    let last = range.rfind(is_digit)?;
    let time = range[last + 1..].trim_start_matches(|c: char| !c.is_alphabetic() && c != '/');
    Some((Period::of_text(time)?, amount(&Value::from(number[..end].trim_end_matches(['.', ','])))?))
}

/// The time that an amount is for, by its unit, or that of the quantity that it is for, and how many of it.
fn period(value: &Value) -> Option<(Period, f64)> {
    let of =
        |value: &Value| ["unitText", "unitCode"].iter().find_map(|key| Period::of_text(value.get(*key)?.as_str()?));
    if let Some(own) = of(value) {
        return Some((own, 1.0));
    }
    let reference = value.get("referenceQuantity")?;
    let many = reference.get("value").and_then(amount).filter(|many| *many > 0.0);
    Some((of(reference)?, many.unwrap_or(1.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn pay_is_kept_for_a_year_where_it_says_for_what_time_it_is() {
        let of = |salary: Value| pay(&json!({"baseSalary": salary})).map(|[(_, from), (_, to)]| (from, to));
        for (salary, found) in [
            (
                json!({"value": {"unitText": "MONTH", "minValue": 3_000, "maxValue": "3,500"}}),
                Some((36_000.0, 42_000.0)),
            ),
            (json!({"value": {"unitText": "HOUR", "value": 20}}), Some((41_600.0, 41_600.0))),
            (json!({"unitText": "YEAR", "value": 50_000}), Some((50_000.0, 50_000.0))),
            (json!({"unitText": "WEEK", "value": {"minValue": 500}}), Some((26_000.0, 26_000.0))),
            (json!([{"value": {"unitCode": "ANN", "maxValue": 9}}]), Some((9.0, 9.0))),
            (json!({"value": {"value": 3_000}}), None),
            (json!({"value": {"unitText": "MONTH", "value": "by agreement"}}), None),
            (json!(3_000), None),
        ] {
            assert_eq!(of(salary.clone()), found, "{salary}");
        }
    }

    #[test]
    fn a_price_for_a_time_is_kept_for_a_month_or_an_hour() {
        let of = |offers: Value| price_of_time(&json!({"offers": offers}));
        let specified = |unit: &str| json!({"price": 1_200, "priceSpecification": {"price": 1_200, "unitText": unit}});
        assert_eq!(of(specified("MONTH")), Some((MONTHLY_PRICE, 1_200.0)));
        assert_eq!(of(specified("YEAR")), Some((MONTHLY_PRICE, 100.0)));
        assert_eq!(of(specified("HOUR")), Some((HOURLY_PRICE, 1_200.0)));
        assert_eq!(of(specified("piece")), None);
        let reference = json!([{"price": "50", "priceSpecification": [{"referenceQuantity": {"unitCode": "HUR"}}]}]);
        assert_eq!(of(reference), Some((HOURLY_PRICE, 50.0)));
        let quarter = json!({"price": 90, "referenceQuantity": {"value": 3, "unitCode": "MON"}});
        assert_eq!(of(json!({"price": 90, "priceSpecification": quarter})), Some((MONTHLY_PRICE, 30.0)));
        let ranged = |text: &str| price_of_time(&json!({"priceRange": text}));
        let nightly = |price: f64| Period::Night.in_month().map(|times| (MONTHLY_PRICE, price * times));
        assert_eq!((ranged("£135–£210 per night"), ranged("90 € pro Nacht")), (nightly(135.0), nightly(90.0)));
        assert_eq!((ranged("€€"), ranged("10–20 € per person"), ranged("from 9")), (None, None, None));
        let long = |bytes: usize| format!("9 {}a month", " ".repeat(bytes - 9));
        assert!(ranged(&long(RANGE_BYTES_MAX)).is_some() && ranged(&long(RANGE_BYTES_MAX + 1)).is_none());
        let nothing = json!({"price": 90, "referenceQuantity": {"value": 0, "unitCode": "MON"}});
        assert_eq!(of(json!({"priceSpecification": nothing})), Some((MONTHLY_PRICE, 90.0)));
    }

    proptest! {
        #[test]
        fn any_amounts_are_numbers_or_none(amount in any::<String>(), number in any::<f64>(), unit in "(HOUR|MONTH|x)?") {
            for value in [json!(amount), json!(number)] {
                let item = json!({"baseSalary": {"value": {"value": value, "unitText": unit}},
                    "offers": {"price": value, "unitText": unit}});
                prop_assert!(pay(&item).into_iter().flatten().all(|(_, yearly)| !yearly.is_nan()));
                prop_assert!(price_of_time(&item).is_none_or(|(_, price)| !price.is_nan()));
            }
        }
    }
}
