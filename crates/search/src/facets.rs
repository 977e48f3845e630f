//! Properties that people tell items apart by, and how the items of an answer differ in them.

use forecourt_core::Findings;
use forecourt_core::findings::{self, ItemOrder};
use forecourt_index::{Error, Facet, Library, Query};
use forecourt_vocabulary::PropertyTable;

use super::facet_ranges::{self, Grouping};
use super::find::SearchResults;
use super::item_order;
use super::request::SearchRequest;
use crate::limits::FACETS_MAX;

/// Properties that people tell items apart by, with what they are called, and the sentence that asks for one.
const FACETS: [(&str, &str, &str); 14] = [
    ("@type", "kind", "kind"),
    ("suitableForDiet", "diet", "diet"),
    ("recipeCategory", "kind of dish", "dish"),
    ("recipeCuisine", "cuisine", "cuisine"),
    ("genre", "genre", "genre"),
    ("category", "category", "category"),
    ("articleSection", "section", "section"),
    ("brand.name", "brand", "brand"),
    ("brand", "brand", "brand"),
    ("color", "color", "color"),
    ("size", "size", "size"),
    ("location.address.addressLocality", "place", "place"),
    ("educationalLevel", "level", "level"),
    ("keywords", "topic", "topic"),
];
/// Quantities that people narrow down by, with what they are called, and how their values are put together.
const QUANTITIES: [(&str, &str, Grouping); 4] = [
    ("offers.price", "price", Grouping::Ranges),
    ("aggregateRating.ratingValue", "rating", Grouping::Stars),
    ("startDate", "when", Grouping::Months),
    ("datePublished", "year", Grouping::Years),
];
/// Where the currency of prices is.
const CURRENCY: &str = "offers.priceCurrency";
/// The part of the items that has to have a property for it to be told.
const COVERAGE_MIN: f64 = 0.1;

/// The dot paths of all of them.
pub(super) fn fields() -> [&'static str; FACETS.len()] {
    FACETS.map(|(field, _, _)| field)
}

/// The name of a property for people; `kind` for an unknown one.
pub(super) fn label(field: &str) -> &'static str {
    FACETS.iter().find(|(known, ..)| *known == field).map_or("kind", |(_, label, _)| label)
}

/// The sentence that asks for a value of a property.
pub(super) fn question(field: &str) -> &'static str {
    FACETS.iter().find(|(known, ..)| *known == field).map_or("kind", |(_, _, question)| question)
}

/// The property of this name, if it is one of them.
pub(super) fn known(name: &str) -> Option<&'static str> {
    FACETS.iter().find(|(field, ..)| *field == name).map(|(field, ..)| *field)
}

/// How many items fit in all, in how many values were counted, the properties that tell them apart (those that something
/// was chosen of, then the most telling first), and the orders that can be asked for.
pub(super) fn collect(library: &Library, asked: &SearchRequest, found: &SearchResults) -> Result<Findings, Error> {
    let text = if found.unmatched.is_some() { String::new() } else { asked.text.clone() };
    let query = Query { text, filters: found.applied.clone(), ..Query::default() };
    let quantities = QUANTITIES.map(|(field, ..)| field);
    let fields: Vec<&str> = fields().into_iter().chain(quantities).chain([CURRENCY]).collect();
    let counted = library.facets(&query, &fields, 0)?;
    let mut all = counted.facets;
    let currency = all.pop().and_then(|facet| only_value(&facet));
    let of_quantities = all.split_off(all.len().saturating_sub(QUANTITIES.len()));
    let is_stated = |facet: &Facet| facet.items as f64 >= COVERAGE_MIN * counted.counted as f64 && facet.items > 1;
    let orders = orders(of_quantities.iter().filter(|facet| is_stated(facet)).map(|facet| facet.field.as_str()));
    all.extend(of_quantities.into_iter().map(grouped));
    // What was chosen is told even if all have it now, so that it can be left again.
    let is_chosen = |facet: &Facet| asked.named.iter().any(|named| named.name == facet.field);
    let worth = |facet: Facet| match is_chosen(&facet) && !facet.values.is_empty() {
        true => (f64::INFINITY, facet),
        false => (worth(&facet, counted.counted), facet),
    };
    let mut telling: Vec<(f64, Facet)> = all.into_iter().map(worth).collect();
    telling.retain(|(worth, _)| *worth > 0.0);
    telling.sort_by(|a, b| b.0.total_cmp(&a.0));
    let facets = telling.into_iter().take(FACETS_MAX).map(|(_, facet)| named(facet, currency.as_deref())).collect();
    Ok(Findings { total: Some(counted.total), counted: counted.counted, facets, orders, ..Findings::default() })
}

