//! Every bound of the messages themselves, with its unit. They hold for whoever reads: a server and a client.

/// Bytes of a request line or a status line, without its end.
pub const START_LINE_BYTES_MAX: usize = 8 * 1024;
/// Bytes of all field lines of a message together.
pub const FIELDS_BYTES_MAX: usize = 64 * 1024;
/// Fields of a message.
pub(crate) const FIELDS_MAX: usize = 100;
/// Digits of a `Content-Length`.
pub(crate) const LENGTH_DIGITS_MAX: usize = 7;
/// Bytes of a body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that are read at once.
pub const READ_BYTES: usize = 4 * 1024;
/// The port that a URI need not name. Base 1.
pub const PORT: u16 = 4480;
