//! The key of a file, wrapped for each who may read it.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use forecourt_core::Entropy;
use zeroize::Zeroizing;

use crate::error::AgeError;
use crate::keys::{Identity, Passphrase, Recipient};
use crate::limits::{WORK, WORK_MAX};
use crate::{FileKey, derived, scrypt};

const KEY: &str = "X25519";
const PASSPHRASE: &str = "scrypt";
const KEY_INFO: &[u8] = b"age-encryption.org/v1/X25519";
const PASSPHRASE_INFO: &[u8] = b"age-encryption.org/v1/scrypt";
/// Bytes of a wrapped key: the key, and its tag.
const WRAPPED: usize = 32;

/// One stanza of a head.
#[derive(Debug)]
pub(crate) struct Stanza {
    /// Its kind, and what belongs to that.
    pub(crate) arguments: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// The key of a file for one recipient. `None`: the recipient is none.
pub(crate) fn for_key(recipient: &Recipient, key: &FileKey, entropy: &dyn Entropy) -> Option<Stanza> {
    let mut secret = Zeroizing::new([0; 32]);
    entropy.fill(secret.as_mut());
    let (share, shared) = agreement(&secret, &recipient.0)?;
    let wrapping = derived(shared.as_ref(), &[share, recipient.0].concat(), KEY_INFO)?;
    Some(Stanza { arguments: vec![KEY.to_owned(), STANDARD_NO_PAD.encode(share)], body: wrap(&wrapping, key)? })
}

/// The key of a file for those who know a passphrase.
pub(crate) fn for_passphrase(passphrase: &Passphrase, key: &FileKey, entropy: &dyn Entropy) -> Option<Stanza> {
    let mut salt = [0; 16];
    entropy.fill(&mut salt);
    let wrapping = passphrase_key(passphrase, &salt, WORK)?;
    let arguments = vec![PASSPHRASE.to_owned(), STANDARD_NO_PAD.encode(salt), WORK.to_string()];
    Some(Stanza { arguments, body: wrap(&wrapping, key)? })
}

/// The key of a file, by the first of `identities` that has it.
pub(crate) fn unwrap(stanzas: &[Stanza], identities: &[Identity]) -> Result<FileKey, AgeError> {
    let is_passphrase = |stanza: &Stanza| stanza.arguments.first().is_some_and(|kind| kind == PASSPHRASE);
    // Whoever adds a key beside a passphrase could have made the file without knowing it.
    if stanzas.len() > 1 && stanzas.iter().any(is_passphrase) {
        return Err(AgeError::Damaged);
    }
    for identity in identities {
        for stanza in stanzas {
            let opened = match identity {
                Identity::Key(secret) => with_key(stanza, secret)?,
                Identity::Passphrase(passphrase) => with_passphrase(stanza, passphrase)?,
            };
            if let Some(key) = opened {
                return Ok(key);
            }
        }
    }
    Err(AgeError::NoKey)
}

fn with_key(stanza: &Stanza, secret: &Zeroizing<[u8; 32]>) -> Result<Option<FileKey>, AgeError> {
    let [kind, share] = stanza.arguments.as_slice() else { return of_another_kind(stanza, KEY) };
    if kind != KEY {
        return Ok(None);
    }
    let share: [u8; 32] = decoded(share)?;
    check_body(stanza)?;
    let (own, shared) = agreement(secret, &share).ok_or(AgeError::Damaged)?;
    let wrapping = derived(shared.as_ref(), &[share, own].concat(), KEY_INFO).ok_or(AgeError::Damaged)?;
    Ok(unwrap_with(&wrapping, &stanza.body))
}

fn with_passphrase(stanza: &Stanza, passphrase: &Passphrase) -> Result<Option<FileKey>, AgeError> {
    let [kind, salt, work] = stanza.arguments.as_slice() else { return of_another_kind(stanza, PASSPHRASE) };
    if kind != PASSPHRASE {
        return Ok(None);
    }
    let salt: [u8; 16] = decoded(salt)?;
    check_body(stanza)?;
    if work.is_empty() || work.starts_with('0') || !work.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(AgeError::Damaged);
    }
    let work = work.parse().ok().filter(|work| *work <= WORK_MAX).ok_or(AgeError::TooMuchWork)?;
    let wrapping = passphrase_key(passphrase, &salt, work).ok_or(AgeError::TooMuchWork)?;
    Ok(unwrap_with(&wrapping, &stanza.body))
}

/// Nothing, unless it should have had other arguments.
fn of_another_kind(stanza: &Stanza, kind: &str) -> Result<Option<FileKey>, AgeError> {
    match stanza.arguments.first().is_some_and(|own| own == kind) {
        true => Err(AgeError::Damaged),
        false => Ok(None),
    }
}

fn check_body(stanza: &Stanza) -> Result<(), AgeError> {
    if stanza.body.len() == WRAPPED { Ok(()) } else { Err(AgeError::Damaged) }
}

fn decoded<const N: usize>(text: &str) -> Result<[u8; N], AgeError> {
    let bytes = STANDARD_NO_PAD.decode(text).ok();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or(AgeError::Damaged)
}

/// The public half of a key, and what it shares with a peer. `None`: the peer's is a point of low order.
fn agreement(secret: &Zeroizing<[u8; 32]>, peer: &[u8; 32]) -> Option<([u8; 32], Zeroizing<[u8; 32]>)> {
    let own = PrivateKey::from_private_key(&X25519, secret.as_ref()).ok()?;
    let public = own.compute_public_key().ok()?.as_ref().try_into().ok()?;
    let peer = UnparsedPublicKey::new(&X25519, peer);
    let shared = agree(&own, peer, (), |shared| <[u8; 32]>::try_from(shared).map(Zeroizing::new).map_err(|_| ()));
    shared.ok().filter(|shared| shared.iter().any(|byte| *byte != 0)).map(|shared| (public, shared))
}

fn passphrase_key(passphrase: &Passphrase, salt: &[u8; 16], work: u8) -> Option<Zeroizing<[u8; 32]>> {
    scrypt::key(passphrase.0.as_bytes(), &[PASSPHRASE_INFO, salt].concat(), work)
}

/// Each wrapping key is used once, so that the nonce may be what it is.
fn cipher(key: &Zeroizing<[u8; 32]>) -> Option<(LessSafeKey, Nonce)> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok()?;
    Some((LessSafeKey::new(key), Nonce::assume_unique_for_key([0; 12])))
}

fn wrap(wrapping: &Zeroizing<[u8; 32]>, key: &FileKey) -> Option<Vec<u8>> {
    let (cipher, nonce) = cipher(wrapping)?;
    let mut body = key.to_vec();
    cipher.seal_in_place_append_tag(nonce, Aad::empty(), &mut body).ok()?;
    Some(body)
}

fn unwrap_with(wrapping: &Zeroizing<[u8; 32]>, body: &[u8]) -> Option<FileKey> {
    let (cipher, nonce) = cipher(wrapping)?;
    let mut body = Zeroizing::new(body.to_vec());
    let key = cipher.open_in_place(nonce, Aad::empty(), &mut body).ok()?;
    <[u8; 16]>::try_from(&*key).ok().map(Zeroizing::new)
}
