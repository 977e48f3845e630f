//! Every bound of the wire, with its unit.

use std::time::Duration;

/// Bytes of a request line or a status line, without its end.
pub const START_LINE_BYTES_MAX: usize = 8 * 1024;
/// Bytes of all field lines of a message together.
pub const FIELDS_BYTES_MAX: usize = 64 * 1024;
/// Fields of a message.
pub const FIELDS_MAX: usize = 100;
/// Digits of a `Content-Length`.
pub const LENGTH_DIGITS_MAX: usize = 7;
/// Bytes of a body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that are read at once.
pub(crate) const READ_BYTES: usize = 4 * 1024;
/// Bytes of answers that wait for the answers to requests that came with theirs.
pub(crate) const WRITE_BATCH_BYTES: usize = 64 * 1024;
/// How long a client that was refused is read from, so that it gets to see why.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(1);
/// Bytes that are read from a client that was refused.
pub(crate) const LINGER_BYTES_MAX: usize = 256 * 1024;
/// The port that a URI need not name. Base 1.
pub const PORT: u16 = 4480;
/// Bytes of the body of an answer. Manifests of a thousand endpoints are larger than any request.
pub const ANSWER_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long an answer may take from its first byte to its last.
pub const ANSWER_REST_TIME_MAX: Duration = Duration::from_secs(60);
/// Connections to one server that a client keeps for the next request.
pub const KEPT_PER_SERVER_MAX: usize = 4;
/// Connections that a client keeps in all.
pub const KEPT_MAX: usize = 64;
/// How long a client keeps a connection: less than the 60 seconds after which servers close it. Base 1.
pub const KEPT_TIME_MAX: Duration = Duration::from_secs(45);
/// Requests that a client sends without waiting for answers.
pub const PIPELINED_MAX: usize = 64;
