//! This module holds the bearer token that a caller was verified by, for the exchange of RFC 8693. It reads no token.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A bearer token that was verified. It travels with its sender and nowhere else: it is never serialized, never
/// printed, in no history, and wiped from memory with its last holder. It is handed to nobody but the token
/// endpoint that the operator named (RFC 8693 2.1), which gives another token for it.
#[derive(Clone)]
pub struct SubjectToken(Arc<Zeroizing<String>>);

impl SubjectToken {
    /// Keeps `token`, which the caller has verified.
    pub fn new(token: &str) -> Self {
        Self(Arc::new(Zeroizing::new(token.to_owned())))
    }

    /// The token itself, for the token endpoint alone; `tidy.rs` lists who may call this.
    pub fn expose_for_exchange(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SubjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectToken([redacted])")
    }
}

/// Two are equal when they are clones of one: the secrets themselves are never compared.
impl PartialEq for SubjectToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
