//! Tables, such as CSV and TSV: the header row names the properties, each further row is an item. What is
//! between the cells and how numbers are written is found out; an operator can say it with a
//! [`crate::TableMapping`].

mod dialect;
mod header;
mod shop_table;
mod table;

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder};
use encoding_rs::WINDOWS_1252;

use self::dialect::Dialect;
use self::shop_table::ShopTable;
use self::table::Table;
use super::shop::Export;
use super::{At, Input, Reason, Sink, Stop};
use crate::limits::ITEM_BYTES_MAX;
use crate::mapping::TableMapping;

/// Reads a table. `usual` is between its cells when nothing speaks for anything else.
pub(super) fn load(input: &mut Input<'_>, usual: u8, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mapping = input.table();
    let base = input.shop_url();
    // Looked at and not consumed: the dialect is found out from the bytes that are then read as rows.
    let start = input.fill_buf().map_err(|error| Stop::rest(1, error))?;
    let late_newlines = ends_lines_with_two(start);
    let mut dialect = Dialect::of(start, usual);
    dialect.delimiter = mapping.and_then(|mapping| mapping.delimiter).unwrap_or(dialect.delimiter);
    input.consume(dialect.skip);
    let lines_before = u64::from(dialect.skip > 0);
    // Flexible: a row that is too long or too short is read as far as it goes, and told at the end.
    let mut rows =
        ReaderBuilder::new().delimiter(dialect.delimiter).flexible(true).has_headers(false).from_reader(input);
    let mut row = ByteRecord::new();
    let mut table: Option<Rows<'_>> = None;
    loop {
        // Bounds the search for the end of a row: an unclosed quote would take in the rest of the file.
        rows.get_mut().begin_record();
        let line = lines_before + rows.position().line();
        match rows.read_byte_record(&mut row) {
            Ok(false) => return table.map_or(Ok(()), |table| table.finish(sink)),
            Ok(true) => {}
            Err(error) => return Err(Stop::rest(line, error)),
        }
        let line = row.position().map_or(line, |position| lines_before + position.line());
        let line = line + u64::from(late_newlines && table.is_some());
        // Empty lines in front of a row are read with it.
        let inner = memchr::memchr_iter(b'\n', row.as_slice()).count() as u64;
        let ended = (lines_before + rows.position().line()).saturating_sub(inner + u64::from(!late_newlines));
        let line = line.max(ended);
        let at = At { line, bytes: rows.get_ref().at().bytes };
        match &mut table {
            None => {
                let rows = Rows::of(&row, dialect, mapping, base.as_deref());
                table = Some(rows.map_err(|reason| Stop::Broken { line, reason })?);
            }
            Some(_) if row.as_slice().len() > ITEM_BYTES_MAX => sink.skip(at, Reason::TooLong)?,
            Some(_) if memchr::memchr(0, row.as_slice()).is_some() => sink.skip(at, Reason::NoText)?,
            Some(table) => table.take(&row, at, sink)?,
        }
    }
}

/// The rows behind a header.
enum Rows<'m> {
    /// Each is an item.
    Plain(Table<'m>),
    /// Those of a shop's export, of which several may be one.
    Shop(Box<ShopTable>),
}

impl<'m> Rows<'m> {
    fn of(
        header: &ByteRecord,
        dialect: Dialect,
        mapping: Option<&'m TableMapping>,
        base: Option<&str>,
    ) -> Result<Self, Reason> {
        // Before the names are read: there may be millions.
        if header.len() > crate::limits::COLUMNS_MAX {
            return Err(Reason::Rest(format!("more than {} columns", crate::limits::COLUMNS_MAX)));
        }
        let names: Vec<String> = header.iter().map(text).collect();
        // Columns that the operator names are read as he says, whatever program wrote them.
        if mapping.is_none_or(|mapping| mapping.columns.is_empty())
            && let Some((export, columns)) = Export::of(&names)
        {
            return Ok(Self::Shop(Box::new(ShopTable::new(export, columns, dialect.decimal, mapping, base))));
        }
        Ok(Self::Plain(Table::of(&names, dialect.decimal, mapping)?))
    }

    fn take(&mut self, row: &ByteRecord, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        match self {
            Self::Plain(table) => table.take(row, at, sink),
            Self::Shop(table) => table.take(row, at, sink),
        }
    }

    fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        match self {
            Self::Plain(table) => table.finish(sink),
            Self::Shop(table) => table.finish(sink),
        }
    }
}

/// Rows with more cells than there are columns.
#[derive(Debug, Default)]
struct RaggedRows {
    rows: u64,
    /// The line of the first.
    line: u64,
}

impl RaggedRows {
    fn note(&mut self, row: &ByteRecord, columns: usize, line: u64) {
        if row.iter().skip(columns).any(|cell| !cell.trim_ascii().is_empty()) {
            self.rows += 1;
            // One reason for all such rows: a header that is too short would give one for each row.
            self.line = if self.rows == 1 { line } else { self.line };
        }
    }

    fn finish(&self, sink: &mut dyn Sink) -> Result<(), Stop> {
        match self.rows {
            0 => Ok(()),
            rows => sink.skip(At { line: self.line, bytes: 0 }, Reason::Ragged(rows)),
        }
    }
}

/// With CRLF the reader leaves the LF to the next row and so counts it one line too early.
fn ends_lines_with_two(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start).is_some_and(|at| at > 0 && start[at - 1] == b'\r')
}

