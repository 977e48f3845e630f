//! Feeds of Google Merchant Center, as XML or with tabs: an entry for each variant, and the same `item_group_id` in
//! those of one product.

use serde_json::{Value, json};

use super::groups::{GroupRow, RowPlace};
use super::product::{Period, ProductDraft};
use super::{Cells, Scope, one_or_many, parts};

/// What shops tell their advertisers and not their customers.
const NOT_READ: &[&str] = &[
    "costofgoodssold",
    "autopricingminprice",
    "maximumretailprice",
    "adsredirect",
    "adult",
    "identifierexists",
    "pause",
    "mobilelink",
    "linktemplate",
    "mobilelinktemplate",
    "excludeddestination",
    "includeddestination",
    "shoppingadsexcludedcountry",
    "promotionid",
    "lifestyleimagelink",
    "shippinglabel",
    "transittimelabel",
    "taxcategory",
    "tax",
];
/// What an entry of a feed has when it is a product.
const PRODUCT_MARKS: &[&str] =
    &["price", "saleprice", "availability", "itemgroupid", "gtin", "mpn", "googleproductcategory", "imagelink"];
/// Properties that are schema.org's by another name or by the same.
const SAME: &[(&str, &str)] = &[
    ("brand", "brand"),
    ("gtin", "gtin"),
    ("mpn", "mpn"),
    ("color", "color"),
    ("size", "size"),
    ("material", "material"),
    ("pattern", "pattern"),
    ("sizesystem", "sizeSystem"),
    ("inlanguage", "inLanguage"),
];

/// Whether an entry of a feed is a product.
pub(in crate::formats) fn is_product(cells: &Cells) -> bool {
    PRODUCT_MARKS.iter().any(|mark| cells.has(mark))
}

pub(super) fn row(cells: &mut Cells, scope: &mut Scope<'_>) -> RowPlace {
    let mut product = ProductDraft::default();
    product.put("identifier", cells.take(&["id", "guid"]));
    product.put_prose("name", cells.take(&["title", "structuredtitle"]));
    product.put_prose("description", cells.take(&["description", "structureddescription", "summary", "content"]));
    product.put("url", cells.take(&["link", "canonicallink"]));
    let mut pictures: Vec<String> = cells.take(&["imagelink"]).into_iter().collect();
    let further = cells.take_all("additionalimagelink");
    pictures.extend(further.iter().flat_map(|cell| links(cell)));
    product.put_value("image", one_or_many(pictures));
    for (column, property) in SAME {
        product.put(property, cells.take(&[column]));
    }
    let kinds = [cells.take_all("producttype"), cells.take_all("googleproductcategory"), cells.take_all("category")];
    product.put_value("category", one_or_many(kinds.concat()));
    product.put_audience(cells.take(&["gender"]), cells.take(&["agegroup"]));
    let said = cells.take_all("producthighlight");
    product.put_value("positiveNotes", one_or_many(said));
    for detail in cells.take_all("productdetail") {
        // `section:name:value`, and the section may be empty.
        let mut detail = detail.splitn(3, ':').map(str::trim);
        if let (Some(_), Some(name), Some(value)) = (detail.next(), detail.next(), detail.next()) {
            product.put_additional(name, value);
        }
    }
    put_offer(cells, &mut product, scope);
    let group = cells.take(&["itemgroupid"]);
    cells.drop_all(NOT_READ);
    cells.drop_beginning(&["customlabel"]);
    product.put_all_additional(cells.rest());
    match group {
        Some(key) => RowPlace::OfGroup(GroupRow { key, variant: Some(product), ..GroupRow::default() }),
        None => RowPlace::Product(product),
    }
}

fn put_offer(cells: &mut Cells, product: &mut ProductDraft, scope: &mut Scope<'_>) {
    let period = cells.take(&["salepriceeffectivedate"]).map(|period| self::period(&period)).unwrap_or_default();
    let (usual, sale) = (cells.take_price(&["price"]), cells.take_price(&["saleprice"]));
    product.put_prices(usual, sale, period, scope);
    product.put_availability(cells.take(&["availability"]));
    product.put_offer("availabilityStarts", cells.take(&["availabilitydate"]).map(Value::from));
    product.put_offer("availabilityEnds", cells.take(&["expirationdate"]).map(Value::from));
    let condition = cells.take(&["condition"]).map(|condition| match condition.to_lowercase().as_str() {
        "new" => "https://schema.org/NewCondition".to_owned(),
        "used" => "https://schema.org/UsedCondition".to_owned(),
        "refurbished" => "https://schema.org/RefurbishedCondition".to_owned(),
        _ => condition,
    });
    product.put_offer("itemCondition", condition.map(Value::from));
    if let Some(weight) = cells.take(&["shippingweight"]) {
        let weight = match weight.split_once(char::is_whitespace) {
            Some((value, unit)) => json!({"@type": "QuantitativeValue", "value": value, "unitText": unit.trim()}),
            None => json!({"@type": "QuantitativeValue", "value": weight}),
        };
        product.put_offer("shippingDetails", Some(json!({"@type": "OfferShippingDetails", "weight": weight})));
    }
}

/// `2026-11-27T00:00-0800/2026-11-30T23:59-0800`, from and through.
fn period(text: &str) -> Period {
    let (from, through) = text.split_once('/').unwrap_or((text, ""));
    let moment = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    (moment(from), moment(through))
}

/// Several addresses in one cell; a comma within one has no address behind it.
fn links(cell: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for part in parts(cell, ',') {
        match links.last_mut().filter(|_| !part.contains("://")) {
            Some(last) => last.extend([",", &part]),
            None => links.push(part),
        }
    }
    links
}
