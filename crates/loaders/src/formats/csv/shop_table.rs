//! A table that a shop has written: its rows are those of products and their variants.

use std::rc::Rc;

use csv::ByteRecord;

use super::{RaggedRows, text};
use crate::formats::shop::{Cells, ColumnName, Export, ShopReader};
use crate::formats::{At, Sink, Stop};
use crate::mapping::TableMapping;

/// The rows of a shop's export.
pub(super) struct ShopTable {
    columns: Vec<Rc<ColumnName>>,
    reader: ShopReader,
    ragged: RaggedRows,
}

impl ShopTable {
    pub(super) fn new(
        export: Export,
        columns: Vec<ColumnName>,
        decimal: char,
        mapping: Option<&TableMapping>,
        base: Option<&str>,
    ) -> Self {
        let decimal = mapping.and_then(|mapping| mapping.decimal).unwrap_or(decimal);
        let mut reader = ShopReader::new(export, base, decimal);
        if let Some(mapping) = mapping {
            reader = reader.with_constants(&mapping.constants);
        }
        Self { columns: columns.into_iter().map(Rc::new).collect(), reader, ragged: RaggedRows::default() }
    }

    pub(super) fn take(&mut self, row: &ByteRecord, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.ragged.note(row, self.columns.len(), at.line);
        let mut cells = Cells::default();
        self.columns.iter().zip(row).for_each(|(column, cell)| cells.push(Rc::clone(column), text(cell)));
        if cells.is_empty() {
            return Ok(());
        }
        self.reader.row(cells, at, sink)
    }

    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.reader.finish(sink)?;
        self.ragged.finish(sink)
    }
}
