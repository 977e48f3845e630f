//! The product CSV of Magento and Adobe Commerce: variants are rows of their own, which the row of a configurable
//! product names in `configurable_variations`.

use serde_json::json;

use super::groups::{GroupRow, RowPlace};
use super::product::ProductDraft;
use super::{Cells, Scope, one_or_many, parts};

/// What is not for the public, or says nothing of the product.
const NOT_READ: &[&str] = &[
    "cost",
    "storeviewcode",
    "attributesetcode",
    "productwebsites",
    "taxclassname",
    "metatitle",
    "metakeywords",
    "metadescription",
    "displayproductoptionsin",
    "mapprice",
    "mapenabled",
    "giftmessageavailable",
    "customdesign",
    "customdesignfrom",
    "customdesignto",
    "customlayoutupdate",
    "pagelayout",
    "productoptionscontainer",
    "outofstockqty",
    "useconfigminqty",
    "minqty",
    "isqtydecimal",
    "allowbackorders",
    "useconfigbackorders",
    "mincartqty",
    "useconfigminsaleqty",
    "maxcartqty",
    "useconfigmaxsaleqty",
    "notifyonstockbelow",
    "useconfignotifystockqty",
    "managestock",
    "useconfigmanagestock",
    "useconfigqtyincrements",
    "qtyincrements",
    "useconfigenableqtyinc",
    "enableqtyincrements",
    "isdecimaldivided",
    "websiteid",
    "relatedskus",
    "relatedposition",
    "crosssellskus",
    "crosssellposition",
    "upsellskus",
    "upsellposition",
    "hidefromproductpage",
    "configurablevariationlabels",
    "createdat",
    "newfromdate",
    "newtodate",
    "smallimage",
    "smallimagelabel",
    "thumbnailimage",
    "thumbnailimagelabel",
    "baseimagelabel",
    "additionalimagelabels",
    "swatchimage",
    "swatchimagelabel",
];

pub(super) fn row(cells: &mut Cells, scope: &mut Scope<'_>) -> Option<RowPlace> {
    let sku = cells.take(&["sku"])?;
    let is_online = cells.take(&["productonline"]).is_none_or(|said| said.trim() == "1");
    // Rows with a store view say what is another there, in another language mostly; the others say everything.
    if cells.has("storeviewcode") {
        scope.notes.other_view(scope.line);
        return None;
    }
    if !is_online {
        scope.notes.unpublished(scope.line);
        return None;
    }
    let kind = cells.take(&["producttype"]).unwrap_or_default();
    let visibility = cells.take(&["visibility"]).unwrap_or_default();
    let is_own = !visibility.eq_ignore_ascii_case("Not Visible Individually");
    let mut product = ProductDraft::default();
    product.put("name", cells.take(&["name"]));
    product.put("sku", Some(sku.clone()));
    let (short, long) = (cells.take(&["shortdescription"]), cells.take(&["description"]));
    let prose: Vec<String> = [short, long].into_iter().flatten().collect();
    product.put_prose("description", Some(prose.join("\n")));
    let categories = parts(&cells.take(&["categories"]).unwrap_or_default(), ',');
    // The root of all categories tells nothing apart.
    let categories = categories.iter().map(|path| path.split_once('/').map_or(path.as_str(), |(_, rest)| rest));
    product.put_value("category", one_or_many(categories.map(str::to_owned).collect()));
    if let Some(key) = cells.take(&["urlkey"]).filter(|_| is_own) {
        product.put("url", scope.url(&format!("{key}.html")));
    }
    let pictures = [cells.take(&["baseimage"]), cells.take(&["additionalimages"])];
    let pictures = pictures.into_iter().flatten().flat_map(|cell| parts(&cell, ','));
    product.put_value("image", one_or_many(pictures.map(|picture| image(picture, scope)).collect()));
    for (name, value) in attributes(&cells.take(&["additionalattributes"]).unwrap_or_default()) {
        parts(&value, '|').iter().for_each(|value| product.put_choice(&name, value));
    }
    if let Some(weight) = cells.take(&["weight"]) {
        product.put_value("weight", Some(json!({"@type": "QuantitativeValue", "value": weight})));
    }
    product.put("dateModified", cells.take(&["updatedat"]));
    put_offer(cells, &mut product, scope);
    let claimed = claimed(&cells.take(&["configurablevariations"]).unwrap_or_default());
    cells.drop_all(NOT_READ);
    product.put_all_additional(cells.rest());
    Some(match kind.as_str() {
        "configurable" => {
            RowPlace::OfGroup(GroupRow { key: sku, parent: Some(product), claimed, ..GroupRow::default() })
        }
        _ => RowPlace::Claimable(sku, product, is_own),
    })
}

fn put_offer(cells: &mut Cells, product: &mut ProductDraft, scope: &mut Scope<'_>) {
    let period = (cells.take(&["specialpricefromdate"]), cells.take(&["specialpricetodate"]));
    let (usual, sale) = (cells.take_price(&["price"]), cells.take_price(&["specialprice"]));
    product.put_prices(usual, sale, period, scope);
    let is_there = cells.take(&["isinstock"]).map(|said| said.trim() == "1");
    let pieces = cells.take(&["qty"]);
    product.put_stock(is_there, pieces.as_deref());
}

/// Where a picture lies: paths are below the shop's media.
fn image(path: String, scope: &Scope<'_>) -> String {
    match path.contains("://") {
        true => path,
        false => scope.url(&format!("media/catalog/product/{}", path.trim_start_matches('/'))).unwrap_or(path),
    }
}

/// `color=Red,size=M`: a comma within a value has no `name=` behind it.
fn attributes(cell: &str) -> Vec<(String, String)> {
    let mut attributes: Vec<(String, String)> = Vec::new();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    for part in cell.split(',') {
        match part.split_once('=').filter(|(name, _)| is_name(name.trim())) {
            Some((name, value)) => attributes.push((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                if let Some((_, value)) = attributes.last_mut() {
                    value.extend([",", part]);
                }
            }
        }
    }
    attributes
}

/// The SKUs in `sku=A-S,size=S|sku=A-M,size=M`.
fn claimed(cell: &str) -> Vec<String> {
    let of = |variation: &str| attributes(variation).into_iter().find(|(name, _)| name == "sku").map(|(_, sku)| sku);
    cell.split('|').filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_may_have_commas() {
        let read = attributes("color=Red,climate=Cool, dry,size=M");
        assert_eq!(
            read,
            [("color", "Red"), ("climate", "Cool, dry"), ("size", "M")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert_eq!(claimed("sku=A-S,size=S|size=M,sku=A-M|nothing"), ["A-S", "A-M"]);
        assert!(attributes("").is_empty() && attributes("no name").is_empty());
    }
}
