//! Properties that people tell items apart by, and how the items of an answer differ in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use forecourt_core::Findings;
use forecourt_core::findings::{self, ItemOrder};
use forecourt_index::limits::FACET_VALUES_MAX;
use forecourt_index::{Error, Facet, Library, Query};
use forecourt_sentences::Sentences;
use forecourt_vocabulary::PropertyTable;

use super::facet_ranges::{self, Grouping};
use super::find::SearchResults;
use super::item_order;
use super::request::SearchRequest;
use crate::limits::FACETS_MAX;

/// Properties that people tell items apart by, with what sentences know them by: [`Sentences::facet`] and
/// [`Sentences::which`].
const FACETS: [(&str, &str); 14] = [
    ("@type", KIND),
    ("suitableForDiet", "diet"),
    ("recipeCategory", "dish"),
    ("recipeCuisine", "cuisine"),
    ("genre", "genre"),
    ("category", "category"),
    ("articleSection", "section"),
    ("brand.name", "brand"),
    ("brand", "brand"),
    ("color", "color"),
    ("size", "size"),
    ("location.address.addressLocality", "place"),
    ("educationalLevel", "level"),
    ("keywords", "topic"),
];
/// Stands for a property that none of them is.
const KIND: &str = "kind";
/// Quantities that people narrow down by, with what sentences know them by, and how their values are put together.
const QUANTITIES: [(&str, &str, Grouping); 4] = [
    (PRICE, "price", Grouping::Ranges),
    ("aggregateRating.ratingValue", "rating", Grouping::Stars),
    ("startDate", "when", Grouping::Months),
    ("datePublished", "year", Grouping::Years),
];
/// The quantity that has a currency.
const PRICE: &str = "offers.price";
/// Paths that say the same of an item, that by which it is told first: what makes a thing may be a name or something with
/// one.
const SAME: [[&str; 2]; 1] = [["brand", "brand.name"]];
/// Where the currency of prices is.
const CURRENCY: &str = "offers.priceCurrency";
/// The part of the items that has to have a property for it to be told.
const COVERAGE_MIN: f64 = 0.1;

/// The dot paths of all of them.
pub(super) fn fields() -> [&'static str; FACETS.len()] {
    FACETS.map(|(field, _)| field)
}

/// What sentences know a property by.
pub(super) fn name(field: &str) -> &'static str {
    let quantities = QUANTITIES.iter().map(|(field, name, _)| (field, name));
    let mut all = FACETS.iter().map(|(field, name)| (field, name)).chain(quantities);
    all.find(|(known, _)| **known == field).map_or(KIND, |(_, name)| name)
}

/// The paths that say the same as this one, itself among them.
pub(super) fn same(field: &str) -> Vec<String> {
    let same = SAME.iter().find(|same| same.contains(&field));
    same.map_or_else(|| vec![field.to_owned()], |same| same.map(str::to_owned).to_vec())
}

/// The property of this name, if it is one of them.
pub(super) fn known(name: &str) -> Option<&'static str> {
    FACETS.iter().find(|(field, ..)| *field == name).map(|(field, ..)| *field)
}

/// How many items fit in all, in how many values were counted, the properties that tell them apart (those that something
/// was chosen of, then the most telling first), and the orders that can be asked for.
pub(super) fn collect(
    library: &Library,
    asked: &SearchRequest,
    found: &SearchResults,
    say: Sentences,
) -> Result<Findings, Error> {
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
    let is_named = |field: &str| asked.named.iter().any(|named| named.name == field);
    let all = joined(all, is_named);
    // What was chosen is told even if all have it now, so that it can be left again.
    let is_chosen = |facet: &Facet| is_named(&facet.field);
    let worth = |facet: Facet| match is_chosen(&facet) && !facet.values.is_empty() {
        true => (f64::INFINITY, facet),
        false => (worth(&facet, counted.counted), facet),
    };
    let mut telling: Vec<(f64, Facet)> = all.into_iter().map(worth).collect();
    telling.retain(|(worth, _)| *worth > 0.0);
    telling.sort_by(|a, b| b.0.total_cmp(&a.0));
    let facets =
        telling.into_iter().take(FACETS_MAX).map(|(_, facet)| named(facet, currency.as_deref(), say)).collect();
    Ok(Findings { total: Some(counted.total), counted: counted.counted, facets, orders, ..Findings::default() })
}

