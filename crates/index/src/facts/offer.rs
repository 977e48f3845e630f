//! For what something is offered: for rent, or for sale.

use forecourt_loaders::item::type_name;
use forecourt_understanding::{FOR_RENT, FOR_SALE, HOMES};
use forecourt_vocabulary::folded;
use serde_json::Value;

use super::derived::{all, is_of, text};
use super::money::price_of_time;

/// What business functions and actions are called that let something, in lower case.
const LETS: &[&str] = &["leaseout", "rent", "rentaction", "lease"];
/// The same of what sells it.
const SELLS: &[&str] = &["sell", "sellaction", "buyaction"];
/// How texts say that something is let, in lower case.
const SAYS_LET: &[&str] = &[
    "for rent",
    "to rent",
    "to let",
    "for lease",
    "zu vermieten",
    "zur miete",
    "mietwohnung",
    "à louer",
    "en location",
    "en alquiler",
    "se alquila",
];
/// The same of what is sold.
const SAYS_SOLD: &[&str] = &[
    "for sale",
    "zu verkaufen",
    "zum verkauf",
    "zum kauf",
    "eigentumswohnung",
    "à vendre",
    "en vente",
    "en venta",
    "se vende",
];
/// Words by which the name of an offer says that it is for those who pay less than others, folded.
const REDUCED: &[&str] = &[
    "child",
    "children",
    "kid",
    "kids",
    "junior",
    "juniors",
    "youth",
    "student",
    "students",
    "senior",
    "seniors",
    "concession",
    "concessions",
    "reduced",
    "kind",
    "kinder",
    "jugendliche",
    "schuler",
    "studierende",
    "studenten",
    "senioren",
    "ermassigt",
    "ermassigter",
    "ermaßigt",
    "enfant",
    "enfants",
    "etudiant",
    "etudiants",
    "jeunes",
    "reduit",
    "reduite",
    "nino",
    "ninos",
    "infantil",
    "estudiante",
    "estudiantes",
    "jubilados",
    "reducido",
    "reducida",
];
/// What of an offer says how much it is.
const PRICES: [&str; 4] = ["price", "minPrice", "maxPrice", "priceSpecification"];
/// Names of properties of a site's own that hold such a text, as `rent` or `zur Miete`, in lower case.
const NAMED: &[&str] =
    &["offer type", "listing type", "offertype", "listingtype", "angebotsart", "transaction", "operación"];

/// What an item says of it: its offers and actions, else how long it is let, else its category, its name, and properties of
/// its own. An offer with a price and nothing else is one of sale: GoodRelations says so.
pub(super) fn offered(item: &Value) -> Vec<&'static str> {
    let stated = one_by_one(item);
    if !stated.is_empty() {
        return stated;
    }
    said(item).or_else(|| is_sold(item).then_some(FOR_SALE)).into_iter().collect()
}

/// What the offers say, each once: what is sold may be let, too.
fn one_by_one(item: &Value) -> Vec<&'static str> {
    let functions: Vec<Option<&'static str>> =
        all(item, "offers").map(|offer| by_function(offer.get("businessFunction")?)).collect();
    if functions.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut found: Vec<&'static str> = functions.into_iter().map(|function| function.unwrap_or(FOR_SALE)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// An item that is sold and let, with the offers of sale alone.
pub(super) fn without_rents(item: &Value) -> Option<Value> {
    let offers = item.get("offers")?.as_array()?;
    let lets = |offer: &&Value| offer.get("businessFunction").and_then(by_function) == Some(FOR_RENT);
    let sold: Vec<Value> = offers.iter().filter(|offer| !lets(offer)).cloned().collect();
    if sold.is_empty() || sold.len() == offers.len() {
        return None;
    }
    let mut item = item.clone();
    item["offers"] = Value::Array(sold);
    Some(item)
}

/// An item with the prices that everybody pays alone, where others have offers of their own: a museum that is free for
/// children is not free.
pub(super) fn without_reductions(item: &Value) -> Option<Value> {
    let offers = item.get("offers")?.as_array()?;
    let is_full = |offer: &Value| !is_reduced(offer) && PRICES.iter().any(|key| offer.get(key).is_some());
    if !offers.iter().any(is_reduced) || !offers.iter().any(is_full) {
        return None;
    }
    let mut item = item.clone();
    let offers = item.get_mut("offers").and_then(Value::as_array_mut).into_iter().flatten();
    for fields in offers.filter(|offer| is_reduced(offer)).filter_map(Value::as_object_mut) {
        fields.retain(|key, _| !PRICES.contains(&key.as_str()));
    }
    Some(item)
}

