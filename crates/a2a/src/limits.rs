//! Bounds of this protocol, each with its unit.

use std::time::Duration;

/// Bytes of a request: a picture from a phone in base64, and some words.
pub(crate) const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// `data:` URLs in one message.
pub(crate) const DATA_URLS_MAX: usize = 32;
/// Bytes of a kept file that stands in the answer itself; a larger one is given by its address.
pub(crate) const INLINE_FILE_BYTES_MAX: usize = 1024 * 1024;
/// Events of a running task that a snapshot reads at once.
pub(crate) const SNAPSHOT_EVENTS_MAX: usize = 4_096;
/// Tasks on a page unless the caller says otherwise; the most it may ask for is 100.
pub(crate) const PAGE_SIZE: u32 = 50;
/// URIs of extensions in one request that are looked at.
pub(crate) const EXTENSIONS_MAX: usize = 32;
/// Bytes of a push notification's token, and of its credentials.
pub(crate) const PUSH_SECRET_BYTES_MAX: usize = 4 * 1024;
/// How long a message is remembered, so that the same one sent again is no second task.
pub(crate) const SENT_REMEMBERED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Messages that a process knows, without asking the store, to be none of those that it remembers there.
pub(crate) const SENT_NAMES_MAX: usize = 256 * 1024;
/// How long before its time the store is told again that messages are remembered.
pub(crate) const MARKED_AHEAD: Duration = Duration::from_secs(60 * 60);
/// How long a caller that waits anyway is kept without a task, for an agent whose whole answer is one
/// message: such an answer needs no task, and costs no write.
pub(crate) const DIRECT_ANSWER_WITHIN: Duration = Duration::from_millis(500);
