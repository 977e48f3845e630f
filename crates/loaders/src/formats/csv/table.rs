//! A table of which each row is an item.

use csv::ByteRecord;
use serde_json::{Map, Value};

use super::header::{Column, columns};
use super::{RaggedRows, text};
use crate::formats::cell::{self, Format};
use crate::formats::notes::{NO_PRICE, Notes};
use crate::formats::paths::{has, put};
use crate::formats::{At, Reason, Sink, Stop, linked};
use crate::limits::PATH_LEVELS_MAX;
use crate::mapping::TableMapping;

/// The property that holds the currency of a price.
const CURRENCY: &str = "offers.priceCurrency";
/// Where a text is kept that stands where a price should.
const NO_PRICES: &str = "offers.description";

/// What is known of the table behind its header.
pub(super) struct Table<'m> {
    columns: Vec<Column>,
    mapping: Option<&'m TableMapping>,
    format: Format<'m>,
    ragged: RaggedRows,
    notes: Notes,
}

impl<'m> Table<'m> {
    pub(super) fn of(names: &[String], decimal: char, mapping: Option<&'m TableMapping>) -> Result<Self, Reason> {
        let said = mapping.and_then(|mapping| mapping.decimal);
        let dates = mapping.and_then(|mapping| mapping.dates.as_deref());
        let format = Format { decimal: said.unwrap_or(decimal), is_said: said.is_some(), dates };
        let columns = columns(names, mapping)?;
        Ok(Self { columns, mapping, format, ragged: RaggedRows::default(), notes: Notes::default() })
    }

    /// Hands on the item that a row is.
    pub(super) fn take(&mut self, row: &ByteRecord, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.ragged.note(row, self.columns.len(), at.line);
        match self.object(row, at.line) {
            Some(item) => linked::offer(&item, at, None, sink),
            None => Ok(()),
        }
    }

    /// The row as an object; empty cells and columns without a name are left out. `None` for a row with nothing
    /// in it.
    fn object(&mut self, row: &ByteRecord, line: u64) -> Option<Value> {
        let mut item = Map::new();
        let mut currency = None;
        for (column, cell) in self.columns.iter().zip(row) {
            let cell = text(cell);
            if column.path.is_empty() || cell.is_empty() {
                continue;
            }
            let parts = match &column.separator {
                Some(separator) => {
                    cell.split(separator.as_str()).map(str::trim).filter(|part| !part.is_empty()).collect()
                }
                None => vec![cell.as_str()],
            };
            for part in parts {
                if cell::is_price(&column.path) && cell::price(part, self.format.decimal).is_none() {
                    self.notes.cell(&column.name, NO_PRICE, part, line);
                    put(&mut item, NO_PRICES, part, PATH_LEVELS_MAX);
                    continue;
                }
                let (value, named) = cell::value(&column.path, part, self.format);
                currency = currency.or(named);
                put(&mut item, &column.path, &value, PATH_LEVELS_MAX);
            }
        }
        if item.is_empty() {
            return None;
        }
        self.add_constants(&mut item, currency);
        Some(Value::Object(item))
    }

    /// What the operator says of all rows, and the currency that stood beside a price.
    fn add_constants(&self, item: &mut Map<String, Value>, currency: Option<&str>) {
        let constants = self.mapping.map(|mapping| &mapping.constants).into_iter().flatten();
        let named = currency.map(|currency| (CURRENCY, currency));
        let kind = self.mapping.and_then(|mapping| mapping.kind.as_deref()).map(|kind| ("@type", kind));
        let said = constants.map(|(path, value)| (path.as_str(), value.as_str()));
        for (path, value) in named.into_iter().chain(kind).chain(said) {
            // A column counts more than what is said of all rows.
            if !has(item, path) {
                put(item, path, value, PATH_LEVELS_MAX);
            }
        }
    }

    /// Tells what could not be read.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.ragged.finish(sink)?;
        self.notes.finish(sink)
    }
}
