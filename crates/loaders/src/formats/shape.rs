//! What schema.org lets people write in several ways, brought to one: names of what has none of its own,
//! answers of questions as their text, offers with the lowest price first and availability by its one name.

use serde_json::{Map, Value};

use super::cell::price;
use super::html::plain_text;
use crate::item;
use crate::opening_hours::opening_hours;
use crate::prices::{is_dated, is_listed, sort_offers};

/// What shops call it, and what schema.org does.
const AVAILABILITY: &[(&str, &[&str])] = &[
    (
        "InStock",
        &[
            "instock",
            "available",
            "yes",
            "true",
            "onstock",
            "auflager",
            "verfügbar",
            "lieferbar",
            "sofortlieferbar",
            "enstock",
            "disponible",
            "ja",
            "oui",
            "si",
            "sí",
            "limitedstock",
        ],
    ),
    (
        "OutOfStock",
        &[
            "outofstock",
            "soldout",
            "unavailable",
            "no",
            "false",
            "notavailable",
            "ausverkauft",
            "vergriffen",
            "nichtverfügbar",
            "nichtlieferbar",
            "épuisé",
            "rupturedestock",
            "agotado",
            "nein",
            "non",
        ],
    ),
    ("PreOrder", &["preorder", "vorbestellbar", "précommande"]),
    ("BackOrder", &["backorder", "onbackorder", "nachbestellt"]),
    ("Discontinued", &["discontinued", "eingestellt"]),
    ("LimitedAvailability", &["limitedavailability"]),
    ("InStoreOnly", &["instoreonly"]),
    ("OnlineOnly", &["onlineonly"]),
    ("PreSale", &["presale"]),
];
/// Where the values of availability begin.
const SCHEMA: &str = "https://schema.org/";
/// Offers of one item that are put in order.
const OFFERS_MAX: usize = 1_000;

/// The item in the one way that is read. `None` when it is written so already.
pub(super) fn shaped(item: &Value) -> Option<Value> {
    let mut changes = Map::new();
    if item::name(item).is_none()
        && let Some(name) = name_of(item)
    {
        changes.insert("name".to_owned(), name.into());
    }
    if item::prose(item).is_none()
        && let Some(answer) = answer(item)
    {
        changes.insert("text".to_owned(), answer.into());
    }
    if let Some(hours) = item.get("openingHoursSpecification").filter(|_| item.get("openingHours").is_none()) {
        let hours = opening_hours(hours);
        if !hours.is_empty() {
            changes.insert("openingHours".to_owned(), hours.into());
        }
    }
    if let Some(offers) = item.get("offers").and_then(offers) {
        changes.insert("offers".to_owned(), offers);
    }
    if let Some(variants) = item.get("hasVariant").and_then(variants) {
        changes.insert("hasVariant".to_owned(), variants);
    }
    if changes.is_empty() {
        return None;
    }
    let mut shaped = item.as_object()?.clone();
    shaped.extend(changes);
    Some(Value::Object(shaped))
}

/// The name of what is about something else, such as a review.
fn name_of(item: &Value) -> Option<String> {
    let about = ["itemReviewed", "about", "item"].iter().find_map(|key| item.get(*key));
    about.and_then(item::name).map(str::to_owned)
}

