//! Bounds of what backends share.

use std::time::Duration;

/// How long any single wait of a backend may be set to.
pub const WAIT_TIME_MAX: Duration = Duration::from_secs(3_600);
/// Bytes of one server-sent event, or of one line of a program's output: an artifact of the largest
/// size in base64, and its frame.
pub const FRAME_BYTES_MAX: usize = forecourt_core::limits::ARTIFACT_BYTES_MAX / 3 * 4 + 64 * 1024;
/// Bytes that one answer of a program or a webhook may take on its way to us.
pub const ANSWER_BYTES_MAX: usize = forecourt_core::limits::REPLY_BYTES_MAX / 3 * 4 + 4 * 1024 * 1024;
/// Seconds that a service may make callers wait.
pub(crate) const RETRY_AFTER_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Agents that a hub does not have any more and of which it is remembered that they were signed.
pub(crate) const SIGNED_BEFORE_MAX: usize = 1_000;
/// Fields that the settings add to each request.
pub(crate) const HEADERS_MAX: usize = 32;
/// How often one request may be sent again whose connection could not be made, or that a provider did not take.
pub const RETRIES_MAX: usize = 5;
/// Bytes of the answer of an agent of another domain, as it comes over the wire.
pub const ELSEWHERE_ANSWER_BYTES_MAX: usize = 512 * 1024;
/// Tokens for services behind one agent that are kept, one for each caller's token.
pub(crate) const EXCHANGED_TOKENS_MAX: usize = 1_000;
/// How long such a token is kept at most.
pub(crate) const EXCHANGED_TOKEN_TIME_MAX: Duration = Duration::from_secs(3_600);
/// How long a token endpoint may take.
pub(crate) const TOKEN_EXCHANGE_TIME_MAX: Duration = Duration::from_secs(15);
/// Bytes of the answer of a token endpoint.
pub(crate) const TOKEN_ANSWER_BYTES_MAX: usize = 64 * 1024;
