//! What shops write out of themselves: Shopify's products, the feeds of Google Merchant Center, and the exports of
//! WooCommerce and Magento. Each is known by columns that it alone has. A product is an item, and one that comes in
//! colours and sizes is one `ProductGroup` with its variants, however many rows these are written in.

mod cells;
mod choices;
mod groups;
mod magento;
mod merchant;
mod product;
mod shopify;
mod shopify_json;
mod woocommerce;

use std::collections::BTreeMap;

use serde_json::Value;

use super::notes::Notes;
use super::{At, Sink, Stop, links};
use groups::Groups;
use shopify::ShopifyRows;

pub(super) use cells::{Cells, ColumnName};
pub(super) use merchant::is_product as is_merchant_product;
pub(super) use shopify_json::ShopObjects;

/// Whose table or feed it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Export {
    /// The product CSV of Shopify, old and new.
    Shopify,
    /// A feed of Google Merchant Center, as XML or with tabs.
    Merchant,
    /// The product CSV of WooCommerce.
    WooCommerce,
    /// The product CSV of Magento and Adobe Commerce.
    Magento,
}

impl Export {
    /// Whose a header row is, and its columns. `None`: a table like any other.
    pub(super) fn of(header: &[String]) -> Option<(Self, Vec<ColumnName>)> {
        let columns: Vec<ColumnName> = header.iter().map(|name| ColumnName::of(name)).collect();
        let has = |names: &[&str]| names.iter().all(|name| columns.iter().any(|column| column.folded == *name));
        let export = match () {
            () if has(&["handle", "title", "variantprice"]) || has(&["urlhandle", "title", "option1name"]) => {
                Self::Shopify
            }
            () if has(&["sku", "attributesetcode", "producttype", "name"]) => Self::Magento,
            () if has(&["type", "sku", "name", "regularprice"]) => Self::WooCommerce,
            () if has(&["id", "title", "link", "imagelink", "availability"]) => Self::Merchant,
            () => return None,
        };
        Some((export, columns))
    }
}

/// Reads the rows of one export and puts those of one product together.
pub(super) struct ShopReader {
    export: Export,
    groups: Groups,
    shopify: ShopifyRows,
    notes: Notes,
    /// The public URL of the shop, if its operator says so.
    base: Option<String>,
    /// Properties that every offer or product has, unless a column says them: dot paths.
    constants: BTreeMap<String, String>,
    decimal: char,
}

impl ShopReader {
    pub(super) fn new(export: Export, base: Option<&str>, decimal: char) -> Self {
        Self {
            export,
            groups: Groups::new(matches!(export, Export::WooCommerce | Export::Magento)),
            shopify: ShopifyRows::default(),
            notes: Notes::default(),
            base: base.map(str::to_owned),
            constants: BTreeMap::new(),
            decimal,
        }
    }

    /// Sets what every product has, as the operator says.
    pub(super) fn with_constants(mut self, constants: &BTreeMap<String, String>) -> Self {
        self.constants.clone_from(constants);
        self
    }

    /// Takes one row. What belongs to no group is handed on at once.
    pub(super) fn row(&mut self, mut cells: Cells, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        let bytes = cells.bytes();
        let mut scope =
            Scope { notes: &mut self.notes, base: self.base.as_deref(), line: at.line, decimal: self.decimal };
        let placed = match self.export {
            Export::Shopify => self.shopify.row(&mut cells, &mut scope),
            Export::Merchant => Some(merchant::row(&mut cells, &mut scope)),
            Export::WooCommerce => woocommerce::row(&mut cells, &mut scope),
            Export::Magento => magento::row(&mut cells, &mut scope),
        };
        let Some(mut placed) = placed else { return Ok(()) };
        placed.add_constants(&self.constants);
        self.groups.take(placed, at, bytes, sink)
    }

    /// Hands on the groups, and tells what could not be read.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.groups.finish(sink)?;
        self.notes.finish(sink)
    }
}

/// What a row is read with.
pub(super) struct Scope<'s> {
    notes: &'s mut Notes,
    base: Option<&'s str>,
    line: u64,
    decimal: char,
}

impl Scope<'_> {
    /// Where a path of the shop is on the web.
    fn url(&self, path: &str) -> Option<String> {
        Some(links::url_of(self.base?, path))
    }
}

/// Texts of a list in one cell.
fn parts(cell: &str, separator: char) -> Vec<String> {
    cell.split(separator).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// One text as it is, several as a list.
fn one_or_many(mut texts: Vec<String>) -> Option<Value> {
    match texts.len() {
        0 => None,
        1 => texts.pop().map(Value::from),
        _ => Some(texts.into()),
    }
}

#[cfg(test)]
mod tests;
