//! Content codings of answers, undone within a bound. RFC 9110 8.4.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};

use crate::error::EgressError;
use crate::purpose::Purpose;

/// Bytes that are decoded at once.
const PIECE_BYTES: usize = 16 * 1024;

/// A coding that can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Brotli,
}

/// What is asked for: pages of others are worth unpacking, answers that are read as they come are not.
pub(crate) fn accepted(purpose: Purpose) -> HeaderValue {
    HeaderValue::from_static(if purpose == Purpose::Crawl { "gzip, br" } else { "identity" })
}

/// Whether an answer is in no coding that was not asked for.
pub(crate) fn is_accepted(headers: &HeaderMap, purpose: Purpose) -> bool {
    let codings = headers.get_all(CONTENT_ENCODING);
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    codings.iter().all(is_plain)
        // One field only: nested codings multiply what a small body unpacks to.
        || (purpose == Purpose::Crawl && codings.iter().count() == 1 && coding(headers).is_some())
}

fn coding(headers: &HeaderMap) -> Option<Coding> {
    let name = headers.get(CONTENT_ENCODING)?.to_str().ok()?.trim().to_ascii_lowercase();
    match name.as_str() {
        "gzip" | "x-gzip" => Some(Coding::Gzip),
        "br" => Some(Coding::Brotli),
        _ => None,
    }
}

/// The bytes without their coding. Fails past `bytes_max`, however small they are packed, and when they are broken.
pub(crate) fn unpacked(bytes: Bytes, headers: &HeaderMap, bytes_max: usize) -> Result<Bytes, EgressError> {
    let reader: Box<dyn Read + '_> = match coding(headers) {
        None => return Ok(bytes),
        // A gzip stream may have several members (RFC 1952 2.2); the plain decoder would stop after the first.
        Some(Coding::Gzip) => Box::new(MultiGzDecoder::new(&*bytes)),
        Some(Coding::Brotli) => Box::new(brotli_decompressor::Decompressor::new(&*bytes, PIECE_BYTES)),
    };
    let mut out = Vec::new();
    // One byte over the bound tells a bomb from a page that just fits, without unpacking more of it.
    match reader.take(bytes_max as u64 + 1).read_to_end(&mut out) {
        Ok(length) if length > bytes_max => Err(EgressError::TooLarge { bytes_max }),
        Ok(_) => Ok(out.into()),
        Err(error) => Err(EgressError::Failed(format!("the answer cannot be unpacked: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    fn headers(coding: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))])
    }

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn codings_are_undone_up_to_the_bound() {
        let packed = gzip(&[0; 1_000]);
        assert_eq!(unpacked(packed.clone(), &headers("GZIP"), 1_000).unwrap().len(), 1_000);
        assert!(matches!(
            unpacked(packed.clone(), &headers("gzip"), 999),
            Err(EgressError::TooLarge { bytes_max: 999 })
        ));
        assert!(matches!(unpacked(packed.slice(..12), &headers("gzip"), 999), Err(EgressError::Failed(_))));
        // "hello" in one uncompressed block. RFC 7932.
        let brotli = Bytes::from_static(&[0x0B, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03]);
        assert_eq!(unpacked(brotli, &headers("br"), 5).unwrap(), "hello");
        assert_eq!(unpacked(Bytes::from_static(b"x"), &HeaderMap::new(), 0).unwrap(), "x");
    }

    #[test]
    fn only_visits_to_sites_take_codings() {
        assert!(is_accepted(&headers("gzip"), Purpose::Crawl) && is_accepted(&headers("br"), Purpose::Crawl));
        assert!(!is_accepted(&headers("gzip, gzip"), Purpose::Crawl) && !is_accepted(&headers("zstd"), Purpose::Crawl));
        assert!(
            !is_accepted(&headers("gzip"), Purpose::Document) && is_accepted(&headers("identity"), Purpose::Document)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..200), is_gzip: bool) {
            let _ = unpacked(bytes.into(), &headers(if is_gzip { "gzip" } else { "br" }), 10_000);
        }
    }
}
