//! Bounds of this protocol, each with its unit.

use std::time::Duration;

/// Bytes of a message, unless the operator says otherwise; one more is refused with 552.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a message that the operator can allow at most.
pub(crate) const MESSAGE_BYTES_CEILING: usize = 16 * 1024 * 1024;
/// Bytes of a command line, with its end. RFC 5321 4.5.3.1.4, with room for parameters.
pub const LINE_BYTES_MAX: usize = 2 * 1024;
/// Recipients of one message, unless the operator says otherwise; one more is refused with 452.
pub(crate) const RECIPIENTS_MAX: usize = 20;
/// Commands of one connection that mean nothing; after them it is closed.
pub(crate) const BAD_COMMANDS_MAX: u32 = 10;
/// How long a client may take for its next bytes.
pub(crate) const CLIENT_WAIT: Duration = Duration::from_secs(60);
/// How long a client may take for a whole message.
pub(crate) const MESSAGE_WAIT: Duration = Duration::from_secs(300);
/// Bytes of text that a turn may have; the rest is cut.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Attachments that are handed on; the others are left out.
pub(crate) const ATTACHMENTS_MAX: usize = 20;
/// Parts of a message, nested ones included; more are refused.
pub(crate) const MIME_PARTS_MAX: usize = 200;
/// Characters of a subject that are kept.
pub(crate) const SUBJECT_CHARS_MAX: usize = 200;
/// Bytes of a Message-Id; longer ones are passed over.
pub(crate) const MESSAGE_ID_BYTES_MAX: usize = 250;
/// Ids of earlier messages that are looked at, and named in an answer.
pub const REFERENCES_MAX: usize = 20;
/// Signatures of one message that are looked at, the first ones.
pub const SIGNATURES_MAX: usize = 5;
/// How old a signature may be.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How far in the future a signature may be.
pub(crate) const CLOCK_SKEW_MAX: Duration = Duration::from_secs(5 * 60);
/// How long a lookup may take; there are two attempts.
pub(crate) const LOOKUP_WAIT: Duration = Duration::from_secs(4);
/// Messages of one sender within an hour, unless the operator says otherwise; one more is put off with 451.
pub(crate) const MESSAGES_PER_SENDER_PER_HOUR: u32 = 60;
/// Further attempts to hand an answer to the submission server: the last within the hour that a task is kept.
pub(crate) const SUBMISSION_RETRIES: u32 = 9;
/// Bytes of one reply of the submission server, all of its lines.
pub(crate) const SMTP_REPLY_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a policy envelope in a header, as base64; a longer one is left out, or passed over.
pub(crate) const ENVELOPE_BYTES_MAX: usize = 16 * 1024;