/// A text of a table: UTF-8, else as old programs write it.
fn text(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(cell).0.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{Heap, load_bytes, names};
    use super::*;
    use serde_json::json;

    #[test]
    fn the_header_names_the_properties() {
        let bytes = b"\xEF\xBB\xBFname,type,offers.price,offers.priceCurrency,tag,tag,\r\n\"a, b\",Product,9.50,EUR,x,y,z\r\nc\r\n";
        let heap = load_bytes(Format::Csv, bytes);
        let first = json!({"name": "a, b", "@type": "Product", "offers": {"price": "9.50", "priceCurrency": "EUR"}, "tag": ["x", "y"]});
        assert_eq!(heap.items, [first, json!({"name": "c"})]);
        assert_eq!(heap.lines, [2, 3]);
    }

    #[test]
    fn a_shop_feed_of_a_spreadsheet_is_read_as_it_is_meant() {
        let feed = "sep=;\r\nArtikel;Titel;Preis;Verfügbarkeit;Farben;Stand\r\n1;Lampe;\"1.299,00 €\";auf Lager;rot|blau;24.12.2026\r\n2;Tisch;\"49,90\";ausverkauft;;\r\n";
        let mut mapping = TableMapping { kind: Some("Product".to_owned()), ..TableMapping::default() };
        mapping.columns.insert("stand".to_owned(), "dateModified".to_owned());
        mapping.columns.insert("Artikel".to_owned(), "sku".to_owned());
        mapping.columns.insert("Farben".to_owned(), "color".to_owned());
        mapping.lists.insert("FARBEN".to_owned(), "|".to_owned());
        mapping.constants.insert("offers.priceCurrency".to_owned(), "EUR".to_owned());
        let mut heap = Heap::default();
        let (latin, _, _) = WINDOWS_1252.encode(feed);
        let mut input = Input::new(&latin[..], "shop.csv", None).with_table(Some(&mapping));
        load(&mut input, b',', &mut heap).unwrap();
        let first = json!({"sku": "1", "name": "Lampe", "@type": "Product", "color": ["rot", "blau"], "dateModified": "2026-12-24",
            "offers": {"price": "1299.00", "availability": "https://schema.org/InStock", "priceCurrency": "EUR"}});
        assert_eq!(heap.items[0], first);
        assert_eq!(
            heap.items[1]["offers"],
            json!({"price": "49.90", "availability": "https://schema.org/OutOfStock", "priceCurrency": "EUR"})
        );
        assert_eq!(heap.lines, [3, 4]);
    }

    #[test]
    fn a_row_in_another_encoding_and_a_row_of_zeros() {
        let heap = load_bytes(Format::Csv, b"name\na\ncaf\xE9\n\"b\nb\"\n\0\nc\n");
        assert_eq!(names(&heap), ["a", "café", "b\nb", "c"]);
        assert_eq!(heap.lines, [2, 3, 4, 7]);
        assert_eq!(heap.skipped, [(6, Reason::NoText)]);
    }

    #[test]
    fn cells_behind_the_last_column_are_told_once() {
        let heap = load_bytes(Format::Csv, b"name,x\na,1\nb,1,2,3\nc,1,2\n\n\n,\n");
        assert_eq!(names(&heap), ["a", "b", "c"]);
        assert_eq!(heap.skipped, [(3, Reason::Ragged(2))]);
    }

    #[test]
    fn a_property_and_a_path_through_it_do_not_clash() {
        let heap = load_bytes(Format::Csv, b"name,a,a.b,a.b.c\nx,1,2,3\n");
        assert_eq!(heap.items[0], json!({"name": "x", "a": "1", "a.b": "2", "a.b.c": "3"}));
    }

    #[test]
    fn a_row_is_too_long_past_the_bound() {
        let rows = |bytes: usize| format!("name,x\na,{}\nb,\n", "x".repeat(bytes - 1));
        assert_eq!(load_bytes(Format::Csv, rows(ITEM_BYTES_MAX).as_bytes()).items.len(), 2);
        let longer = load_bytes(Format::Csv, rows(ITEM_BYTES_MAX + 1).as_bytes());
        assert_eq!((names(&longer), &longer.skipped), (vec!["b"], &vec![(2, Reason::TooLong)]));
    }

    #[test]
    fn an_unclosed_quote_does_not_swallow_memory() {
        let mut bytes = b"name\na\n\"".to_vec();
        bytes.resize(crate::limits::RECORD_SEARCH_BYTES_MAX as usize * 2, b'x');
        let heap = load_bytes(Format::Csv, &bytes);
        assert_eq!(names(&heap), ["a"]);
        assert!(matches!(heap.skipped.as_slice(), [(3, Reason::Rest(_))]));
    }

    #[test]
    fn many_columns_and_many_empty_lines_are_bounded() {
        let wide = format!("name{}\n", ",x".repeat(1_000_000));
        assert!(matches!(load_bytes(Format::Csv, wide.as_bytes()).skipped.as_slice(), [(1, Reason::Rest(_))]));
        let empty = format!("name\n{}a\n", "\n".repeat(1_000_000));
        let heap = load_bytes(Format::Csv, empty.as_bytes());
        assert_eq!((names(&heap), &heap.lines), (vec!["a"], &vec![1_000_002]));
    }

    #[test]
    fn tabs_separate_too() {
        assert_eq!(load_bytes(Format::Tsv, b"name\tx\na, b\t1\n").items, [json!({"name": "a, b", "x": "1"})]);
    }
}
