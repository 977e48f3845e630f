//! Bytes into command lines and messages, without a socket.
//!
//! A line ends with CRLF and a message with CRLF, a dot and CRLF, and with nothing else: whoever takes a bare LF
//! for an end lets senders hide a second message in a first one. RFC 5321 2.3.8, 4.1.1.4, 4.5.2.

use bytes::{Buf, BytesMut};

use crate::limits::LINE_BYTES_MAX;

/// A whole command line or message, cut out of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A command, without its end.
    Line(Vec<u8>),
    /// A message, without its end and with its dots as they were meant.
    Message(Vec<u8>),
    /// A message that was longer than the bound, of which nothing is kept.
    TooLarge,
}

/// Why bytes are no command line. The connection can go on only after a line that was merely malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is longer than [`LINE_BYTES_MAX`].
    #[error("a line may have at most {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// It holds a CR or LF that ends nothing, or NUL.
    #[error("a line ends with CRLF and holds no other CR, LF or NUL")]
    Malformed,
}

/// Where in a message the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    Dot,
    DotCr,
    Within,
    Cr,
}

/// Cuts a stream into frames.
#[derive(Debug)]
pub struct Decoder {
    message_bytes_max: usize,
    message: Option<MessageDecoder>,
}

#[derive(Debug)]
struct MessageDecoder {
    place: Place,
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl Decoder {
    /// A decoder that waits for a command. Messages may have so many bytes.
    pub fn new(message_bytes_max: usize) -> Self {
        Self { message_bytes_max, message: None }
    }

    /// Has what follows read as a message.
    pub fn expect_message(&mut self) {
        let bytes = Vec::new();
        self.message = Some(MessageDecoder { place: Place::LineStart, bytes, is_too_large: false });
    }

    /// The next frame of what was read so far. `None`: more bytes are needed. Keeps at most
    /// [`LINE_BYTES_MAX`] bytes in `read` and the bound of a message of its own.
    pub fn decode(&mut self, read: &mut BytesMut) -> Result<Option<Frame>, LineError> {
        match &mut self.message {
            None => line(read),
            Some(message) => {
                let ended = message.take(read, self.message_bytes_max);
                Ok(ended.then(|| self.message.take().map(MessageDecoder::into_frame)).flatten())
            }
        }
    }
}

fn line(read: &mut BytesMut) -> Result<Option<Frame>, LineError> {
    let Some(end) = read.iter().take(LINE_BYTES_MAX).position(|byte| *byte == b'\n') else {
        return if read.len() >= LINE_BYTES_MAX { Err(LineError::TooLong) } else { Ok(None) };
    };
    let line = read.split_to(end + 1);
    match line.strip_suffix(b"\r\n") {
        Some(line) if !line.iter().any(|byte| matches!(byte, b'\r' | 0)) => Ok(Some(Frame::Line(line.to_vec()))),
        _ => Err(LineError::Malformed),
    }
}

impl MessageDecoder {
    /// Takes bytes up to the end of the message; whether it came.
    fn take(&mut self, read: &mut BytesMut, bytes_max: usize) -> bool {
        let mut used = 0;
        let mut ended = false;
        for byte in read.iter().copied() {
            used += 1;
            if self.step(byte) {
                ended = true;
                break;
            }
            if self.bytes.len() > bytes_max {
                // Memory goes back at once; the rest is only looked through for the end of the message.
                self.is_too_large = true;
                self.bytes = Vec::new();
            }
        }
        read.advance(used);
        ended
    }

    fn step(&mut self, byte: u8) -> bool {
        self.place = match (self.place, byte) {
            (Place::LineStart, b'.') => Place::Dot,
            (Place::Dot, b'\r') => Place::DotCr,
            (Place::DotCr, b'\n') => return true,
            (Place::DotCr, byte) => {
                // The dot was stuffed before a CR that ends nothing.
                self.push(b'\r');
                self.push(byte);
                if byte == b'\r' { Place::Cr } else { Place::Within }
            }
            (place, byte) => {
                self.push(byte);
                match (place, byte) {
                    (Place::Cr, b'\n') => Place::LineStart,
                    (_, b'\r') => Place::Cr,
                    _ => Place::Within,
                }
            }
        };
        false
    }

    fn push(&mut self, byte: u8) {
        if !self.is_too_large {
            self.bytes.push(byte);
        }
    }

    fn into_frame(self) -> Frame {
        if self.is_too_large { Frame::TooLarge } else { Frame::Message(self.bytes) }
    }
}
