//! Gzip undone within a bound.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::limits::UNPACKED_BYTES_MAX;

/// Undoes gzip when the bytes are that, whatever their name says. Fails past
/// [`UNPACKED_BYTES_MAX`], and when the rest is broken.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::new();
    // One byte past the bound tells that there is more, without unpacking it (gzip bombs).
    let unpacked = MultiGzDecoder::new(bytes).take(UNPACKED_BYTES_MAX as u64 + 1).read_to_end(&mut out);
    match unpacked {
        Ok(length) if length > UNPACKED_BYTES_MAX => Err(format!("more than {UNPACKED_BYTES_MAX} bytes when unpacked")),
        Ok(_) => Ok(out),
        Err(error) => Err(format!("cannot be unpacked: {error}")),
    }
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

    proptest! {
        #[test]
        fn any_bytes_are_unpacked(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpacked(&[&[0x1F, 0x8B], &bytes[..]].concat());
        }
    }
}