/// The one value that all items have which state a property.
fn only_value(facet: &Facet) -> Option<String> {
    match facet.values.as_slice() {
        [(only, _)] => Some(only.clone()),
        _ => None,
    }
}

/// A quantity with values to click.
fn grouped(facet: Facet) -> Facet {
    let grouping = QUANTITIES.iter().find(|(field, ..)| *field == facet.field).map(|(.., grouping)| *grouping);
    let values = grouping.map(|grouping| facet_ranges::values(grouping, &facet.numbers)).unwrap_or_default();
    Facet { values, ..facet }
}

/// The orders by these quantities.
fn orders<'f>(fields: impl Iterator<Item = &'f str>) -> Vec<ItemOrder> {
    let table = PropertyTable::shipped();
    let fields: Vec<&str> = fields.collect();
    let is_stated = |order: &ItemOrder| {
        let paths = table.paths(item_order::quantity(*order).0);
        paths.iter().any(|path| fields.contains(&path.as_str()))
    };
    ItemOrder::ALL.into_iter().filter(is_stated).collect()
}

/// How many bits of information naming a value gives, weighted by the part of the items that have the property. 0: all
/// have the same value.
fn worth(facet: &Facet, counted: usize) -> f64 {
    let (items, counted) = (facet.items as f64, counted as f64);
    if facet.values.len() < 2 || items < COVERAGE_MIN * counted {
        return 0.0;
    }
    let shares = facet.values.iter().map(|(_, count)| *count as f64 / items);
    // At least a little, so that it is told: `0` means that all have the same value.
    items / counted * shares.map(|share| -share * share.log2()).sum::<f64>().max(f64::EPSILON)
}

fn named(facet: Facet, currency: Option<&str>) -> findings::Facet {
    let quantity = QUANTITIES.iter().find(|(field, ..)| *field == facet.field);
    let is_ranges = quantity.is_some_and(|(.., grouping)| matches!(grouping, Grouping::Ranges | Grouping::Stars));
    let quantity = quantity.map(|(_, label, _)| *label);
    let label = match (quantity, currency) {
        (Some("price"), Some(currency)) => format!("price ({currency})"),
        (Some(label), _) => label.to_owned(),
        (None, _) => label(&facet.field).to_owned(),
    };
    findings::Facet { label, field: facet.field, values: facet.values, is_ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facet(items: usize, counts: &[usize]) -> Facet {
        let values = counts.iter().enumerate().map(|(at, count)| (format!("v{at}"), *count)).collect();
        Facet { field: "genre".to_owned(), items, values, numbers: Vec::new() }
    }

    #[test]
    fn a_property_tells_items_apart_when_enough_have_it_and_differ() {
        assert_eq!(worth(&facet(100, &[100]), 100), 0.0);
        assert_eq!(worth(&facet(9, &[5, 4]), 100), 0.0);
        assert!(worth(&facet(10, &[5, 5]), 100) > 0.0);
        assert!(worth(&facet(100, &[50, 50]), 100) > worth(&facet(100, &[95, 5]), 100));
        assert!(worth(&facet(10, &[10, 10]), 10) > 0.0, "all have both");
        assert_eq!(worth(&facet(0, &[]), 0), 0.0);
    }

    #[test]
    fn quantities_are_grouped_and_give_orders() {
        let numbers = [5.0, 12.0, 30.0, 80.0].map(|price| vec![price]).to_vec();
        let prices = grouped(Facet { field: "offers.price".to_owned(), items: 4, numbers, ..Facet::default() });
        assert!(prices.values.len() > 1, "{prices:?}");
        assert_eq!(named(prices.clone(), Some("EUR")).label, "price (EUR)");
        assert_eq!(named(prices, None).label, "price");
        assert_eq!(orders(["offers.price"].into_iter()), [ItemOrder::Cheapest, ItemOrder::Dearest]);
        assert_eq!(orders(["startDate"].into_iter()), [ItemOrder::Newest, ItemOrder::Earliest]);
        assert!(orders(["x"].into_iter()).is_empty());
    }

    #[test]
    fn every_property_is_known_by_its_name_and_has_a_label() {
        for field in fields() {
            assert_eq!((known(field), label(field).is_empty()), (Some(field), false));
        }
        assert_eq!(known("x"), None);
    }
}