/// Whether an offer is by its name for those who pay less than others.
fn is_reduced(offer: &Value) -> bool {
    let name = offer.get("name").and_then(Value::as_str).map(folded).unwrap_or_default();
    name.split(|c: char| !c.is_alphanumeric()).any(|word| REDUCED.contains(&word))
}

/// Whether an item has an offer with a price that is paid once. A home may be let for it, and says so or does not.
fn is_sold(item: &Value) -> bool {
    let is_home = is_of(item, |kind| HOMES.contains(&kind.to_lowercase().as_str()));
    let is_paid_once = |offer: &Value| offer.get("price").is_some() || offer.get("priceSpecification").is_some();
    !is_home && price_of_time(item).is_none() && all(item, "offers").any(is_paid_once)
}

/// What an item says beside its offers.
fn said(item: &Value) -> Option<&'static str> {
    let acted = all(item, "potentialAction").find_map(|action| by_function(action.get("@type")?));
    let let_for = || {
        let is_let =
            item.get("leaseLength").is_some() || all(item, "offers").any(|offer| offer.get("leaseLength").is_some());
        is_let.then_some(FOR_RENT)
    };
    let said = || ["category", "name"].iter().find_map(|key| by_text(text(item, key)?));
    acted.or_else(let_for).or_else(|| own(item)).or_else(said)
}

fn by_function(function: &Value) -> Option<&'static str> {
    let name = type_name(function.as_str()?).to_lowercase();
    let name = name.rsplit('#').next().unwrap_or(&name);
    let is = |names: &[&str]| names.contains(&name);
    if is(LETS) { Some(FOR_RENT) } else { is(SELLS).then_some(FOR_SALE) }
}

fn by_text(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    match (says(SAYS_LET), says(SAYS_SOLD)) {
        (true, false) => Some(FOR_RENT),
        (false, true) => Some(FOR_SALE),
        _ => None,
    }
}

fn own(item: &Value) -> Option<&'static str> {
    all(item, "additionalProperty").find_map(|one| {
        let name = one.get("name")?.as_str()?.to_lowercase();
        let value = one.get("value")?;
        NAMED.contains(&name.as_str()).then(|| by_function(value).or_else(|| by_text(value.as_str()?))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_some_pay_less_is_no_price_where_others_pay_more() {
        let offer = |name: &str, price: f64| json!({"name": name, "price": price});
        for (full, reduced) in [
            ("Adult", "Child (5-15)"),
            ("Normalpreis", "Ermäßigt (Schüler, Rentner)"),
            ("Plein tarif", "Tarif réduit"),
            ("General", "Niños hasta 12 años"),
        ] {
            let prices = |offers: Vec<Value>| {
                let item = without_reductions(&json!({"offers": offers}))?;
                Some(all(&item, "offers").filter_map(|offer| offer["price"].as_f64()).collect::<Vec<_>>())
            };
            assert_eq!(prices(vec![offer(full, 12.0), offer(reduced, 0.0)]), Some(vec![12.0]), "{reduced}");
            assert_eq!(prices(vec![offer(reduced, 7.0)]), None, "{reduced}: nothing else can be had");
            assert_eq!(prices(vec![offer(full, 12.0), offer("Evening", 9.0)]), None);
        }
    }

    #[test]
    fn items_say_in_many_ways_for_what_they_are_offered() {
        for (item, found) in [
            (json!({"offers": {"businessFunction": "http://purl.org/goodrelations/v1#LeaseOut"}}), Some(FOR_RENT)),
            (json!({"offers": [{"businessFunction": "http://purl.org/goodrelations/v1#Sell"}]}), Some(FOR_SALE)),
            (json!({"potentialAction": {"@type": "RentAction"}}), Some(FOR_RENT)),
            (json!({"potentialAction": [{"@type": "ViewAction"}, {"@type": "SellAction"}]}), Some(FOR_SALE)),
            (json!({"leaseLength": "P1Y"}), Some(FOR_RENT)),
            (json!({"additionalProperty": [{"name": "Listing type", "value": "Rent"}]}), Some(FOR_RENT)),
            (json!({"category": "Häuser zum Kauf"}), Some(FOR_SALE)),
            (json!({"name": "Maison à louer"}), Some(FOR_RENT)),
            (json!({"name": "For sale or for rent"}), None),
            (json!({"@type": "Apartment", "name": "Flat", "offers": {"price": 650}}), None),
            (json!({"name": "Saw", "offers": {"price": 650}}), Some(FOR_SALE)),
            (json!({"name": "Saw", "offers": {"price": 9, "unitText": "DAY"}}), None),
            (json!({"name": ["Flat"], "offers": "x", "category": 7}), None),
        ] {
            assert_eq!(offered(&item), found.into_iter().collect::<Vec<_>>(), "{item}");
        }
    }
}
