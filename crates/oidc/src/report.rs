//! What went wrong, for our log: without anything of the person.

use crate::error::OidcError;

/// What came back does not hold.
pub(crate) fn invalid(reason: &str) -> OidcError {
    tracing::warn!(reason, "a sign-in did not hold");
    OidcError::Invalid
}

/// The provider does not do its part.
pub(crate) fn broken(reason: &str) -> OidcError {
    tracing::warn!(reason, "the provider can't be asked");
    OidcError::Unavailable
}
