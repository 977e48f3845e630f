//! This module writes the few forms of DER that a certificate needs. X.690; RFC 5280 4.1, 4.2.

use ed25519_dalek::pkcs8::spki::der::pem::{self, LineEnding};
use forecourt_core::Timestamp;

/// The tag of a DER value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    Boolean,
    Integer,
    BitString,
    OctetString,
    ObjectIdentifier,
    Utf8String,
    UtcTime,
    GeneralizedTime,
    Sequence,
    Set,
    /// Of a place within a structure.
    Explicit(u8),
}

impl Tag {
    fn octet(self) -> u8 {
        match self {
            Self::Boolean => 0x01,
            Self::Integer => 0x02,
            Self::BitString => 0x03,
            Self::OctetString => 0x04,
            Self::ObjectIdentifier => 0x06,
            Self::Utf8String => 0x0c,
            Self::UtcTime => 0x17,
            Self::GeneralizedTime => 0x18,
            Self::Sequence => 0x30,
            Self::Set => 0x31,
            Self::Explicit(place) => 0xa0 | place,
        }
    }
}

/// A value with its tag and its length. X.690 8.1.
pub(super) fn wrap(tag: Tag, content: &[u8]) -> Vec<u8> {
    let mut whole = vec![tag.octet()];
    let length = content.len().to_be_bytes();
    let digits: &[u8] = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    match (content.len(), digits.len()) {
        // All bytes of a zero are leading ones, so that no digit is left.
        (0, _) => whole.push(0),
        (1..=0x7f, _) => whole.extend(digits),
        (_, count) => {
            whole.extend(u8::try_from(count).map(|count| 0x80 | count));
            whole.extend(digits);
        }
    }
    whole.extend(content);
    whole
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    wrap(Tag::Sequence, &parts.concat())
}

/// A BIT STRING of whole octets.
pub(super) fn bits(octets: &[u8]) -> Vec<u8> {
    wrap(Tag::BitString, &[&[0], octets].concat())
}

/// The algorithm identifier of Ed25519. RFC 8410 3.
pub(super) fn ed25519() -> Vec<u8> {
    sequence(&[&wrap(Tag::ObjectIdentifier, &[0x2b, 0x65, 0x70])])
}

/// A name that is a common name and nothing else. RFC 5280 4.1.2.4.
pub(super) fn name(common: &str) -> Vec<u8> {
    let kind = wrap(Tag::ObjectIdentifier, &[0x55, 0x04, 0x03]);
    let pair = sequence(&[&kind, &wrap(Tag::Utf8String, common.as_bytes())]);
    sequence(&[&wrap(Tag::Set, &pair)])
}

/// A moment to the second: with two digits of the year until 2049, with four from then on. RFC 5280 4.1.2.5.
pub(super) fn time(moment: Timestamp) -> Option<Vec<u8>> {
    let year = moment.strftime("%Y").to_string().parse::<i32>().ok()?;
    match year {
        1950..=2049 => Some(wrap(Tag::UtcTime, moment.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())),
        0..=9999 => Some(wrap(Tag::GeneralizedTime, moment.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes())),
        _ => None,
    }
}

/// An extension. RFC 5280 4.2.
pub(super) fn extension(oid: &[u8], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let name = wrap(Tag::ObjectIdentifier, oid);
    let critical = if is_critical { wrap(Tag::Boolean, &[0xff]) } else { Vec::new() };
    sequence(&[&name, &critical, &wrap(Tag::OctetString, value)])
}

/// The extension `basicConstraints`: whether the certificate is an authority's. RFC 5280 4.2.1.9.
pub(super) fn basic_constraints(is_authority: bool) -> Vec<u8> {
    let content = if is_authority { wrap(Tag::Boolean, &[0xff]) } else { Vec::new() };
    extension(&[0x55, 0x1d, 0x13], true, &sequence(&[&content]))
}

/// Uses of a key: the bits, with the count of those that are left out. RFC 5280 4.2.1.3.
pub(super) const DIGITAL_SIGNATURE: [u8; 2] = [7, 0x80];
pub(super) const KEY_CERT_SIGN: [u8; 2] = [2, 0x04];

pub(super) fn key_usage(usage: [u8; 2]) -> Vec<u8> {
    extension(&[0x55, 0x1d, 0x0f], true, &wrap(Tag::BitString, &usage))
}

/// The extension `extKeyUsage` with `clientAuth` alone. RFC 5280 4.2.1.12.
pub(super) fn for_clients() -> Vec<u8> {
    let purpose = wrap(Tag::ObjectIdentifier, &[0x2b, 6, 1, 5, 5, 7, 3, 2]);
    extension(&[0x55, 0x1d, 0x25], false, &sequence(&[&purpose]))
}

/// A certificate as text. RFC 7468.
pub(super) fn to_pem(der: &[u8]) -> String {
    // No certificate of ours is too long for it; an empty text would be refused by every reader.
    pem::encode_string("CERTIFICATE", LineEnding::LF, der).unwrap_or_default()
}
