//! Bounds of the way to a provider and back.

use std::time::Duration;

use forecourt_egress::limits::DOCUMENT_BYTES_MAX;

/// How long a person may take at the provider.
pub const FLOW_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// Bytes of a code, a state or an issuer in what the browser brings back.
pub const PARAMETER_BYTES_MAX: usize = 4 * 1024;
/// How long the provider may take for one answer.
pub(crate) const PROVIDER_TIME_MAX: Duration = Duration::from_secs(10);
/// How long what the provider says of itself is good.
pub(crate) const DISCOVERY_FRESH: Duration = Duration::from_secs(60 * 60);
/// How long to wait before it is asked again after a failure.
pub(crate) const DISCOVERY_RETRY: Duration = Duration::from_secs(5);
/// Bytes of an ID token: as many as the provider's whole answer may have.
pub const ID_TOKEN_BYTES_MAX: usize = DOCUMENT_BYTES_MAX;
/// Bytes of a token, of a client's name or of its secret that another server gives.
pub const CREDENTIAL_BYTES_MAX: usize = 8 * 1024;
/// How long an access token is good at most, whatever its server says.
pub const TOKEN_TIME_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);
