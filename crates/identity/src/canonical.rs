//! This module checks objects that carry a signature over their own canonical form. AGTP base 6.2.

use forecourt_core::AgentId;
use forecourt_jose::VerifyKey;
use serde_json::{Map, Value};

/// The bytes that somebody signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedForm {
    /// The bytes, as text.
    pub text: String,
    /// Whether they spell what is not ASCII as `\uXXXX`, as the reference implementation does and
    /// nobody else.
    pub escaped: bool,
}

impl SignedForm {
    /// The form of `document` without `left_out` over which `signature` is one by `key`. `None`: over none.
    ///
    /// # Errors
    /// When it holds numbers that have no canonical form.
    pub(crate) fn of(
        document: &Map<String, Value>,
        left_out: &[&str],
        key: &VerifyKey,
        signature: &[u8],
    ) -> Result<Option<Self>, String> {
        let plain = plain(document, left_out)?;
        if key.verify(plain.as_bytes(), signature) {
            return Ok(Some(Self { text: plain, escaped: false }));
        }
        // The reference implementation signs this form: its documents with texts beyond ASCII would all be refused.
        let escaped = escaped(&plain);
        let fits = escaped != plain && key.verify(escaped.as_bytes(), signature);
        Ok(fits.then_some(Self { text: escaped, escaped: true }))
    }
}

/// The canonical form (RFC 8785) of a document without what can't be part of it.
pub(crate) fn plain(document: &Map<String, Value>, left_out: &[&str]) -> Result<String, String> {
    let kept = document.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    let kept: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    forecourt_core::json::canonical_text(&kept)
}

/// The same with everything that is not ASCII as `\uXXXX`.
pub(crate) fn escaped(plain: &str) -> String {
    let mut escaped = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => {
                let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
                escaped.push_str(&units);
            }
        }
    }
    escaped
}

/// The name of what has these bytes: SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> AgentId {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    let mut hash = [0; 32];
    hash.copy_from_slice(digest.as_ref());
    AgentId::of_hash(&hash)
}
