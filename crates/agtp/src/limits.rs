//! Every bound of the wire, with its unit.

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
