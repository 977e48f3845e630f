//! This module reads the key that all nodes of a deployment have.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use crate::seal::KEY_BYTES;

/// What the rows of a store are sealed with: 32 random bytes, the same on every node.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreKey([u8; KEY_BYTES]);

impl StoreKey {
    /// A key of these bytes.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads a key as `openssl rand -base64 32` or `openssl rand -hex 32` writes it, space around it aside. `None`
    /// when it is neither, or has another length.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = hex(text).or_else(|| {
            [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD].iter().find_map(|form| form.decode(text).ok())
        })?;
        bytes.try_into().ok().map(Self)
    }

    /// A secret for another purpose than sealing rows, the same for whoever has the key.
    pub fn secret(&self, purpose: &str) -> [u8; KEY_BYTES] {
        // Derived by purpose, so that a secret that leaks tells nothing about the key or the other secrets.
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut secret = [0; KEY_BYTES];
        secret.copy_from_slice(hmac::sign(&key, format!("forecourt {purpose}").as_bytes()).as_ref());
        secret
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 2 * KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..KEY_BYTES).map(|n| u8::from_str_radix(&text[2 * n..2 * n + 2], 16).ok()).collect()
}

/// Never prints it.
impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_openssl_writes_it() {
        let key = StoreKey::from_bytes([0xab; 32]);
        assert_eq!(StoreKey::parse(&"ab".repeat(32)), Some(key.clone()));
        assert_eq!(StoreKey::parse(&format!("{}\n", STANDARD.encode([0xab; 32]))), Some(key.clone()));
        assert_eq!(StoreKey::parse(&URL_SAFE_NO_PAD.encode([0xab; 32])), Some(key.clone()));
        for wrong in ["", "ab", &"ab".repeat(31), &"ab".repeat(33), &"é".repeat(32), &STANDARD.encode([1; 31])] {
            assert_eq!(StoreKey::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{key:?}"), "StoreKey");
    }
}
