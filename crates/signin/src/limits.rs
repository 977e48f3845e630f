//! Bounds of signing in.

use std::time::Duration;

/// How long a person may take at the provider.
pub const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// Bytes of the path, with its query, that a person comes back to.
pub const RETURN_TO_BYTES_MAX: usize = 6 * 1024;
/// Bytes of a code, a state or an issuer in what the browser brings back.
pub const PARAMETER_BYTES_MAX: usize = 4 * 1024;
/// How long the provider may take for one answer.
pub const PROVIDER_TIME_MAX: Duration = Duration::from_secs(10);
/// How long what the provider says of itself is good.
pub const DISCOVERY_FRESH: Duration = Duration::from_secs(60 * 60);
/// How long to wait before it is asked again after a failure.
pub const DISCOVERY_RETRY: Duration = Duration::from_secs(5);
/// Bytes of all the claims that are kept of a person.
pub const CLAIMS_BYTES_MAX: usize = 8 * 1024;
/// Bytes of an ID token that is kept for signing out at the provider.
pub const ID_TOKEN_BYTES_MAX: usize = 8 * 1024;
