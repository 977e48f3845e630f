//! Files that are encrypted as `age` does it (age-encryption.org/v1): for X25519 keys, or with a passphrase. What is
//! written here is read by `age`, and the other way round.
//!
//! | file | holds |
//! |---|---|
//! | `keys.rs` | who may read a file, and what reads it |
//! | `header.rs` | the head of a file, line by line |
//! | `stanza.rs` | the key of a file, wrapped for each who may read it |
//! | `payload.rs` | the content, in chunks that can't be swapped, cut off or added to |
//! | `scrypt.rs`, `bech32.rs` | passphrases to keys, keys as text |
//! | `limits.rs`, `error.rs` | every bound, with its unit; what can go wrong |

mod bech32;
mod error;
mod header;
mod keys;
pub mod limits;
mod payload;
mod scrypt;
mod stanza;

use std::io::{self, BufRead, Write};

use aws_lc_rs::hkdf;
use forecourt_core::Entropy;
use zeroize::Zeroizing;

pub use error::{AgeError, KeyError};
pub use keys::{Identity, Passphrase, Recipient};
pub use payload::{Reader, Writer};

/// What an encrypted file begins with.
pub const MAGIC: &[u8] = b"age-encryption.org/";

/// The key of one file.
type FileKey = Zeroizing<[u8; 16]>;

/// Who may read a file.
pub enum Locks<'a> {
    /// Whoever has one of these keys. At least one.
    Keys(&'a [Recipient]),
    /// Whoever knows this.
    Passphrase(&'a Passphrase),
}

/// Writes the head of a file to `out`; what is written to the result is its content. It must be
/// [finished](Writer::finish).
///
/// # Errors
/// Nothing can be written.
pub fn encrypt<W: Write>(mut out: W, locks: Locks<'_>, entropy: &dyn Entropy) -> io::Result<Writer<W>> {
    let mut key = FileKey::default();
    entropy.fill(key.as_mut());
    let stanzas: Vec<stanza::Stanza> = match locks {
        Locks::Keys(recipients) => {
            recipients.iter().map(|recipient| stanza::for_key(recipient, &key, entropy)).collect::<Option<_>>()
        }
        Locks::Passphrase(passphrase) => stanza::for_passphrase(passphrase, &key, entropy).map(|one| vec![one]),
    }
    .filter(|stanzas: &Vec<_>| !stanzas.is_empty())
    .ok_or_else(|| io::Error::other("the key of the file can't be wrapped"))?;
    header::write(&mut out, &stanzas, &key)?;
    let mut nonce = [0; payload::NONCE];
    entropy.fill(&mut nonce);
    out.write_all(&nonce)?;
    Ok(Writer::new(out, &key, &nonce))
}

/// Reads the head of a file; what is read from the result is its content.
///
/// # Errors
/// It is no such file, none of `identities` opens it, or it can't be read.
pub fn decrypt<R: BufRead>(mut file: R, identities: &[Identity]) -> Result<Reader<R>, AgeError> {
    let head = header::read(&mut file)?;
    let key = stanza::unwrap(&head.stanzas, identities)?;
    head.verify(&key)?;
    let mut nonce = [0; payload::NONCE];
    file.read_exact(&mut nonce)?;
    Ok(Reader::new(file, &key, &nonce))
}

/// 32 bytes out of a key, for one use. RFC 5869.
fn derived(key: &[u8], salt: &[u8], info: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut bytes = Zeroizing::new([0; 32]);
    let made = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(key);
    made.expand(&[info], hkdf::HKDF_SHA256).and_then(|made| made.fill(bytes.as_mut())).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests;
