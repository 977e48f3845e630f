//! Bounds of outgoing requests. Those with a key in `[egress]` are its defaults.

use std::time::Duration;

/// Bytes of a URL that a stranger names.
pub const URL_BYTES_MAX: usize = 2_048;
/// Bytes of a URL of a service that the operator wrapped; its handler has a bound of its own within this one.
pub const SERVICE_URL_BYTES_MAX: usize = 64 * 1024;
/// Addresses that one name may resolve to. One more refuses the name.
pub const ADDRESSES_MAX: usize = 32;
/// How long a name lookup may take.
pub(crate) const RESOLVE_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a connection, TLS included, may take.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long the head of an answer may take once connected.
pub(crate) const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(10);
/// How long an exchange may take from the first lookup to the last byte.
pub(crate) const TOTAL_TIME_MAX: Duration = Duration::from_secs(30);
/// How long an exchange with a remote agent or a backend may take: as long as an agent may.
pub const ANSWER_TIME_MAX: Duration = forecourt_core::limits::AGENT_TIME_MAX;
/// Bytes of the head of an answer.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Fields in the head of an answer.
pub const HEAD_FIELDS_MAX: usize = 100;
/// Bytes of an attachment.
pub const ATTACHMENT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a file, or of another answer, of a platform that agents are mentioned on: 8 MiB, with room for what is around
/// them.
pub const PLATFORM_BYTES_MAX: usize = 8 * 1024 * 1024 + 64 * 1024;
/// Bytes of a card, a key set or a WebFinger answer.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a page of a site that is read for its content.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes read of an answer that nobody wants to know, before it is dropped.
pub(crate) const RECEIPT_BYTES_MAX: usize = 4 * 1024;
/// How long such an answer may take to its end.
pub(crate) const RECEIPT_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes of what a remote agent or a backend answers.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Redirects followed for an attachment.
pub const ATTACHMENT_REDIRECTS_MAX: usize = 3;
/// Redirects followed for WebFinger. RFC 7033 4.2 allows them.
pub(crate) const WEBFINGER_REDIRECTS_MAX: usize = 1;
/// Guarded requests at once, in all.
pub const AT_ONCE_MAX: usize = 64;
/// Guarded requests at once to one host.
pub const AT_ONCE_PER_HOST_MAX: usize = 4;
/// Guarded requests that wait for their turn. One more is told that we are busy.
pub const WAITING_MAX: usize = 256;
/// Requests at once to backends that the operator named.
pub(crate) const UPSTREAM_AT_ONCE_MAX: usize = 1_000;
/// Bytes of a webhook secret.
pub const SECRET_BYTES_MAX: usize = 256;
/// Bytes of the text of a `data:` URL: an attachment in base64, and its head.
pub(crate) const DATA_URL_BYTES_MAX: usize = ATTACHMENT_BYTES_MAX * 4 / 3 + 1024;
/// Connections to one backend of the operator that are kept for the next request. Fewer than are used
/// at once would mean a new one for most requests.
pub const UPSTREAM_IDLE_MAX: usize = 64;
