//! This module seals rows, so that a copy of the database without the key opens no task, names no webhook and shows no
//! content.

use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use forecourt_core::{Entropy, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Bytes of the key.
pub(crate) const KEY_BYTES: usize = 32;
/// The first byte of what is sealed: how the rest is laid out.
const LAYOUT: u8 = 1;
/// The same, where what is within is compressed.
const COMPRESSED: u8 = 2;
/// Bytes from which on JSON is compressed: below, it gains little.
const COMPRESS_FROM: usize = 512;
const HEAD: usize = 1 + NONCE_LEN;
const TAG: usize = 16;
/// Bytes that sealing adds.
pub(crate) const OVERHEAD: usize = HEAD + TAG;

/// The SHA-256 of an id: what it is looked up by.
pub(crate) type Hash = [u8; 32];

/// The [`Hash`] of an id or key.
pub(crate) fn hash(id: &str) -> Hash {
    let mut hash = Hash::default();
    hash.copy_from_slice(digest(&SHA256, id.as_bytes()).as_ref());
    hash
}

/// What a sealed value is and whose, bound into it: moved to another row it does not open.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    /// The kind of value, such as `task`.
    pub(crate) kind: &'static str,
    /// The hash of the row it belongs to.
    pub(crate) of: &'a [u8],
    /// Its number or name there, if it has one.
    pub(crate) part: &'a [u8],
}

impl Label<'_> {
    /// As it is bound into a value of this layout. That of compressed values is told apart, so that none
    /// is read as the other; the first layout is as it always was.
    fn bytes(self, layout: u8) -> Vec<u8> {
        let layout: &[u8] = if layout == LAYOUT { b"\0" } else { b"\0\0lz4\0" };
        [self.kind.as_bytes(), layout, self.of, self.part].concat()
    }
}

/// Seals and opens with AES-256-GCM-SIV (RFC 8452), which forgives a nonce used twice: a machine
/// that is cloned while it runs betrays at most that two values are equal.
///
/// Nonces count up from a random start, since drawing each costs more than sealing with it.
pub(crate) struct Seal {
    key: LessSafeKey,
    names: hmac::Key,
    nonce_prefix: [u8; NONCE_LEN - 8],
    next_nonce: AtomicU64,
}

impl Seal {
    /// A seal with this key. Its first nonce comes from `entropy`.
    pub(crate) fn new(key: &[u8; KEY_BYTES], entropy: &dyn Entropy) -> Result<Self, StoreError> {
        // A key of its own, derived: the same bytes must not be a key of two algorithms.
        let names = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), b"forecourt account names");
        let names = hmac::Key::new(hmac::HMAC_SHA256, names.as_ref());
        let key = UnboundKey::new(&AES_256_GCM_SIV, key).map_err(|_| corrupt("the key does not fit its cipher"))?;
        let (mut nonce_prefix, mut start) = ([0; NONCE_LEN - 8], [0; 8]);
        entropy.fill(&mut nonce_prefix);
        entropy.fill(&mut start);
        let next_nonce = AtomicU64::new(u64::from_le_bytes(start));
        Ok(Self { key: LessSafeKey::new(key), names, nonce_prefix, next_nonce })
    }

    /// What stands for a name that could be guessed from its plain hash, such as a network address.
    pub(crate) fn pseudonym(&self, name: &str) -> Hash {
        let mut hash = Hash::default();
        hash.copy_from_slice(hmac::sign(&self.names, name.as_bytes()).as_ref());
        hash
    }

    /// Seals `value` as JSON, compressed where that makes it shorter: who asks and who answers repeats a
    /// lot.
    pub(crate) fn seal<T: Serialize + ?Sized>(&self, label: Label<'_>, value: &T) -> Result<Vec<u8>, StoreError> {
        let mut sealed = self.head(LAYOUT, 0);
        serde_json::to_writer(&mut sealed, value).map_err(|e| corrupt(format!("a value has no JSON form: {e}")))?;
        if sealed.len() - HEAD >= COMPRESS_FROM {
            let compressed = lz4_flex::compress_prepend_size(&sealed[HEAD..]);
            // A picture in base64 does not get shorter: then it is kept as it is, and needs no unpacking.
            if compressed.len() < sealed.len() - HEAD {
                sealed[0] = COMPRESSED;
                sealed.truncate(HEAD);
                sealed.extend_from_slice(&compressed);
            }
        }
        self.close(label, sealed)
    }

    /// Seals `value` as JSON, as long as it is: where its length is looked at later.
    pub(crate) fn seal_plain(&self, label: Label<'_>, value: &Value) -> Result<Vec<u8>, StoreError> {
        self.seal_bytes(label, value.to_string().as_bytes())
    }

    /// Seals `bytes` as they are.
    pub(crate) fn seal_bytes(&self, label: Label<'_>, bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut sealed = self.head(LAYOUT, bytes.len());
        sealed.extend_from_slice(bytes);
        self.close(label, sealed)
    }

    fn head(&self, layout: u8, len: usize) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(OVERHEAD + len);
        sealed.push(layout);
        sealed.extend_from_slice(&self.nonce_prefix);
        sealed.extend_from_slice(&self.next_nonce.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        sealed
    }

    fn close(&self, label: Label<'_>, mut sealed: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let (head, body) = sealed.split_at_mut(HEAD);
        let nonce = Nonce::try_assume_unique_for_key(&head[1..]).map_err(|_| does_not_open())?;
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(label.bytes(head[0])), body);
        sealed.extend_from_slice(tag.map_err(|_| corrupt("a value is too long to seal"))?.as_ref());
        Ok(sealed)
    }

    /// Opens what [`Self::seal`] closed. Fails when it was changed, moved or sealed with another key.
    pub(crate) fn open<T: DeserializeOwned>(&self, label: Label<'_>, sealed: Vec<u8>) -> Result<T, StoreError> {
        let json = self.open_bytes(label, sealed)?;
        serde_json::from_slice(&json).map_err(|e| corrupt(format!("a {} has another form: {e}", label.kind)))
    }

    /// Opens what [`Self::seal_bytes`] closed.
    pub(crate) fn open_bytes(&self, label: Label<'_>, mut sealed: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        if sealed.len() < OVERHEAD || !matches!(sealed[0], LAYOUT | COMPRESSED) {
            return Err(does_not_open());
        }
        let layout = sealed[0];
        let (head, body) = sealed.split_at_mut(HEAD);
        let nonce = Nonce::try_assume_unique_for_key(&head[1..]).map_err(|_| does_not_open())?;
        let opened = self.key.open_in_place(nonce, Aad::from(label.bytes(layout)), body);
        let len = opened.map_err(|_| does_not_open())?.len();
        // In place: artifacts have up to 16 MiB, and a second buffer of that size would be allocated for each read.
        sealed.copy_within(HEAD..HEAD + len, 0);
        sealed.truncate(len);
        match layout {
            // The length in front is trusted, as it was sealed with the rest: nobody else can make it ask for
            // gigabytes.
            COMPRESSED => lz4_flex::decompress_size_prepended(&sealed).map_err(|_| does_not_open()),
            _ => Ok(sealed),
        }
    }
}

