//! Bounds of signing in, beside those of the way to the provider and back.

/// Bytes of the path, with its query, that a person comes back to.
pub(crate) const RETURN_TO_BYTES_MAX: usize = 6 * 1024;
/// Bytes of all the claims that are kept of a person.
pub(crate) const CLAIMS_BYTES_MAX: usize = 8 * 1024;
/// Bytes of an ID token that is kept for signing out at the provider.
pub const ID_TOKEN_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a form that takes a consent back.
pub(crate) const ACCOUNT_FORM_BYTES_MAX: usize = 4 * 1024;
/// Open sessions among which those of a person are looked for when they sign out everywhere.
pub(crate) const SESSIONS_ENDED_MAX: usize = 10_000;
