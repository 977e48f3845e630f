//! Bytes of an answer to text: gzip undone within a bound, encodings brought to UTF-8.

use std::io::Read;

use encoding_rs::{Encoding, UTF_8};
use flate2::read::MultiGzDecoder;

use crate::limits::{ENCODING_BYTES_READ, UNPACKED_BYTES_MAX};
use crate::loaders::{charset, declared};

/// Undoes gzip when the bytes are that, whatever their name says. Fails past
/// [`UNPACKED_BYTES_MAX`], and when the rest is broken.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::new();
    let unpacked = MultiGzDecoder::new(bytes).take(UNPACKED_BYTES_MAX as u64 + 1).read_to_end(&mut out);
    match unpacked {
        Ok(length) if length > UNPACKED_BYTES_MAX => Err(format!("more than {UNPACKED_BYTES_MAX} bytes when unpacked")),
        Ok(_) => Ok(out),
        Err(error) => Err(format!("cannot be unpacked: {error}")),
    }
}

/// The text, in the encoding that its mark, the answer's head or the page itself names, in this order;
/// UTF-8 without. What is not valid in it becomes U+FFFD.
pub(crate) fn text(bytes: &[u8], mime: &str) -> String {
    let declared = charset(mime).and_then(Encoding::for_label).or_else(|| in_page(bytes));
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_undone_up_to_the_bound() {
        assert_eq!(unpacked(&packed(b"hello")).unwrap(), b"hello");
        assert_eq!(unpacked(b"plain").unwrap(), b"plain");
        assert_eq!(unpacked(&packed(&vec![0; UNPACKED_BYTES_MAX])).unwrap().len(), UNPACKED_BYTES_MAX);
        assert!(unpacked(&packed(&vec![0; UNPACKED_BYTES_MAX + 1])).unwrap_err().contains("more than"));
        assert!(unpacked(&packed(b"hello")[..12]).unwrap_err().contains("cannot be unpacked"));
    }

    #[test]
    fn encodings_are_found_in_their_order() {
        assert_eq!(text(b"caf\xE9", "text/html; charset=\"ISO-8859-1\""), "café");
        assert_eq!(text(b"<meta charset='windows-1252'>\x80", "text/html"), "<meta charset='windows-1252'>€");
        assert!(text(b"<?xml version='1.0' encoding='latin1'?>\xFC", "").ends_with('ü'));
        assert_eq!(text(b"\xEF\xBB\xBF\xC3\xA9", "text/html; charset=latin1"), "é");
        assert_eq!(text(b"\xFF\xFEa\0", "text/html"), "a");
        assert_eq!(text(b"caf\xE9", "text/html; charset=nonsense"), "caf\u{FFFD}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300), mime in ".{0,30}") {
            text(&bytes, &mime);
            let _ = unpacked(&[&[0x1F, 0x8B], &bytes[..]].concat());
        }
    }
}
