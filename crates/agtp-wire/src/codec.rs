//! Bytes to messages and back, without a socket: says that more is needed, what is wrong, or hands out
//! one message and leaves what is behind it for the next call.
//!
//! Strict on purpose, since a message that two readers cut at different places can hide another one:
//! lines end with CRLF, one `Content-Length` of ASCII digits is all the framing there is, and nothing
//! that could be read in two ways is read at all. Base 2.1.

mod error;
mod start;

use std::fmt::Write;

use bytes::{Buf, BytesMut};
use memchr::memmem;

use crate::limits::{BODY_BYTES_MAX, FIELDS_BYTES_MAX, FIELDS_MAX, LENGTH_DIGITS_MAX, START_LINE_BYTES_MAX};
use crate::message::{Fields, Message, VERSION};

pub use error::HeadError;
pub use start::StartLine;

/// Fields of which a second one could mean another message, or another sender, and what carries secrets.
const SINGLE: [&str; 12] = [
    "Content-Length",
    "Content-Type",
    "Agent-ID",
    "Principal-ID",
    "Authority-Scope",
    "Session-ID",
    "Task-ID",
    "Allow-RCNS",
    "Contract-Synthesized",
    "Synthesis-Id",
    "Idempotency-Key",
    "Authorization",
];

/// The bounds on a message that a decoder takes. The number of fields and the digits of a length are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a start line.
    pub start_line_bytes: usize,
    /// Bytes of all field lines.
    pub fields_bytes: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { start_line_bytes: START_LINE_BYTES_MAX, fields_bytes: FIELDS_BYTES_MAX, body_bytes: BODY_BYTES_MAX }
    }
}

/// Reads messages of one kind out of one connection.
#[derive(Debug)]
pub struct Decoder<S> {
    bounds: Bounds,
    /// Bytes of the head that were looked at before.
    seen: usize,
    /// A head whose body has not arrived, and the body's length.
    waiting: Option<(Message<S>, usize)>,
}

/// What a decoder waits for, so that a connection can have a deadline for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedPart {
    /// The first byte of a message.
    Message,
    /// The rest of a head.
    Head,
    /// The rest of a body.
    Body,
}

impl<S: StartLine> Decoder<S> {
    /// A decoder at the beginning of a connection.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, seen: 0, waiting: None }
    }

    /// Takes one message from the front of `bytes`; `None` when it is not whole yet. After a
    /// [`HeadError`] nobody knows where the next message begins: the connection has to be closed.
    pub fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Message<S>>, HeadError> {
        // A head is parsed once, however many pieces its body comes in.
        let (head, length) = match self.waiting.take() {
            Some(waiting) => waiting,
            None => match self.head(bytes)? {
                Some(head) => head,
                None => return Ok(None),
            },
        };
        if bytes.len() < length {
            bytes.reserve(length - bytes.len());
            self.waiting = Some((head, length));
            return Ok(None);
        }
        let body = bytes.split_to(length).freeze();
        Ok(Some(Message { body, ..head }))
    }

    /// What is waited for, with these bytes left unread.
    pub fn waits_for(&self, bytes: &[u8]) -> AwaitedPart {
        match (&self.waiting, bytes) {
            (Some(_), _) => AwaitedPart::Body,
            (None, []) => AwaitedPart::Message,
            (None, _) => AwaitedPart::Head,
        }
    }

    fn head(&mut self, bytes: &mut BytesMut) -> Result<Option<(Message<S>, usize)>, HeadError> {
        // Three bytes back, since the end of the head may have come in two pieces.
        let from = self.seen.saturating_sub(3);
        let Some(end) = memmem::find(&bytes[from..], b"\r\n\r\n").map(|at| from + at) else {
            self.seen = bytes.len();
            return self.unfinished(bytes, from).map(|()| None);
        };
        self.seen = 0;
        // Once more for the last piece: the head must be refused alike, whether it came whole or byte by byte.
        self.unfinished(&bytes[..end + 2], from)?;
        let head = std::str::from_utf8(&bytes[..end + 2]).map_err(|_| HeadError::Line)?;
        let (line, lines) = head.split_once("\r\n").ok_or(HeadError::Line)?;
        let start = S::parse(line)?;
        let fields = Fields::parse(lines, FIELDS_MAX)?.ok_or(HeadError::FieldsTooLarge)?;
        let length = framing(&fields, self.bounds.body_bytes)?;
        bytes.advance(end + 4);
        Ok(Some((Message { start, fields, body: bytes::Bytes::new() }, length)))
    }

    /// Refuses what no further bytes could make right; what stands before `from` was looked at before.
    fn unfinished(&self, bytes: &[u8], from: usize) -> Result<(), HeadError> {
        let mut feeds = memchr::memchr_iter(b'\n', &bytes[from..]).map(|at| from + at);
        match feeds.find(|at| !bytes[..*at].ends_with(b"\r")) {
            // Whatever was wrong before it is said first, however the bytes arrive.
            Some(at) => self.within(&bytes[..at]).and(Err(HeadError::LineEnd)),
            None => self.within(bytes),
        }
    }

    /// Refuses another version, and what is too long.
    fn within(&self, bytes: &[u8]) -> Result<(), HeadError> {
        let known = bytes.len().min(VERSION.len());
        if bytes[..known] != VERSION.as_bytes()[..known] {
            return Err(HeadError::Version);
        }
        // Half of a line's end is no part of the line.
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let line = memmem::find(bytes, b"\r\n").unwrap_or(bytes.len());
        if line > self.bounds.start_line_bytes {
            return Err(HeadError::StartLineTooLong);
        }
        if bytes.len().saturating_sub(line + 2) > self.bounds.fields_bytes {
            return Err(HeadError::FieldsTooLarge);
        }
        Ok(())
    }
}

/// The length of the body.
fn framing(fields: &Fields, body_bytes_max: usize) -> Result<usize, HeadError> {
    // Before the length is read: two lengths that differ would cut the stream at different places.
    let single = |repeated: &str| SINGLE.into_iter().find(|name| name.eq_ignore_ascii_case(repeated));
    if let Some(name) = fields.repeated().find_map(single) {
        return Err(HeadError::Repeated(name));
    }
    // Of a coding and a length another reader might take the other one: none is taken at all. Base 2.1.
    if fields.get("Transfer-Encoding").is_some() {
        return Err(HeadError::TransferCoding);
    }
    let Some(text) = fields.get("Content-Length") else { return Ok(0) };
    // `parse` would take a plus sign.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HeadError::Length);
    }
    match text.parse() {
        // The bound of digits keeps zeros in front out, and numbers that no setting allows.
        Ok(length) if length <= body_bytes_max && text.len() <= LENGTH_DIGITS_MAX => Ok(length),
        _ => Err(HeadError::BodyTooLarge),
    }
}

/// Writes start line and fields of a message at the end of `out`, and nothing that is not among them: byte for byte
/// what was read.
pub fn encode_head<S: StartLine>(message: &Message<S>, out: &mut BytesMut) {
    message.start.write(out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(message.fields.lines().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Writes a message at the end of `out`, with the length of its body where that is not empty.
pub fn encode<S: StartLine>(message: &Message<S>, out: &mut BytesMut) {
    let lines = message.fields.lines();
    out.reserve(lines.len() + message.body.len() + 128);
    message.start.write(out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(lines.as_bytes());
    if message.fields.get("Content-Length").is_none() && !message.body.is_empty() {
        // Bytes grow as they need, so that this can't fail.
        let _ = write!(out, "Content-Length: {}\r\n", message.body.len());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&message.body);
}

#[cfg(test)]
mod tests;