/// The answers of a question in plain words, the accepted one alone if there is one.
fn answer(item: &Value) -> Option<String> {
    let answers = item.get("acceptedAnswer").or_else(|| item.get("suggestedAnswer"))?;
    let answers = answers.as_array().map_or(std::slice::from_ref(answers), Vec::as_slice);
    let text = |answer: &Value| {
        let text = answer.as_str().or_else(|| answer.get("text")?.as_str())?;
        Some(plain_text(text)).filter(|text| !text.is_empty())
    };
    let texts: Vec<String> = answers.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Variants as they are read: a list of products with offers. `None` when they are so already.
fn variants(variants: &Value) -> Option<Value> {
    let all = variants.as_array().map_or(std::slice::from_ref(variants), Vec::as_slice);
    let read: Vec<Option<Value>> = all.iter().map(|variant| offers(variant.get("offers")?)).collect();
    if variants.is_array() && read.iter().all(Option::is_none) {
        return None;
    }
    let each = all.iter().zip(read).map(|(variant, offers)| {
        let mut variant = variant.clone();
        if let Some((fields, offers)) = variant.as_object_mut().zip(offers) {
            fields.insert("offers".to_owned(), offers);
        }
        variant
    });
    Some(each.collect())
}

/// Offers as they are read. `None` when they are so already.
fn offers(offers: &Value) -> Option<Value> {
    match offers {
        Value::Array(all) if all.len() <= OFFERS_MAX => {
            let read: Vec<Value> = all.iter().map(|one| offer(one).unwrap_or_else(|| one.clone())).collect();
            let mut sorted = read.clone();
            sort_offers(&mut sorted);
            (sorted != *all).then_some(Value::Array(sorted))
        }
        one => offer(one),
    }
}

fn offer(offer: &Value) -> Option<Value> {
    let mut read = offer.as_object()?.clone();
    if let Some(Value::String(said)) = read.get_mut("availability")
        && let Some(known) = availability(said)
    {
        *said = known;
    }
    let inner = |key: &str| offer.get("priceSpecification").and_then(|inner| said_first(inner).get(key)).cloned();
    if !read.contains_key("price") {
        let lowest = read.get("lowPrice").cloned().or_else(|| inner("price"));
        read.extend(lowest.map(|lowest| ("price".to_owned(), lowest)));
    }
    if !read.contains_key("priceCurrency") {
        read.extend(inner("priceCurrency").map(|currency| ("priceCurrency".to_owned(), currency)));
    }
    if let Some(Value::String(text)) = read.get("price").filter(|price| !is_plain(price))
        && let Some(price) = price(text, '.')
    {
        read.insert("price".to_owned(), price.amount.into());
        if let Some(currency) = price.currency {
            read.entry("priceCurrency").or_insert_with(|| currency.into());
        }
    }
    // What is no number is no price; it stays as what the offer says.
    if let Some(text) = read.get("price").and_then(Value::as_str).filter(|text| !is_number(text)).map(str::to_owned) {
        read.remove("price");
        if !text.trim().is_empty() {
            read.entry("description").or_insert_with(|| text.into());
        }
    }
    (read != *offer.as_object()?).then_some(Value::Object(read))
}

/// Of several price specifications the one that is paid now: neither the price of before nor one that has dates, which
/// counts in its time alone.
fn said_first(specifications: &Value) -> &Value {
    let Value::Array(all) = specifications else {
        return if is_dated(specifications) { &Value::Null } else { specifications };
    };
    let undated = || all.iter().filter(|one| !is_dated(one));
    undated().find(|one| !is_listed(one)).or_else(|| undated().next()).unwrap_or(&Value::Null)
}

/// The text of an offer's price that is none.
pub(super) fn unreadable_price(item: &Value) -> Option<&str> {
    let offers = item.get("offers")?;
    let offers = offers.as_array().map_or(std::slice::from_ref(offers), Vec::as_slice);
    offers
        .iter()
        .filter_map(|offer| offer.get("price")?.as_str())
        .find(|text| !text.trim().is_empty() && !is_number(text) && price(text, '.').is_none())
}

fn is_number(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_plain(price: &Value) -> bool {
    price.as_str().is_none_or(is_number)
}

/// The one name of an availability.
pub(super) fn availability(said: &str) -> Option<String> {
    let own = said.rsplit(['/', '#', ':']).next().unwrap_or(said);
    let folded: String = own.to_lowercase().chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-')).collect();
    let known = AVAILABILITY.iter().find(|(_, names)| names.contains(&folded.as_str()))?;
    Some(format!("{SCHEMA}{}", known.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_lowest_price_that_can_be_had_comes_first() {
        let product = json!({"name": "Lamp", "offers": [
            {"price": "30", "availability": "http://schema.org/InStock"},
            {"price": 10, "availability": "sold out"},
            {"price": "1.020,50 €"}, {"price": 20}]});
        let offers = shaped(&product).unwrap()["offers"].clone();
        let prices: Vec<&Value> = offers.as_array().unwrap().iter().map(|offer| &offer["price"]).collect();
        assert_eq!(prices, [&json!(20), &json!("30"), &json!("1020.50"), &json!(10)]);
        assert_eq!(offers[3]["availability"], "https://schema.org/OutOfStock");
        assert_eq!(offers[2]["priceCurrency"], "EUR");
        assert_eq!(
            shaped(&json!({"name": "x", "offers": {"price": "9.50", "availability": "https://schema.org/InStock"}})),
            None
        );
    }

    #[test]
    fn aggregates_have_a_price() {
        let shaped = |offers: Value| shaped(&json!({"name": "x", "offers": offers})).unwrap()["offers"].clone();
        assert_eq!(shaped(json!({"@type": "AggregateOffer", "lowPrice": 5, "highPrice": 9}))["price"], 5);
        let inner = json!({"priceSpecification": {"price": "7.00", "priceCurrency": "USD"}});
        assert_eq!((&shaped(inner.clone())["price"], &shaped(inner)["priceCurrency"]), (&json!("7.00"), &json!("USD")));
    }

    #[test]
    fn opening_hours_can_be_read() {
        let shop = json!({"name": "Shop", "openingHoursSpecification": {"dayOfWeek": "Monday", "opens": "09:00", "closes": "17:00"}});
        assert_eq!(shaped(&shop).unwrap()["openingHours"], json!(["Mo 09:00-17:00"]));
    }

    #[test]
    fn reviews_are_called_by_what_they_review() {
        let review =
            json!({"@type": "Review", "itemReviewed": {"@type": "Book", "name": "Emma"}, "reviewBody": "Good."});
        assert_eq!(shaped(&review).unwrap()["name"], "Emma");
        assert_eq!(shaped(&json!({"@type": "Review", "name": "My view", "itemReviewed": {"name": "Emma"}})), None);
    }
}
