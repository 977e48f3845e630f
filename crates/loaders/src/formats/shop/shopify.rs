//! Shopify's product CSV, as it was until 2025 and as it is since: the first row of a handle is the product with its
//! first variant, each further one a variant or a picture.

use std::collections::HashMap;

use serde_json::json;

use super::cells::PriceCell;
use super::groups::{GroupRow, RowPlace};
use super::product::ProductDraft;
use super::{Cells, Scope, one_or_many, parts};
use crate::limits::HANDLES_KEPT;

/// What is not for the public, or says nothing of the product.
const NOT_READ: &[&str] = &[
    "costperitem",
    "varianttaxable",
    "varianttaxcode",
    "chargetax",
    "taxcode",
    "variantfulfillmentservice",
    "fulfillmentservice",
    "variantrequiresshipping",
    "requiresshipping",
    "variantweightunit",
    "weightunitfordisplay",
    "imageposition",
    "productimageposition",
    "imagealttext",
    "seotitle",
    "seodescription",
    "giftcard",
];

/// What the first row of a handle says for those that follow.
#[derive(Default)]
struct FirstRow {
    /// The names of its three options.
    options: [Option<String>; 3],
    is_withheld: bool,
}

/// The rows of one file.
#[derive(Default)]
pub(super) struct ShopifyRows {
    handles: HashMap<String, FirstRow>,
}

impl ShopifyRows {
    pub(super) fn row(&mut self, cells: &mut Cells, scope: &mut Scope<'_>) -> Option<RowPlace> {
        let handle = cells.take(&["handle", "urlhandle"])?;
        // Rows of one handle stand together; those of long ago are not needed for what follows.
        if self.handles.len() >= HANDLES_KEPT && !self.handles.contains_key(&handle) {
            self.handles.clear();
        }
        let first = self.handles.entry(handle.clone()).or_default();
        let published = cells.take(&["published", "publishedononlinestore"]);
        let status = cells.take(&["status"]).map(|status| status.to_lowercase());
        first.is_withheld |= status.is_some_and(|status| !matches!(status.as_str(), "active" | "true"))
            || published.is_some_and(|said| said.eq_ignore_ascii_case("false"));
        if first.is_withheld {
            scope.notes.unpublished(scope.line);
            return None;
        }
        let is_first = cells.has("title");
        let mut variant = ProductDraft::default();
        put_options(cells, &mut first.options, &mut variant);
        put_variant(cells, &mut variant, scope);
        let mut row = GroupRow { picture: cells.take(&["imagesrc", "productimageurl"]), ..GroupRow::default() };
        cells.drop_all(NOT_READ);
        cells.drop_beginning(&["googleshoppingcustom", "googleshoppingadwords"]);
        let mut product = ProductDraft::default();
        if is_first {
            put_product(cells, &handle, &mut product, scope);
            variant.put_all_additional(cells.take_beginning("variant"));
            product.put_all_additional(cells.rest());
        } else {
            variant.put_all_additional(cells.rest());
        }
        row.parent = is_first.then_some(product);
        row.variant = Some(variant).filter(|variant| !variant.is_empty());
        row.key = handle;
        Some(RowPlace::OfGroup(row))
    }
}

fn put_product(cells: &mut Cells, handle: &str, product: &mut ProductDraft, scope: &Scope<'_>) {
    product.put("name", cells.take(&["title"]));
    product.put_prose("description", cells.take(&["bodyhtml", "description"]));
    product.put("brand", cells.take(&["vendor"]));
    let kinds = [cells.take(&["type"]), cells.take(&["productcategory", "googleshoppinggoogleproductcategory"])];
    product.put_value("category", one_or_many(kinds.into_iter().flatten().collect()));
    product.put_value("keywords", one_or_many(parts(&cells.take(&["tags"]).unwrap_or_default(), ',')));
    product.put_audience(cells.take(&["googleshoppinggender"]), cells.take(&["googleshoppingagegroup"]));
    product.put("url", scope.url(&format!("products/{handle}")));
}

fn put_options(cells: &mut Cells, names: &mut [Option<String>; 3], variant: &mut ProductDraft) {
    for (number, known) in (1..).zip(names) {
        let cell = |rest: &str| format!("option{number}{rest}");
        if let Some(name) = cells.take(&[&cell("name")]) {
            *known = Some(name);
        }
        drop(cells.take(&[&cell("linkedto")]));
        // What has no options has one all the same, which says nothing.
        if let Some(value) = cells.take(&[&cell("value")]).filter(|value| value != "Default Title") {
            variant.put_choice(known.as_deref().unwrap_or(&cell("")), &value);
        }
    }
}

fn put_variant(cells: &mut Cells, variant: &mut ProductDraft, scope: &mut Scope<'_>) {
    variant.put("sku", cells.take(&["variantsku", "sku"]));
    // Spreadsheets are kept from reading a code as a number by an apostrophe.
    let code = cells.take(&["variantbarcode", "barcode"]);
    variant.put("gtin", code.map(|code| code.trim_matches('\'').to_owned()));
    variant.put("image", cells.take(&["variantimage", "variantimageurl"]));
    let is_counted = cells.take(&["variantinventorytracker", "inventorytracker"]).is_some();
    let pieces = cells.take(&["variantinventoryqty", "inventoryquantity"]).filter(|_| is_counted);
    let goes_on = cells.take(&["variantinventorypolicy", "continuesellingwhenoutofstock"]);
    let goes_on = goes_on.is_some_and(|policy| matches!(policy.to_lowercase().as_str(), "continue" | "true"));
    let price = cells.take_price(&["variantprice", "price"]);
    let compared = cells.take_price(&["variantcompareatprice", "compareatprice"]);
    if price.is_some() {
        let is_there = pieces.as_ref().and_then(|pieces| pieces.trim().parse::<f64>().ok()).map(|pieces| pieces > 0.0);
        let can_be_had = if is_counted && !goes_on { is_there } else { Some(true) };
        variant.put_stock(can_be_had, pieces.as_deref());
    }
    // The price that is compared with is the usual one; what is asked now is that of a sale.
    let (usual, sale): (PriceCell, PriceCell) = if compared.is_some() { (compared, price) } else { (price, None) };
    variant.put_prices(usual, sale, (None, None), scope);
    let grams = cells.take(&["variantgrams", "weightvaluegrams"]);
    let grams = grams.filter(|grams| !grams.trim_matches(['0', '.']).is_empty());
    variant.put_value(
        "weight",
        grams.map(|grams| json!({"@type": "QuantitativeValue", "value": grams, "unitCode": "GRM"})),
    );
}
