//! A product or one of its variants as it is put together from cells.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cells::PriceCell;
use super::{Scope, choices};
use crate::formats::html::plain_text;
use crate::formats::notes::NO_PRICE;
use crate::formats::shape::availability;
use crate::formats::{cell, paths};
use crate::limits::PATH_LEVELS_MAX;
use crate::prices::{LIST_PRICE, SALE_PRICE};

/// The days from and through which a price is one.
pub(super) type Period = (Option<String>, Option<String>);

/// A product, or a variant of one.
#[derive(Debug, Default, Clone)]
pub(super) struct ProductDraft {
    fields: Map<String, Value>,
    offer: Map<String, Value>,
}

impl ProductDraft {
    /// Puts a text, if there is one. What comes twice is a list.
    pub(super) fn put(&mut self, property: &str, text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.put_value(property, Some(text.into()));
        }
    }

    /// Puts a value, if there is one.
    pub(super) fn put_value(&mut self, property: &str, value: Option<Value>) {
        let Some(value) = value else { return };
        match self.fields.get_mut(property) {
            None => drop(self.fields.insert(property.to_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(before) => *before = Value::Array(vec![before.take(), value]),
        }
    }

    /// Puts prose that may be HTML.
    pub(super) fn put_prose(&mut self, property: &str, html: Option<String>) {
        self.put(property, html.map(|html| plain_text(&html)));
    }

    /// Puts something of the offer.
    pub(super) fn put_offer(&mut self, property: &str, value: Option<Value>) {
        self.offer.extend(value.map(|value| (property.to_owned(), value)));
    }

    /// Puts how much of it there is, and whether it can be had.
    pub(super) fn put_stock(&mut self, can_be_had: Option<bool>, pieces: Option<&str>) {
        let pieces = pieces.and_then(|pieces| pieces.trim().parse::<f64>().ok()).filter(|pieces| pieces.is_finite());
        if let Some(pieces) = pieces {
            self.put_offer("inventoryLevel", Some(json!({"@type": "QuantitativeValue", "value": pieces})));
        }
        let said = can_be_had.map(|can| if can { "InStock" } else { "OutOfStock" });
        self.put_availability(said.map(str::to_owned));
    }

    /// Puts whether it can be had, as the shop calls it.
    pub(super) fn put_availability(&mut self, said: Option<String>) {
        let Some(said) = said else { return };
        let known = availability(&said).unwrap_or(said);
        self.put_offer("availability", Some(known.into()));
    }

    /// Puts for whom it is.
    pub(super) fn put_audience(&mut self, gender: Option<String>, age_group: Option<String>) {
        let gender = gender.map(|gender| gender.to_lowercase()).filter(|gender| gender != "unisex");
        let age_group = age_group.map(|group| group.to_lowercase());
        if gender.is_none() && age_group.is_none() {
            return;
        }
        let mut audience = Map::from_iter([("@type".to_owned(), Value::from("PeopleAudience"))]);
        audience.extend(gender.map(|gender| ("suggestedGender".to_owned(), gender.into())));
        audience.extend(age_group.map(|group| ("audienceType".to_owned(), group.into())));
        self.put_value("audience", Some(Value::Object(audience)));
    }

    /// Puts what a variant is chosen by: a property of schema.org where it is one.
    pub(super) fn put_choice(&mut self, said: &str, value: &str) {
        match choices::property(said) {
            Some(property) => self.put(property, Some(value.to_owned())),
            None => self.put_additional(said, value),
        }
    }

    /// Puts what nobody here knows, under the shop's own name for it.
    pub(super) fn put_additional(&mut self, name: &str, value: &str) {
        let property = json!({"@type": "PropertyValue", "name": bare_name(name), "value": value});
        match self.fields.get_mut("additionalProperty").and_then(Value::as_array_mut) {
            Some(properties) => properties.push(property),
            None => drop(self.fields.insert("additionalProperty".to_owned(), json!([property]))),
        }
    }

    /// Puts all of these.
    pub(super) fn put_all_additional(&mut self, cells: Vec<(String, String)>) {
        cells.iter().for_each(|(name, value)| self.put_additional(name, value));
    }

    /// Puts the usual price and, if there is one, that of a sale, which counts in its period alone. What is no number
    /// is told, and kept as what the offer says.
    pub(super) fn put_prices(&mut self, usual: PriceCell, sale: PriceCell, period: Period, scope: &mut Scope<'_>) {
        let usual = usual.and_then(|(column, text)| self.price(&column, &text, scope));
        let sale = sale.and_then(|(column, text)| self.price(&column, &text, scope));
        let currency = [&usual, &sale].into_iter().flatten().find_map(|price| price.currency);
        self.put_offer("priceCurrency", currency.map(Value::from));
        let (usual, sale) = (usual.map(|price| price.amount), sale.map(|price| price.amount));
        // A sale price that is no lower is no sale: exports fill the cell all the same.
        let lowers = |sale: &String| usual.as_ref().is_none_or(|usual| less(sale, usual));
        let Some(sale) = sale.filter(lowers) else {
            return self.put_offer("price", usual.map(Value::from));
        };
        let (from, through) = period;
        let mut specifications: Vec<Value> = Vec::new();
        if let Some(usual) = &usual {
            specifications.push(json!({"@type": "UnitPriceSpecification", "priceType": LIST_PRICE, "price": usual}));
        }
        if from.is_none() && through.is_none() {
            self.put_offer("price", Some(sale.into()));
        } else {
            let mut specification = json!({"@type": "UnitPriceSpecification", "priceType": SALE_PRICE, "price": sale});
            if let Value::Object(fields) = &mut specification {
                fields.extend(from.map(|from| ("validFrom".to_owned(), from.into())));
                fields.extend(through.map(|through| ("validThrough".to_owned(), through.into())));
            }
            specifications.push(specification);
            self.put_offer("price", usual.map(Value::from));
        }
        self.put_offer("priceSpecification", (!specifications.is_empty()).then_some(specifications.into()));
    }

    fn price(&mut self, column: &str, text: &str, scope: &mut Scope<'_>) -> Option<cell::Price> {
        let price = cell::price(text, scope.decimal);
        if price.is_none() {
            scope.notes.cell(column, NO_PRICE, text, scope.line);
            self.put_offer("description", Some(text.into()));
        }
        price
    }

    /// Puts what the operator says that every product has.
    pub(super) fn add_constants(&mut self, constants: &BTreeMap<String, String>) {
        for (path, value) in constants {
            let (fields, path) = match path.strip_prefix("offers.") {
                Some(path) => (&mut self.offer, path),
                None => (&mut self.fields, path.as_str()),
            };
            if !paths::has(fields, path) {
                paths::put(fields, path, value, PATH_LEVELS_MAX);
            }
        }
    }

    /// Whether nothing was put.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.offer.is_empty()
    }

    /// Its properties as they are, its offer among them.
    pub(super) fn into_fields(mut self) -> Map<String, Value> {
        if !self.offer.is_empty() {
            let mut offer = Map::from_iter([("@type".to_owned(), Value::from("Offer"))]);
            offer.extend(self.offer);
            self.fields.insert("offers".to_owned(), Value::Object(offer));
        }
        self.fields
    }
}

fn less(one: &str, other: &str) -> bool {
    let amount = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
    amount(one) < amount(other)
}
/// How Shopify's exports say behind the name of a field of a shop's own where it lies: "ABV
/// (product.metafields.custom.abv)".
const METAFIELDS: [&str; 2] = [" (product.metafields.", " (variant.metafields."];

/// What a field is called by the shop, without where it lies.
fn bare_name(name: &str) -> &str {
    let bare = METAFIELDS.iter().find_map(|place| name.split_once(place)).map(|(bare, _)| bare.trim());
    bare.filter(|bare| !bare.is_empty()).unwrap_or(name)
}
