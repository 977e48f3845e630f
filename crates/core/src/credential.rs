//! The token by which a caller was known, for whoever may exchange it for another one.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A bearer token that was verified. It travels with its sender and nowhere else: it is never serialized, never
/// printed, in no history, and wiped from memory with its last holder. It is handed to nobody but the token
/// endpoint that the operator named (RFC 8693 2.1), which gives another token for it.
#[derive(Clone)]
pub struct SubjectToken(Arc<Zeroizing<String>>);

impl SubjectToken {
    /// A token that was verified.
    pub fn new(token: &str) -> Self {
        Self(Arc::new(Zeroizing::new(token.to_owned())))
    }

    /// The text, to be exchanged.
    pub fn expose_for_exchange(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SubjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectToken([redacted])")
    }
}

/// Two are the same when they are one: texts are never compared.
impl PartialEq for SubjectToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
