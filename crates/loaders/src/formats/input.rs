//! A file being read: brings it to UTF-8, counts bytes and lines, drops a byte order mark, and gives up a
//! record that does not end.

use std::io::{self, BufRead, BufReader, Read};

use url::Url;

use super::transcode::utf8;
use super::{At, links};
use crate::limits::RECORD_SEARCH_BYTES_MAX;
use crate::mapping::TableMapping;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const BUFFER_BYTES: usize = 64 * 1024;

/// One file, from its first byte to its last.
pub struct Input<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    file: &'a str,
    base: Option<&'a str>,
    table: Option<&'a TableMapping>,
    /// Where it was found on the web.
    found_at: Option<&'a str>,
    bytes: u64,
    line: u64,
    record: Option<u64>,
    begun: bool,
}

impl<'a> Input<'a> {
    /// `file` is the path under its source, `base` the public URL of that source.
    pub fn new(reader: impl Read + 'a, file: &'a str, base: Option<&'a str>) -> Self {
        let reader = BufReader::with_capacity(BUFFER_BYTES, utf8(reader));
        Self { reader, file, base, table: None, found_at: None, bytes: 0, line: 1, record: None, begun: false }
    }

    /// Sets how the file is read as a table, as its operator says.
    pub fn with_table(mut self, table: Option<&'a TableMapping>) -> Self {
        self.table = table;
        self
    }

    /// Sets the URL at which the document was found.
    pub(super) fn found_at(mut self, url: Option<&'a str>) -> Self {
        self.found_at = url;
        self
    }

    /// How the file is read as a table, if its operator says so.
    pub(super) fn table(&self) -> Option<&'a TableMapping> {
        self.table
    }

    /// The public URL of the source.
    pub(super) fn base(&self) -> Option<&'a str> {
        self.base
    }

    /// The path of the file under its source.
    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// Where the file can be found by others, if its source says so.
    pub fn url(&self) -> Option<String> {
        match self.found_at {
            Some(url) => Some(url.to_owned()),
            None => Some(links::url_of(self.base?, self.file)),
        }
    }

    /// The public URL of the shop whose products are in the file: the root of the site that it was found on, else what
    /// the operator says of the source.
    pub(super) fn shop_url(&self) -> Option<String> {
        let root = self.found_at.and_then(|url| Url::parse(url).ok()?.join("/").ok()).map(String::from);
        root.or_else(|| self.base.map(str::to_owned))
    }

    /// Bytes and lines consumed so far.
    pub(crate) fn at(&self) -> At {
        At { line: self.line, bytes: self.bytes }
    }

    /// A record begins here. From now on reading fails when one is longer than
    /// [`RECORD_SEARCH_BYTES_MAX`].
    pub(crate) fn begin_record(&mut self) {
        self.record = Some(self.bytes);
    }

    fn check_record(&self) -> io::Result<()> {
        match self.record {
            Some(start) if self.bytes - start > RECORD_SEARCH_BYTES_MAX => {
                Err(io::Error::other(format!("a record does not end within {RECORD_SEARCH_BYTES_MAX} bytes")))
            }
            _ => Ok(()),
        }
    }

    fn drop_byte_order_mark(&mut self) -> io::Result<()> {
        self.begun = true;
        if self.reader.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
            self.reader.consume(BYTE_ORDER_MARK.len());
            self.bytes = BYTE_ORDER_MARK.len() as u64;
        }
        Ok(())
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.begun {
            self.drop_byte_order_mark()?;
        }
        // Here, where more bytes come from, so that no parser on top can read past the bound.
        self.check_record()?;
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let taken = &self.reader.buffer()[..amount.min(self.reader.buffer().len())];
        self.line += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.bytes += amount as u64;
        self.reader.consume(amount);
    }
}

impl Read for Input<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let buffer = self.fill_buf()?;
        let amount = buffer.len().min(out.len());
        out[..amount].copy_from_slice(&buffer[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_bytes_are_counted_and_the_mark_is_dropped() {
        let mut input = Input::new(&b"\xEF\xBB\xBFa\nb\n"[..], "f", Some("https://e.org/d/"));
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\nb\n");
        assert_eq!(input.at(), At { line: 3, bytes: 7 });
        assert_eq!(input.url().as_deref(), Some("https://e.org/d/f"));
    }

    #[test]
    fn a_record_ends_at_the_bound() {
        let mut input = Input::new(io::repeat(b'x'), "f", None);
        input.begin_record();
        let error = io::copy(&mut input, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("does not end"));
        assert!(input.at().bytes <= RECORD_SEARCH_BYTES_MAX + BUFFER_BYTES as u64);
    }
}