/// A fault of the data itself, in words for the operator.
pub(crate) fn corrupt(reason: impl Into<String>) -> StoreError {
    StoreError::Corrupt(reason.into())
}

fn does_not_open() -> StoreError {
    corrupt(
        "a sealed value does not open: it was changed, or the key of the store (store.key, or `key` in [store]) is another one's",
    )
}

/// Random bytes of the operating system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // The trait's contract: a machine without randomness must not serve.
        aws_lc_rs::rand::fill(bytes).expect("the operating system gives random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: Label<'_> = Label { kind: "task", of: b"row", part: b"" };

    fn with_key(byte: u8) -> Seal {
        Seal::new(&[byte; KEY_BYTES], &SystemEntropy).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_and_shows_nothing() {
        let sealed = with_key(1).seal(LABEL, "the secret").unwrap();
        assert!(!sealed.windows(6).any(|w| w == b"secret"));
        assert_eq!(sealed.len(), OVERHEAD + "\"the secret\"".len());
        assert_eq!(with_key(1).open::<String>(LABEL, sealed).unwrap(), "the secret");
    }

    #[test]
    fn the_same_value_never_looks_the_same() {
        let seal = with_key(1);
        assert_ne!(seal.seal_bytes(LABEL, b"x").unwrap(), seal.seal_bytes(LABEL, b"x").unwrap());
    }

    #[test]
    fn what_repeats_itself_is_kept_short_and_opens() {
        let long = "dinner ".repeat(1_000);
        let sealed = with_key(1).seal(LABEL, &long).unwrap();
        assert!(sealed.len() < long.len() / 10, "{} bytes", sealed.len());
        assert_eq!(with_key(1).open::<String>(LABEL, sealed.clone()).unwrap(), long);
        let mut other = sealed;
        other[0] = LAYOUT;
        assert!(with_key(1).open_bytes(LABEL, other).is_err(), "one layout is not read as the other");
    }

    #[test]
    fn another_key_place_or_byte_does_not_open() {
        let sealed = with_key(1).seal_bytes(LABEL, b"words").unwrap();
        assert!(with_key(2).open_bytes(LABEL, sealed.clone()).is_err());
        assert!(with_key(1).open_bytes(Label { of: b"other", ..LABEL }, sealed.clone()).is_err());
        assert!(with_key(1).open_bytes(Label { kind: "turn", ..LABEL }, sealed.clone()).is_err());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(with_key(1).open_bytes(LABEL, changed).is_err(), "byte {place}");
            assert!(with_key(1).open_bytes(LABEL, sealed[..place].to_vec()).is_err(), "length {place}");
        }
    }
}