/// Facets of which no two say the same of an item. `is_named`: whether something was chosen by a path, by which it can be
/// left again.
pub(super) fn joined(mut facets: Vec<Facet>, is_named: impl Fn(&str) -> bool) -> Vec<Facet> {
    for same in SAME {
        let told = same.into_iter().find(|path| is_named(path)).unwrap_or(same[0]);
        let (found, others): (Vec<Facet>, Vec<Facet>) =
            facets.into_iter().partition(|facet| same.contains(&facet.field.as_str()));
        let items = found.iter().map(|facet| facet.items).sum();
        let mut counts = BTreeMap::<String, usize>::new();
        found
            .into_iter()
            .flat_map(|facet| facet.values)
            .for_each(|(value, count)| *counts.entry(value).or_default() += count);
        let mut values: Vec<(String, usize)> = counts.into_iter().collect();
        values.sort_by_key(|(_, count)| Reverse(*count));
        values.truncate(FACET_VALUES_MAX);
        facets = others;
        facets.push(Facet { field: told.to_owned(), items, values, ..Facet::default() });
    }
    facets
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

/// A property as it is told, in the language of the answer. Of a price the currency is said, where all have one.
fn named(facet: Facet, currency: Option<&str>, say: Sentences) -> findings::Facet {
    let quantity = QUANTITIES.iter().find(|(field, ..)| *field == facet.field);
    let is_ranges = quantity.is_some_and(|(.., grouping)| matches!(grouping, Grouping::Ranges | Grouping::Stars));
    let name = name(&facet.field);
    let label = say.facet(name).unwrap_or_else(|| name.to_owned());
    let label = match currency.filter(|_| facet.field == PRICE) {
        Some(currency) => format!("{label} ({currency})"),
        None => label,
    };
    findings::Facet { label, field: facet.field, values: facet.values, is_ranges }
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;

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
        let label = |currency, language| named(prices.clone(), currency, Sentences::in_language(language)).label;
        assert_eq!(label(Some("EUR"), SpokenLanguage::English), "price (EUR)");
        assert_eq!(label(None, SpokenLanguage::German), "Preis");
        assert_eq!(orders(["offers.price"].into_iter()), [ItemOrder::Cheapest, ItemOrder::Dearest]);
        assert_eq!(orders(["startDate"].into_iter()), [ItemOrder::Newest, ItemOrder::Earliest]);
        assert!(orders(["x"].into_iter()).is_empty());
    }

    #[test]
    fn two_paths_that_say_the_same_are_one_property() {
        let brand = |field: &str, values: &[(&str, usize)]| {
            let values = values.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect();
            Facet { field: field.to_owned(), items: 3, values, ..Facet::default() }
        };
        let both =
            || vec![brand("brand.name", &[("Alder", 2), ("Birk", 1)]), brand("brand", &[("Birk", 2), ("Cole", 1)])];
        let told = |chosen: &str| {
            let facets = joined(both(), |field| field == chosen);
            assert_eq!((facets.len(), facets[0].items), (1, 6));
            let values: Vec<String> =
                facets[0].values.iter().map(|(value, count)| format!("{value} {count}")).collect();
            (facets[0].field.clone(), values.join(", "))
        };
        assert_eq!(told(""), ("brand".to_owned(), "Birk 3, Alder 2, Cole 1".to_owned()));
        assert_eq!(told("brand.name").0, "brand.name", "what was chosen by it can be left");
        assert_eq!((same("brand"), same("genre")), (same("brand.name"), vec!["genre".to_owned()]));
    }

    #[test]
    fn every_property_is_known_by_its_name_and_has_a_label() {
        for field in fields() {
            assert_eq!(known(field), Some(field));
        }
        for field in fields().into_iter().chain(QUANTITIES.map(|(field, ..)| field)) {
            for language in SpokenLanguage::ALL {
                assert!(Sentences::in_language(language).facet(name(field)).is_some(), "{field} {language:?}");
            }
        }
        assert_eq!(name("x"), KIND);
        assert_eq!(known("x"), None);
    }
}
