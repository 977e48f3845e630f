//! WooCommerce's product CSV: a product with variations is a row of type `variable`, and each of these a row that
//! names it as its parent, by its SKU or as `id:17`.

use serde_json::{Value, json};

use super::groups::{GroupRow, RowPlace};
use super::product::ProductDraft;
use super::{Cells, Scope, one_or_many, parts};

/// What is not for the public, or says nothing of the product.
const NOT_READ: &[&str] = &[
    "isfeatured",
    "taxstatus",
    "taxclass",
    "lowstockamount",
    "soldindividually",
    "allowcustomerreviews",
    "purchasenote",
    "shippingclass",
    "downloadlimit",
    "downloadexpirydays",
    "upsells",
    "crosssells",
    "position",
    "buttontext",
    "externalurl",
];
/// Columns that are measures of a product, and units as UN/CEFACT codes them.
const MEASURES: &[(&str, &[(&str, &str)])] = &[
    ("weight", &[("weightkg", "KGM"), ("weightg", "GRM"), ("weightlbs", "LBR"), ("weightoz", "ONZ")]),
    ("depth", &[("lengthcm", "CMT"), ("lengthm", "MTR"), ("lengthmm", "MMT"), ("lengthin", "INH")]),
    ("width", &[("widthcm", "CMT"), ("widthm", "MTR"), ("widthmm", "MMT"), ("widthin", "INH")]),
    ("height", &[("heightcm", "CMT"), ("heightm", "MTR"), ("heightmm", "MMT"), ("heightin", "INH")]),
];
/// Attributes of one product that are read.
const ATTRIBUTES_MAX: usize = 100;

pub(super) fn row(cells: &mut Cells, scope: &mut Scope<'_>) -> Option<RowPlace> {
    let kind = cells.take(&["type"]).unwrap_or_default().to_lowercase();
    let parent = cells.take(&["parent"]);
    let id = cells.take(&["id"]);
    let sku = cells.take(&["sku"]);
    let is_hidden = cells.take(&["visibilityincatalog"]).is_some_and(|said| said == "hidden");
    // 1 is public, 0 private, -1 a draft.
    if cells.take(&["published"]).is_some_and(|said| said.trim() != "1") || is_hidden {
        scope.notes.unpublished(scope.line);
        return None;
    }
    let is = |named: &str| kind.split(',').any(|kind| kind.trim() == named);
    let is_variation = is("variation");
    let mut product = ProductDraft::default();
    product.put("name", cells.take(&["name"]));
    product.put("sku", sku.clone());
    product.put("gtin", cells.take(&["gtinupceanorisbn", "gtin", "ean"]));
    let (short, long) = (cells.take(&["shortdescription"]), cells.take(&["description"]));
    let prose: Vec<String> = [short, long].into_iter().flatten().map(|text| text.replace("\\n", "\n")).collect();
    product.put_prose("description", Some(prose.join("\n")));
    product.put("brand", cells.take(&["brands", "brand"]));
    product.put_value("category", one_or_many(parts(&cells.take(&["categories"]).unwrap_or_default(), ',')));
    product.put_value("keywords", one_or_many(parts(&cells.take(&["tags"]).unwrap_or_default(), ',')));
    product.put_value("image", one_or_many(parts(&cells.take(&["images"]).unwrap_or_default(), ',')));
    product.put("url", cells.take(&["permalink", "producturl", "url"]));
    put_attributes(cells, &mut product, is_variation);
    put_measures(cells, &mut product);
    put_offer(cells, &mut product, scope);
    // What plugins keep of a product for themselves: costs are among it.
    cells.drop_beginning(&["meta"]);
    cells.drop_all(NOT_READ);
    product.put_all_additional(cells.rest());
    let own = || sku.clone().or_else(|| id.as_ref().map(|id| format!("id:{id}")));
    Some(match parent.filter(|_| is_variation) {
        Some(parent) => RowPlace::OfGroup(GroupRow { key: parent, variant: Some(product), ..GroupRow::default() }),
        None if is("variable") => {
            let other = id.as_ref().map(|id| format!("id:{id}"));
            let key = own().unwrap_or_default();
            RowPlace::OfGroup(GroupRow { key, other_key: other, parent: Some(product), ..GroupRow::default() })
        }
        None => RowPlace::Product(product),
    })
}

/// `Attribute 1 name` and `Attribute 1 value(s)`: of a variation what it is chosen by, of another product what it is.
fn put_attributes(cells: &mut Cells, product: &mut ProductDraft, is_variation: bool) {
    for number in 1..=ATTRIBUTES_MAX {
        let cell = |rest: &str| format!("attribute{number}{rest}");
        let name = cells.take(&[&cell("name")]);
        let values = cells.take(&[&cell("values"), &cell("value")]);
        cells.drop_all(&[&cell("visible"), &cell("global"), &cell("default"), &cell("id")]);
        let Some(name) = name else {
            if values.is_none() && !cells.has_beginning("attribute") {
                return;
            }
            continue;
        };
        let Some(values) = values else { continue };
        match is_variation {
            true => product.put_choice(&name, &values),
            // A product that varies lists all of its choices, in which variants are none yet.
            false => parts(&values, ',').iter().for_each(|value| product.put_choice(&name, value)),
        }
    }
}

fn put_measures(cells: &mut Cells, product: &mut ProductDraft) {
    for (property, columns) in MEASURES {
        for (column, unit) in *columns {
            let value = cells.take(&[column]);
            let measure = value.map(|value| json!({"@type": "QuantitativeValue", "value": value, "unitCode": unit}));
            product.put_value(property, measure);
        }
    }
}

fn put_offer(cells: &mut Cells, product: &mut ProductDraft, scope: &mut Scope<'_>) {
    let period = (cells.take(&["datesalepricestarts"]), cells.take(&["datesalepriceends"]));
    let (usual, sale) = (cells.take_price(&["regularprice"]), cells.take_price(&["saleprice"]));
    product.put_prices(usual, sale, period, scope);
    let pieces = cells.take(&["stock"]);
    let backorders = cells.take(&["backordersallowed"]).is_some_and(|said| said.trim() != "0");
    match cells.take(&["instock"]).as_deref().map(str::trim) {
        Some("backorder") => product.put_availability(Some("backorder".to_owned())),
        Some("1") => product.put_stock(Some(true), pieces.as_deref()),
        Some("0") if backorders => product.put_availability(Some("backorder".to_owned())),
        Some("0") => product.put_stock(Some(false), pieces.as_deref()),
        said => product.put_offer("availability", said.map(Value::from)),
    }
}
