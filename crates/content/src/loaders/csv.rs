//! CSV and TSV: the header row names the properties, each further row is an item.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};

use super::{At, Input, Reason, Sink, Stop};
use crate::limits::{ITEM_BYTES_MAX, PATH_LEVELS_MAX};

pub(super) fn load(input: &mut Input<'_>, delimiter: u8, sink: &mut dyn Sink) -> Result<(), Stop> {
    let late_newlines = ends_lines_with_two(input).map_err(|error| Stop::rest(1, error))?;
    let mut rows = ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(input);
    let mut row = ByteRecord::new();
    let mut header: Option<Vec<String>> = None;
    loop {
        rows.get_mut().begin_record();
        let line = rows.position().line();
        match rows.read_byte_record(&mut row) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => return Err(Stop::rest(line, error)),
        }
        let line = row.position().map_or(line, csv::Position::line) + u64::from(late_newlines && header.is_some());
        let at = At { line, bytes: rows.get_ref().at().bytes };
        match &header {
            None => header = Some(names(&row).map_err(|reason| Stop::Broken { line, reason })?),
            Some(_) if row.as_slice().len() > ITEM_BYTES_MAX => sink.skip(at, Reason::TooLong)?,
            Some(header) => match object(header, &row) {
                Some(item) => sink.item(at, &item, None)?,
                None => sink.skip(at, Reason::NotUtf8)?,
            },
        }
    }
}

/// With CRLF the reader leaves the LF to the next row and so counts it one line too early.
fn ends_lines_with_two(input: &mut Input<'_>) -> std::io::Result<bool> {
    let start = input.fill_buf()?;
    Ok(memchr::memchr(b'\n', start).is_some_and(|at| at > 0 && start[at - 1] == b'\r'))
}

/// The property of each column. A bare `type` means `@type`.
fn names(row: &ByteRecord) -> Result<Vec<String>, Reason> {
    let name = |cell: &[u8]| match std::str::from_utf8(cell).map(str::trim) {
        Ok("type") => Ok("@type".to_owned()),
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(Reason::NotUtf8),
    };
    row.iter().map(name).collect()
}

/// The row as an object; empty cells and columns without a name are left out. `None` when it is
/// not UTF-8.
fn object(header: &[String], row: &ByteRecord) -> Option<Value> {
    let mut item = Map::new();
    for (name, cell) in header.iter().zip(row) {
        let text = std::str::from_utf8(cell).ok()?.trim();
        if !name.is_empty() && !text.is_empty() {
            put(&mut item, name, text, PATH_LEVELS_MAX);
        }
    }
    Some(Value::Object(item))
}

/// Puts a text under a dot path such as `offers.price`. A property that comes twice is a list.
fn put(item: &mut Map<String, Value>, path: &str, text: &str, levels: usize) {
    if let Some((first, rest)) =
        path.split_once('.').filter(|(first, rest)| levels > 1 && !first.is_empty() && !rest.is_empty())
        && let Value::Object(inner) = item.entry(first).or_insert_with(|| Value::Object(Map::new()))
    {
        return put(inner, rest, text, levels - 1);
    }
    match item.get_mut(path) {
        None => drop(item.insert(path.to_owned(), text.into())),
        Some(Value::Array(values)) => values.push(text.into()),
        Some(value) => *value = Value::Array(vec![value.take(), text.into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
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
    fn a_broken_row_costs_itself_only() {
        let heap = load_bytes(Format::Csv, b"name\na\n\xFF\n\"b\nb\"\nc\n");
        assert_eq!(names(&heap), ["a", "b\nb", "c"]);
        assert_eq!(heap.lines, [2, 4, 6]);
        assert_eq!(heap.skipped, [(3, Reason::NotUtf8)]);
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
    fn tabs_separate_too() {
        assert_eq!(load_bytes(Format::Tsv, b"name\tx\na, b\t1\n").items, [json!({"name": "a, b", "x": "1"})]);
    }
}
