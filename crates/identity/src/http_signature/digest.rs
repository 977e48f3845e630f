//! This module writes and checks `Content-Digest`, by which a signature covers the body. RFC 9530 2.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{Algorithm, SHA256, SHA512, digest};
use forecourt_jose::ProofError;
use forecourt_jose::encoding::to_base64;
use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, Item, ListEntry, Parser};

pub(crate) const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

/// The value of the field for `body`, by SHA-256.
pub fn content_digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", to_base64(digest(&SHA256, body).as_ref()))
}

/// Whether `Content-Digest` holds the hash of `body`. Every digest of a known algorithm must match,
/// and there must be one; algorithms that are broken or unknown prove nothing.
pub fn matches_digest(headers: &HeaderMap, body: &[u8]) -> Result<(), ProofError> {
    let malformed = ProofError::Malformed("content digest");
    let values: Result<Vec<_>, _> = headers.get_all(&CONTENT_DIGEST).iter().map(|value| value.to_str()).collect();
    let joined = values.map_err(|_| malformed)?.join(", ");
    let digests: Dictionary = Parser::new(&joined).parse().map_err(|_| malformed)?;
    let mut known = 0;
    for (name, value) in &digests {
        let Some(algorithm) = algorithm(name.as_str()) else { continue };
        let ListEntry::Item(Item { bare_item: BareItem::ByteSequence(claimed), .. }) = value else {
            return Err(malformed);
        };
        known += 1;
        verify_slices_are_equal(digest(algorithm, body).as_ref(), claimed).map_err(|_| ProofError::WrongDigest)?;
    }
    if known > 0 { Ok(()) } else { Err(ProofError::Missing("content-digest")) }
}

fn algorithm(name: &str) -> Option<&'static Algorithm> {
    match name {
        "sha-256" => Some(&SHA256),
        "sha-512" => Some(&SHA512),
        _ => None,
    }
}
