//! How a table is written: found out from how it begins.

use csv::ReaderBuilder;

/// What may be between two cells, the most usual first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Rows that are looked at.
const ROWS: usize = 20;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The byte between two cells.
    pub(super) delimiter: u8,
    /// The decimal mark of numbers: `.` or `,`.
    pub(super) decimal: char,
    /// Bytes in front that are no row: the line in which spreadsheets name the delimiter.
    pub(super) skip: usize,
}

impl Dialect {
    /// Looks at the beginning of a table. `usual` counts when nothing speaks for another delimiter.
    pub(super) fn of(start: &[u8], usual: u8) -> Self {
        let (named, skip) = named(start);
        let rows = &start[skip..];
        let delimiter = named.unwrap_or_else(|| found(rows, usual));
        Self { delimiter, decimal: decimal(rows, delimiter), skip }
    }
}

/// `sep=;` in the first line, as spreadsheets write it.
fn named(start: &[u8]) -> (Option<u8>, usize) {
    let end = memchr::memchr(b'\n', start).map_or(start.len(), |at| at + 1);
    let line = start[..end].trim_ascii();
    match line {
        [s, e, p, b'=', delimiter] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => (Some(*delimiter), end),
        _ => (None, 0),
    }
}

/// The delimiter by which the rows are most alike, and of these the one that makes most cells.
fn found(rows: &[u8], usual: u8) -> u8 {
    let score = |delimiter: u8| {
        let widths = widths(rows, delimiter);
        let first = widths.first().copied().filter(|width| *width > 1)?;
        let alike = widths.iter().filter(|width| **width == first).count();
        Some((alike * 100 / widths.len(), first, delimiter == usual))
    };
    let candidates = DELIMITERS.into_iter().rev();
    candidates.filter_map(|delimiter| Some((score(delimiter)?, delimiter))).max().map_or(usual, |(_, found)| found)
}

/// How many cells each of the first rows has. A last one that may be cut off does not count.
fn widths(rows: &[u8], delimiter: u8) -> Vec<usize> {
    let reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(rows);
    let mut widths: Vec<usize> =
        reader.into_byte_records().take(ROWS).map_while(Result::ok).map(|row| row.len()).collect();
    if widths.len() > 1 && widths.len() < ROWS && !rows.ends_with(b"\n") {
        widths.pop();
    }
    widths
}

/// A comma, when more cells end like `9,50` than like `9.50`.
fn decimal(rows: &[u8], delimiter: u8) -> char {
    let reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(rows);
    let (mut commas, mut points) = (0, 0);
    for row in reader.into_byte_records().take(ROWS).map_while(Result::ok) {
        for cell in &row {
            match last_sign(cell) {
                Some(b',') => commas += 1,
                Some(b'.') => points += 1,
                _ => {}
            }
        }
    }
    if commas > points { ',' } else { '.' }
}

/// The sign in front of the last one or two digits of a number.
fn last_sign(cell: &[u8]) -> Option<u8> {
    let number: Vec<u8> = cell.iter().copied().filter(|byte| byte.is_ascii_digit() || b".,'".contains(byte)).collect();
    let letters = cell.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let at = number.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let parts = number.len() - at - 1;
    // Three digits behind a sign may be a group of thousands and tell nothing.
    ((1..=2).contains(&parts) && at > 0 && letters <= 3).then(|| number[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(start: &str) -> (char, char) {
        let Dialect { delimiter, decimal, .. } = Dialect::of(start.as_bytes(), b',');
        (char::from(delimiter), decimal)
    }

    #[test]
    fn the_delimiter_is_that_by_which_rows_are_alike() {
        assert_eq!(dialect("name,price\na,1.50\n"), (',', '.'));
        assert_eq!(dialect("name;price;text\n\"a;b\";9,50;\"one, two, three\"\nc;10,00;x, y\n"), (';', ','));
        assert_eq!(dialect("name\tprice\na, b\t1\n"), ('\t', '.'));
        assert_eq!(dialect("name|price\na|1.299,00 \u{20AC}\n"), ('|', ','));
        assert_eq!(dialect("name\na, b\nc\n"), (',', '.'));
        assert_eq!(dialect(""), (',', '.'));
        assert_eq!(dialect("name,a|b|c\nx,1|2\ny,3\n"), (',', '.'));
    }

    #[test]
    fn a_first_line_may_name_it() {
        let found = Dialect::of(b"sep=;\r\na,b;c\n1;2\n", b',');
        assert_eq!((found.delimiter, found.skip), (b';', 7));
    }
}
