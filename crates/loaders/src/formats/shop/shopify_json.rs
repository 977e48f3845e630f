//! Shopify's `products.json`: a product with its options and variants in one object.

use serde_json::{Map, Value, json};

use super::super::notes::Notes;
use super::super::{At, Sink, Stop, linked};
use super::groups::items;
use super::product::ProductDraft;
use super::{Scope, one_or_many, parts};

/// Products of a document, each in an object of its own.
pub(in crate::formats) struct ShopObjects {
    base: Option<String>,
    notes: Notes,
}

impl ShopObjects {
    /// `base` is the public URL of the shop.
    pub(in crate::formats) fn new(base: Option<String>) -> Self {
        Self { base, notes: Notes::default() }
    }

    /// Whether an object is such a product.
    pub(in crate::formats) fn are(value: &Value) -> bool {
        has_shape(value)
    }

    /// Hands on a product.
    pub(in crate::formats) fn take(&mut self, value: &Value, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut scope = Scope { notes: &mut self.notes, base: self.base.as_deref(), line: at.line, decimal: '.' };
        product(value, &mut scope).into_iter().try_for_each(|item| linked::offer(&Value::Object(item), at, None, sink))
    }

    /// Tells what could not be read.
    pub(in crate::formats) fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.notes.finish(sink)
    }
}

/// Whether an object is a product as Shopify writes it.
fn has_shape(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let has_list = value.get("variants").is_some_and(Value::is_array);
    is_text("title") && has_list && is_text("handle") && value.get("@type").is_none()
}

/// The items of a product: one, unless its variants are too many for one.
fn product(value: &Value, scope: &mut Scope<'_>) -> Vec<Map<String, Value>> {
    let text = |key: &str| said(value.get(key));
    let is_draft = text("status").is_some_and(|status| status != "active");
    // A product without a date of publication is not for the public; the exports of some programs leave it out.
    if is_draft || value.get("published_at").is_some_and(Value::is_null) {
        scope.notes.unpublished(scope.line);
        return Vec::new();
    }
    let handle = text("handle").unwrap_or_default();
    let mut product = ProductDraft::default();
    product.put("name", text("title"));
    product.put_prose("description", text("body_html"));
    product.put("brand", text("vendor"));
    product.put("category", text("product_type"));
    product.put("datePublished", text("published_at"));
    product.put("dateModified", text("updated_at"));
    let tags = match value.get("tags") {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => parts(&text("tags").unwrap_or_default(), ','),
    };
    product.put_value("keywords", one_or_many(tags));
    let pictures = list(value, "images").iter().filter_map(|picture| said(picture.get("src")));
    product.put_value("image", one_or_many(pictures.collect()));
    let url = scope.url(&format!("products/{handle}"));
    product.put("url", url.clone());
    let options: Vec<String> = list(value, "options").iter().filter_map(option_name).collect();
    let mut variants = Vec::new();
    for variant in list(value, "variants") {
        variants.push(self::variant(variant, &options, url.as_deref(), scope).into_fields());
    }
    items(&handle, Some(product.into_fields()), variants, &mut 0)
}

fn variant(value: &Value, options: &[String], url: Option<&str>, scope: &mut Scope<'_>) -> ProductDraft {
    let text = |key: &str| said(value.get(key));
    let mut variant = ProductDraft::default();
    for (number, place) in (1..=3).zip(0..) {
        let key = format!("option{number}");
        if let Some(chosen) = text(&key).filter(|chosen| chosen != "Default Title") {
            variant.put_choice(options.get(place).unwrap_or(&key), &chosen);
        }
    }
    variant.put("sku", text("sku"));
    variant.put("gtin", text("barcode"));
    variant.put("image", value.get("featured_image").and_then(|picture| said(picture.get("src"))));
    if let Some((url, id)) = url.zip(text("id")) {
        variant.put("url", Some(format!("{url}?variant={id}")));
    }
    let price = |key: &str| text(key).map(|price| (format!("variants.{key}"), price));
    let (asked, compared) = (price("price"), price("compare_at_price"));
    let (usual, sale) = if compared.is_some() { (compared, asked) } else { (asked, None) };
    variant.put_prices(usual, sale, (None, None), scope);
    variant.put_stock(value.get("available").and_then(Value::as_bool), text("inventory_quantity").as_deref());
    if let Some(grams) = value.get("grams").and_then(Value::as_f64).filter(|grams| *grams > 0.0) {
        let weight = json!({"@type": "QuantitativeValue", "value": grams, "unitCode": "GRM"});
        variant.put_value("weight", Some(weight));
    }
    variant
}

fn option_name(option: &Value) -> Option<String> {
    said(Some(option)).or_else(|| said(option.get("name")))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A text or a number as text.
fn said(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
