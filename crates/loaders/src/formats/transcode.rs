//! Files in other encodings, brought to UTF-8 as they are read.

use std::io::{self, BufRead, BufReader, Read};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::limits::ENCODING_BYTES_READ;

/// Bytes that are decoded at once.
const PIECE_BYTES: usize = 16 * 1024;

/// The same bytes as UTF-8. They are in the encoding of the mark in front, or of the XML declaration; without
/// either they are passed on as they are, broken or not. What is not valid in the encoding becomes U+FFFD.
pub(super) fn utf8<'a>(reader: impl Read + 'a) -> Box<dyn Read + 'a> {
    let mut reader = BufReader::with_capacity(PIECE_BYTES, reader);
    // A read error comes again when the file is read, and is told then.
    match reader.fill_buf().ok().and_then(encoding) {
        None => Box::new(reader),
        Some(encoding) => Box::new(Transcoder::new(reader, encoding)),
    }
}

/// A document whose media type names an encoding, in UTF-8 and with its mark in front, so that no other
/// encoding is looked for. `None` when it names none that is known.
pub(super) fn utf8_by_mime(bytes: &[u8], mime: &str) -> Option<Vec<u8>> {
    let named = charset(mime).and_then(Encoding::for_label)?;
    let (text, _, _) = named.decode(bytes);
    Some(["\u{FEFF}", &text].concat().into_bytes())
}

/// The text of a document from the web, in the encoding that its mark, its media type or the document itself names, in
/// this order; UTF-8 without. What is not valid in it becomes U+FFFD.
pub fn decode_text(bytes: &[u8], media_type: &str) -> String {
    let declared = charset(media_type).and_then(Encoding::for_label).or_else(|| in_page(bytes));
    // A mark in front wins over the encoding that is passed.
    let (text, _, _) = declared.unwrap_or(UTF_8).decode(bytes);
    text.into_owned()
}

/// The encoding that the beginning of a page names.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(ENCODING_BYTES_READ).map(|byte| char::from(byte & 0x7F)).collect();
    let label = declared(head.as_bytes()).or_else(|| charset(&head));
    // A page that can be read so far is not in the sixteen-bit encoding that it may name.
    label.and_then(Encoding::for_label).map(Encoding::output_encoding)
}

/// The value of `charset` in a media type, or in a `meta` element.
pub(super) fn charset(text: &str) -> Option<&[u8]> {
    let at = text.to_ascii_lowercase().find("charset=")? + "charset=".len();
    let value = text[at..].trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')));
    Some(&value.as_bytes()[..end.unwrap_or(value.len())])
}

/// The encoding that the beginning of a file names, when it is not UTF-8.
fn encoding(start: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        // UTF-8 is passed on as it is: `Input` drops the mark.
        return Some(encoding).filter(|encoding| *encoding != UTF_8);
    }
    let head = &start[..start.len().min(ENCODING_BYTES_READ)];
    let named = declared(head).and_then(Encoding::for_label);
    // A declaration that can be read is not in the sixteen-bit encoding that it may name.
    named.filter(|encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(encoding))
}

/// The encoding in an XML declaration.
fn declared(head: &[u8]) -> Option<&[u8]> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(declaration, b"?>")?;
    let at = memchr::memmem::find(&declaration[..end], b"encoding")? + "encoding".len();
    let value = declaration[at..end].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    value.split(|byte| byte == quote).next()
}

struct Transcoder<R> {
    reader: R,
    decoder: Decoder,
    /// What was decoded, and how much of it was read.
    text: Vec<u8>,
    read: usize,
    is_over: bool,
}

impl<R: BufRead> Transcoder<R> {
    fn new(reader: R, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder();
        Self { reader, decoder, text: Vec::new(), read: 0, is_over: false }
    }

    /// Decodes the next piece.
    fn fill(&mut self) -> io::Result<()> {
        let bytes = self.reader.fill_buf()?;
        self.is_over = bytes.is_empty();
        // A byte becomes three at most, and a little is left over from the piece before.
        self.text.resize(3 * bytes.len() + 16, 0);
        let (_, used, written, _) = self.decoder.decode_to_utf8(bytes, &mut self.text, self.is_over);
        self.text.truncate(written);
        self.read = 0;
        self.reader.consume(used);
        Ok(())
    }
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // A piece may decode to nothing, and a read of 0 bytes would mean the end.
        while self.read == self.text.len() && !self.is_over {
            self.fill()?;
        }
        let rest = &self.text[self.read..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        utf8(bytes).read_to_end(&mut out).unwrap();
        out
    }

    fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    }

    #[test]
    fn marks_and_declarations_are_believed() {
        assert_eq!(read(&utf16("é€𝄞", [0xFF, 0xFE], u16::to_le_bytes)), "é€𝄞".as_bytes());
        assert_eq!(read(&utf16("é€𝄞", [0xFE, 0xFF], u16::to_be_bytes)), "é€𝄞".as_bytes());
        let latin = b"<?xml version='1.0' encoding = \"ISO-8859-1\" ?><a>caf\xE9</a>";
        assert!(read(latin).ends_with("café</a>".as_bytes()));
        for as_it_is in
            [&b"caf\xE9"[..], b"<?xml encoding='utf-8'?>\xFF", b"<?xml encoding='utf-16'?>x", b"<?xml encoding='?>"]
        {
            assert_eq!(read(as_it_is), as_it_is);
        }
    }

    #[test]
    fn a_file_that_ends_inside_a_character_ends() {
        assert_eq!(read(b"\xFF\xFEa\0b"), "a\u{FFFD}".as_bytes());
    }

    proptest! {
        #[test]
        fn long_texts_survive_the_pieces(text in "[a-z€𝄞é]{0,40}", times in 1_usize..2_000) {
            let text = text.repeat(times);
            prop_assert_eq!(read(&utf16(&text, [0xFF, 0xFE], u16::to_le_bytes)), text.as_bytes());
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300), mark in 0_usize..4) {
            let start: [&[u8]; 4] = [b"", b"\xFF\xFE", b"\xFE\xFF", b"<?xml encoding='shift_jis'?>"];
            read(&[start[mark], &bytes].concat());
        }
    }

    #[test]
    fn encodings_are_found_in_their_order() {
        assert_eq!(decode_text(b"caf\xE9", "text/html; charset=\"ISO-8859-1\""), "café");
        assert_eq!(decode_text(b"<meta charset='windows-1252'>\x80", "text/html"), "<meta charset='windows-1252'>€");
        assert!(decode_text(b"<?xml version='1.0' encoding='latin1'?>\xFC", "").ends_with('ü'));
        assert_eq!(decode_text(b"\xEF\xBB\xBF\xC3\xA9", "text/html; charset=latin1"), "é");
        assert_eq!(decode_text(b"\xFF\xFEa\0", "text/html"), "a");
        assert_eq!(decode_text(b"caf\xE9", "text/html; charset=nonsense"), "caf\u{FFFD}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..300), mime in ".{0,30}") {
            decode_text(&bytes, &mime);
        }
    }
}
