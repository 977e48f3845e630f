//! SHA-256, and its hexadecimal digits.

use aws_lc_rs::digest::{Context, SHA256, digest};

/// A SHA-256.
pub type Hash = [u8; 32];

/// What stands for the record before the first one. Base 8.1.
pub const FIRST: Hash = [0; 32];

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> Hash {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, bytes).as_ref());
    out
}

/// SHA-256 of several pieces, one after the other.
pub fn sha256_of(pieces: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    pieces.iter().for_each(|piece| context.update(piece));
    let mut out = [0; 32];
    out.copy_from_slice(context.finish().as_ref());
    out
}

/// The 64 lowercase hexadecimal digits.
pub fn to_hex(hash: &Hash) -> String {
    let mut digits = [0; 64];
    write_hex(hash, &mut digits);
    std::str::from_utf8(&digits).unwrap_or_default().to_owned()
}

/// The same, into a place that is there.
pub(crate) fn write_hex(hash: &Hash, out: &mut [u8]) {
    for (byte, pair) in hash.iter().zip(out.chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 0x0f)];
    }
}

/// Reads 64 lowercase hexadecimal digits; `None` for anything else.
pub fn from_hex(text: &str) -> Option<Hash> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut hash = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(hash)
}

/// A SHA-256 in the making.
#[derive(Clone)]
pub struct RunningHash(Context);

impl Default for RunningHash {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl RunningHash {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The 64 lowercase hexadecimal digits.
    pub fn finish(self) -> String {
        let mut out = [0; 32];
        out.copy_from_slice(self.0.finish().as_ref());
        to_hex(&out)
    }
}
