//! Ethereum's hash, and values in the words of 32 bytes that its contracts use.

use sha3::{Digest, Keccak256};

use crate::hex::Address;

/// Keccak-256, which SHA-3 differs from.
pub(crate) fn keccak256(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}

/// A number as a word.
pub(crate) fn word(number: u128) -> [u8; 32] {
    let mut word = [0; 32];
    word[16..].copy_from_slice(&number.to_be_bytes());
    word
}

/// An address as a word.
pub(crate) fn address_word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}
